from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef, Part
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.fjsp import DOMAIN
from dga2d.domains.fjsp.generator import BRANDIMARTE, brandimarte, hurink
from dga2d.domains.fjsp.suite import LARGE_SIZES
from dga2d.runtime.runs.problem import Problem


@pytest.mark.parametrize("kind", BRANDIMARTE)
def test_brandimarte_instances_keep_to_their_parameters(kind: str) -> None:
    parameters = BRANDIMARTE[kind]
    shop = brandimarte(parameters, 7)
    assert (shop.op_counts.size, shop.n_machines) == (parameters.n_jobs, parameters.n_machines)
    assert (
        parameters.operations[0] <= shop.op_counts.min() <= shop.op_counts.max() <= parameters.operations[1]
    )
    is_choice = shop.machines >= 0
    assert is_choice.sum(axis=2).max() <= min(parameters.max_machines, parameters.n_machines)
    times = shop.times[is_choice]
    assert parameters.times[0] <= times.min() <= times.max() <= parameters.times[1]


@pytest.mark.parametrize(("kind", "mean", "most"), [("edata", 1.15, 2), ("rdata", 2.0, 3), ("vdata", 5.0, 8)])
def test_hurink_instances_have_the_flexibility_of_their_kind(kind: str, mean: float, most: int) -> None:
    shop = hurink(kind, 60, 10, 11)
    options = (shop.machines >= 0).sum(axis=2)
    assert options.min() >= 1
    assert options.max() == most
    assert abs(options.mean() - mean) < 0.1 * mean
    for job in range(60):
        for k in range(10):
            assert len(set(shop.times[job, k, : options[job, k]].tolist())) == 1
    assert 5 <= shop.times[shop.times >= 0].min() <= shop.times.max() <= 99


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="xdata"):
        hurink("xdata", 2, 5, 1)


DIGESTS = {
    None: "08f47558640d2b4948d6c38fae6ffc967c9398843ecf4e5b818996b7c34b393e",
    "validation": "751f93e9277b1a989f6c8beeb92521309a1cce7761ed5629ae5dfb8e1513d4ad",
    "test": "c59c2d015e191edf2fa7dd9ff37193390f40a4e8161eff008726ae5dd7ca308f",
}


@pytest.mark.parametrize("part", DIGESTS)
def test_the_generated_instances_keep_their_digest(part: Part | None) -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if not ref.only_named and ref.part == part]
    for ref in refs:
        shop = DOMAIN.load(ref).data["shop"]
        digest.update(f"{ref.key} {shop.machines.shape}".encode())
        for array in (shop.op_counts, shop.machines, shop.times):
            digest.update(array.astype("<i4").tobytes())
    assert len(refs) == (50 if part is None else 25)
    assert digest.hexdigest() == DIGESTS[part]


def test_the_large_instances_keep_their_digest_and_count_only_where_they_are_named() -> None:
    digest = hashlib.sha256()
    refs = [ref for ref in DOMAIN.generated() if ref.only_named]
    for ref in refs:
        shop = DOMAIN.load(ref).data["shop"]
        assert (shop.op_counts.size, shop.n_machines) in LARGE_SIZES
        for array in (shop.op_counts, shop.machines, shop.times):
            digest.update(array.astype("<i4").tobytes())
    assert sorted({ref.group for ref in refs}) == ["brandimarte-large", "hurink-large"]
    assert [len(part) for part in split(refs)] == [6, 2, 4]
    assert digest.hexdigest() == "2095c23575263c80e19fb31387c5021a1e16701127c37c45f92050a5a0c25952"
    default = Problem.open("fjsp", None).splits
    assert not {ref.group for part in default for ref in part} & {ref.group for ref in refs}


def test_references_lie_above_the_longest_job() -> None:
    for ref in DOMAIN.generated():
        shop = DOMAIN.load(ref).data["shop"]
        shortest = np.where(shop.machines >= 0, shop.times, 2**30).min(axis=2)
        shortest[shortest == 2**30] = 0
        assert ref.reference is not None
        assert ref.reference.value >= max(shortest.sum(axis=1).max(), shortest.sum() / shop.n_machines)


def test_an_unknown_generated_instance_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("fjsp", "brandimarte-random", "mk11-1", None))
