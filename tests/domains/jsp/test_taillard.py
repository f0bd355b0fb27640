from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.jsp import DOMAIN
from dga2d.domains.jsp.taillard import generate
from dga2d.domains.shared.lehmer import LehmerGenerator


def test_the_generator_gives_its_published_sequence() -> None:
    """16807 from seed 1, then 16807² = 282475249 (Park and Miller 1988), scaled to 1..99 by hand."""
    generator = LehmerGenerator(1)
    assert generator.uniform(1, 2**31 - 1) == 16807 + 1
    assert generator.uniform(1, 2**31 - 1) == 282475249 + 1
    assert LehmerGenerator(1).uniform(1, 99) == 1 + 16807 * 99 // (2**31 - 1) == 1


@pytest.mark.parametrize("seed", [0, -1, 2**31 - 1])
def test_seeds_outside_the_modulus_are_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        LehmerGenerator(seed)


def test_ta01_starts_as_printed() -> None:
    """First job of ta01 as in Taillard 1993 (machines counted from 0)."""
    data = generate(15, 15, 840612802, 398197754)
    assert data.times[0].tolist() == [94, 66, 10, 53, 26, 15, 65, 82, 10, 27, 93, 92, 96, 70, 83]
    assert data.machines[0].tolist() == [6, 12, 4, 7, 3, 2, 10, 11, 8, 14, 9, 13, 5, 0, 1]


def test_the_eighty_generated_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if ref.group == "ta"]
    for ref in refs:
        data = DOMAIN.load(ref).data
        digest.update(f"{ref.key} {data['machines'].shape}".encode())
        digest.update(data["machines"].astype("<i4").tobytes())
        digest.update(data["times"].astype("<i4").tobytes())
    assert len(refs) == 80
    assert [ref.key for ref in refs] == sorted(ref.key for ref in refs)
    assert digest.hexdigest() == "bcefa10f04df4e338b8615f447309389a8ab13755966c0e45b2d71ed07a82d23"


def test_generated_instances_equal_the_published_files(data_dir: Path) -> None:
    published = {ref.key: ref for ref in DOMAIN.published(data_dir)}
    for ref in (ref for ref in DOMAIN.generated() if ref.group == "ta"):
        ours, theirs = DOMAIN.load(ref), DOMAIN.load(published[ref.key])
        assert (ours.data["machines"] == theirs.data["machines"]).all()
        assert (ours.data["times"] == theirs.data["times"]).all()
        assert ours.reference == theirs.reference


def test_an_unknown_generated_instance_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("jsp", "ta", "ta81", None))
