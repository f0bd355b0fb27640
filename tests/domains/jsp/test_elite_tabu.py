"""The tabu search between elite schedules carries the schedule that it would lay out anew."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from tests.domains.jsp.specimens import plain_makespan, random_instance, random_sequence

from dga2d.domains.budget import Budget
from dga2d.domains.jsp import DOMAIN


@pytest.mark.parametrize("seed", range(4))
def test_ends_and_tails_are_exact_after_many_moves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = next(operator for operator in DOMAIN.operators() if operator.id == "elite_tabu")
    fake, library = ModuleType("numba"), ModuleType("plain_elite_tabu")
    fake.njit = lambda **_: lambda function: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "numba", fake)
    exec(operator.implementations[0].source, vars(library))
    instance = random_instance(6, 4, seed, low=seed % 2)
    rng, budget = np.random.Generator(np.random.Philox(seed)), Budget(10_000, "work", 1)
    shop = library.Elite({**DOMAIN.environment(instance), "rng": rng, "budget": budget})
    order = shop.operations(random_sequence(instance, seed))
    shop.status[1] = shop.status[3] = shop.load(order)
    for _ in range(30):
        library.tabu_moves(
            1, shop.tenure, shop.problem, shop.topology, shop.links, shop.space, shop.until, shop.status,
            order, rng,
        )  # fmt: skip
        carried, present = [row.copy() for row in shop.links], shop.topology[0].copy()
        assert shop.status[3] == shop.load(present)
        assert all(
            (row[shop.ids] == new[shop.ids]).all() for row, new in zip(carried, shop.links, strict=True)
        )
        assert plain_makespan(instance, shop.problem[3][present]) == shop.status[3]
        assert plain_makespan(instance, shop.problem[3][order]) == shop.status[1]
