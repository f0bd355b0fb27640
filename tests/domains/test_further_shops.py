"""Further job and flow shops of Taillard's kind: for validation and for the test, never for training."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.fssp import DOMAIN as FLOW_SHOPS
from dga2d.domains.jsp import DOMAIN as JOB_SHOPS
from dga2d.domains.shared.shops.domain import ShopDomain
from dga2d.domains.shared.shops.further import GROUP

DOMAINS = (JOB_SHOPS, FLOW_SHOPS)
DIGESTS = {
    "fssp": "248f08fa3dbb413aaf4e12811785d340feebe6b68d46ee4aad82657d1f47d1e4",
    "jsp": "d4913b48c3255efabd8e6ecf316989c15816c81b50f5b73c1347fe780d3a383f",
}


def further(domain: ShopDomain) -> list[InstanceRef]:
    return [ref for ref in domain.generated() if ref.group == GROUP]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_the_instances_keep_their_digest(domain: ShopDomain) -> None:
    digest = hashlib.sha256()
    for ref in further(domain):
        data = domain.load(ref).data
        tables = [data[name] for name in domain.tables]
        assert all(table.shape == tables[0].shape for table in tables)
        digest.update(f"{ref.key} {tables[0].shape}".encode())
        digest.update(b"".join(table.astype("<i4").tobytes() for table in tables))
    assert digest.hexdigest() == DIGESTS[domain.name]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_they_are_for_validation_and_for_the_test(domain: ShopDomain) -> None:
    train, validation, test = split(domain.generated())
    assert GROUP not in {ref.group for ref in train}
    for part in (validation, test):
        found = [ref for ref in part if ref.group == GROUP]
        assert len(found) >= 32
        assert len(part) >= 48
        sizes = Counter(ref.name.rpartition("-")[0] for ref in found)
        assert len({*sizes.values()}) == 1


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_references_are_no_shorter_than_a_schedule_can_be(domain: ShopDomain) -> None:
    for ref in further(domain):
        times = domain.load(ref).data["times"]
        assert ref.reference is not None
        longest_job = int(times.sum(axis=1).max())
        assert longest_job <= ref.reference.value < 2 * max(longest_job, int(times.sum(axis=0).max()))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_optimal_references_are_what_a_machine_needs_at_least(domain: ShopDomain) -> None:
    optimal = 0
    for ref in further(domain):
        assert ref.reference is not None
        data = domain.load(ref).data
        least = least_time(data["times"].tolist(), data["machines"].tolist() if "machines" in data else None)
        assert least <= ref.reference.value
        assert (ref.reference.kind == "optimal") == (ref.reference.value == least)
        optimal += ref.reference.kind == "optimal"
    assert 0 < optimal < len(further(domain))


def least_time(times: list[list[int]], machines: list[list[int]] | None) -> int:
    """Longest job, or the work of a machine with what must come before and after it."""
    least = max(map(sum, times))
    orders = machines or [list(range(len(row))) for row in times]
    for machine in range(len(times[0])):
        places = [order.index(machine) for order in orders]
        heads = [sum(row[:k]) for row, k in zip(times, places, strict=True)]
        tails = [sum(row[k + 1 :]) for row, k in zip(times, places, strict=True)]
        load = sum(row[k] for row, k in zip(times, places, strict=True))
        least = max(least, min(heads) + load + min(tails))
    return least


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_no_two_are_the_same(domain: ShopDomain) -> None:
    for name in domain.tables:
        tables = {domain.load(ref).data[name].tobytes() for ref in further(domain)}
        assert len(tables) == len(further(domain))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_a_name_that_is_none_of_them_is_refused(domain: ShopDomain) -> None:
    with pytest.raises(InstanceFormatError):
        domain.load(InstanceRef(domain.name, GROUP, "20x20-9", None))
