"""Ratings from heads and tails that are carried from order to order are those of schedules built anew."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from dga2d.domains.fssp import DOMAIN


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The text of the iterated greedy search as plain Python."""
    operator = next(operator for operator in DOMAIN.operators() if operator.id == "iterated_greedy")
    fake, module = ModuleType("numba"), ModuleType("plain_iterated_greedy")
    fake.njit = lambda **_: lambda function: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "numba", fake)
    exec(operator.implementations[0].source, vars(module))
    return module


def makespan(order: list[int], times: NDArray[np.int32]) -> int:
    """Makespan of an order of jobs; times `(machines, jobs)`."""
    ends = [0] * len(times)
    for job in order:
        done = 0
        for k, end in enumerate(ends):
            ends[k] = done = max(done, end) + int(times[k, job])
    return ends[-1]


@pytest.mark.parametrize("n_machines", [1, 2, 5])
def test_ratings_are_exact_whatever_was_rated_before(library: ModuleType, n_machines: int) -> None:
    n, rng = 7, np.random.default_rng(n_machines)
    times = np.asfortranarray(rng.integers(0, 20, (n_machines, n)).astype(np.int32))
    work = library.work_arrays(times)
    order = rng.permutation(n).astype(np.int32)
    for _ in range(60):
        i, k = rng.integers(n, size=2)
        order[[i, k]] = order[[k, i]]
        size = int(rng.integers(0, n))
        job, rest = int(order[size]), order[:size].tolist()
        rated = library.rate_places(job, order, size, times, work)[: size + 1]
        assert rated.tolist() == [makespan([*rest[:i], job, *rest[i:]], times) for i in range(size + 1)]
