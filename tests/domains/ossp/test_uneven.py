"""Open shops of equal loads: all loads are 1000, many operations are of 1, and the optimum lies higher."""

from __future__ import annotations

import hashlib

import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.splits import split
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.uneven import GROUP, LOAD, shops


@pytest.mark.parametrize("name", shops())
def test_every_load_is_the_same_and_times_are_uneven(name: str) -> None:
    shop = shops()[name]
    times = shop.data().times
    assert times.shape == (shop.size, shop.size)
    assert (times.sum(axis=0) == LOAD).all()
    assert (times.sum(axis=1) == LOAD).all()
    assert times.min() == 1
    assert 20 <= (times == 1).sum() <= 40
    assert times.max() > 350


def test_the_instances_keep_their_digest_and_are_in_every_split() -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if ref.group == GROUP]
    for ref in refs:
        digest.update(ref.key.encode() + DOMAIN.load(ref).data["times"].astype("<i4").tobytes())
    assert [len(part) for part in split(refs)] == [6, 2, 2]
    assert digest.hexdigest() == "14f194cf700fea4821c6e68440f8920a57364e871af1f2a219041348ba271f14"


def test_references_lie_three_to_ten_per_cent_above_the_loads() -> None:
    known = [ref.reference for ref in DOMAIN.generated() if ref.group == GROUP]
    assert all(one is not None and 1.03 * LOAD <= one.value <= 1.1 * LOAD for one in known)


def test_an_unknown_instance_is_refused() -> None:
    with pytest.raises(ValueError, match="no file"):
        DOMAIN.load(InstanceRef("ossp", GROUP, "10x10-11", None))
