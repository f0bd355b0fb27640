"""Open shops of our own: their loads are as said, their times spread out."""

from __future__ import annotations

import hashlib

import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.splits import split
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.spread import GROUP, LOAD, shops


@pytest.mark.parametrize("name", shops())
def test_every_load_is_within_so_many_per_cent_of_the_largest(name: str) -> None:
    shop = shops()[name]
    times = shop.data().times
    assert times.shape == (shop.size, shop.size)
    assert times.min() >= 1
    for loads in (times.sum(axis=0), times.sum(axis=1)):
        assert loads[0] == loads.max() == LOAD
        assert loads.min() >= LOAD * (100 - shop.percent) // 100


def test_times_are_spread_out() -> None:
    """As of numbers that are drawn at random for a given sum: the deviation is near the mean."""
    for shop in shops().values():
        times = shop.data().times
        assert 0.6 < times.std() / times.mean() < 1.4


def test_the_instances_keep_their_digest_and_are_in_every_split() -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if ref.group == GROUP]
    for ref in refs:
        digest.update(ref.key.encode() + DOMAIN.load(ref).data["times"].astype("<i4").tobytes())
    assert len(refs) == 18
    assert [len(part) for part in split(refs)] == [10, 3, 5]
    assert digest.hexdigest() == "1e5e102c716bd7994b6c53619a70c10072eacfa733f4a34fd60374f190f664fa"


def test_references_lie_at_or_above_the_largest_load() -> None:
    values = {ref.name: ref.reference for ref in DOMAIN.generated() if ref.group == GROUP}
    assert all(known is not None and known.value >= LOAD for known in values.values())
    assert all(known.value > LOAD for name, known in values.items() if known and "-p0-" in name)


def test_an_unknown_instance_is_refused() -> None:
    with pytest.raises(ValueError, match="no file"):
        DOMAIN.load(InstanceRef("ossp", GROUP, "9x9-p0-1", None))
