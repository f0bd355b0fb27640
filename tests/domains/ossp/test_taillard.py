from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.taillard import generate


def test_the_first_instance_is_as_printed() -> None:
    """All 16 times of the first 4 x 4 problem of Taillard 1993, column = machine."""
    data = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "ta4x4_1os")).data
    assert data["times"].tolist() == [[34, 2, 54, 61], [15, 89, 70, 9], [38, 19, 28, 87], [95, 7, 34, 29]]


def test_times_are_drawn_job_by_job_and_shuffled_over_the_machines() -> None:
    """The first draw from seed 1 is 1 + floor(16807 / (2^31 - 1) * 99) = 1; rows keep what was drawn."""
    data, other = generate(3, 5, 1, 7), generate(3, 5, 1, 8)
    assert 1 in data.times[0]
    assert (np.sort(data.times, axis=1) == np.sort(other.times, axis=1)).all()
    assert (data.times != other.times).any()
    assert data.times.dtype == np.int32
    assert not data.times.flags.writeable


def test_the_sixty_generated_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if ref.group == "taillard"]
    for ref in refs:
        data = DOMAIN.load(ref).data
        digest.update(f"{ref.key} {data['times'].shape}".encode())
        digest.update(data["times"].astype("<i4").tobytes())
    assert len(refs) == 60
    assert [ref.key for ref in refs] == sorted(ref.key for ref in refs)
    assert digest.hexdigest() == "ed6ce4fb13b637b08556ba5cdb5129261c1ac42845b94e57f6ccc33c2b72d4a1"


def test_generated_instances_equal_the_published_files(data_dir: Path) -> None:
    published = {ref.key: ref for ref in DOMAIN.published(data_dir)}
    for ref in (ref for ref in DOMAIN.generated() if ref.group == "taillard"):
        ours, theirs = DOMAIN.load(ref), DOMAIN.load(published[ref.key])
        assert (ours.data["times"] == theirs.data["times"]).all()
        assert ours.reference is not None
        assert theirs.reference is not None
        assert (ours.reference.value, ours.reference.kind) == (theirs.reference.value, theirs.reference.kind)


def test_an_unknown_generated_instance_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("ossp", "taillard", "ta9x9_1os", None))
