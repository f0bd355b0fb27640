"""Subsets of instances, ends of runs, and when a validation is due."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.conductor import draw_batch, end_reason, spread, validation_is_due
from dga2d.events import InstanceKey
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

KEYS = tuple(InstanceKey(f"g/{i:02}") for i in range(10))


@pytest.mark.parametrize(
    ("size", "expected"), [(1, [5]), (2, [2, 7]), (5, [1, 3, 5, 7, 9]), (10, range(10)), (99, range(10))]
)
def test_instances_are_spread_evenly(size: int, expected: list[int]) -> None:
    assert spread(KEYS, size) == tuple(KEYS[i] for i in expected)
    assert spread(KEYS, None) == KEYS


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_spread_has_its_size_in_order_and_nothing_twice(n: int, size: int) -> None:
    keys = [InstanceKey(f"{i:03}") for i in range(n)]
    chosen = spread(keys, size)
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) == min(size, n)
    places = [keys.index(key) for key in chosen]
    gaps = [b - a for a, b in pairwise(places)]
    assert not gaps or max(gaps) - min(gaps) <= 1


@given(st.integers(1, 40), st.integers(0, 2**63 - 1))
def test_a_batch_is_drawn_without_replacement_and_sorted(size: int, seed: int) -> None:
    keys = [f"{i:03}" for i in range(40)]
    batch = draw_batch(keys, size, seed)
    assert len(set(batch)) == size
    assert list(batch) == sorted(batch)
    assert batch == draw_batch(keys, size, seed)


def test_batches_of_different_seeds_differ() -> None:
    assert len({draw_batch(KEYS, 3, seed) for seed in range(20)}) > 10


@pytest.mark.parametrize(
    ("interval", "generations", "due"),
    [(5, 12, [5, 10, 12]), (0, 4, [4]), (1, 3, [1, 2, 3]), (7, 3, [3])],
)
def test_validations_are_due_every_interval_and_at_the_end(
    simulation: Simulation, interval: int, generations: int, due: list[int]
) -> None:
    _, log = simulation.run()
    begun = fold_all(log.events[:2])
    settings = RunSettings(validation_interval=interval, generations=generations)
    state = replace(begun, settings=settings)
    assert [t for t in range(1, generations + 1) if validation_is_due(state, t)] == due


def test_a_run_ends_at_its_last_generation_or_with_its_calls(simulation: Simulation) -> None:
    state, _ = simulation.run()
    assert end_reason(state) == "all 3 generations done"
    more = replace(state, settings=state.settings.model_copy(update={"generations": 9}))
    assert end_reason(more) is None
    spent = replace(more, ledger=replace(more.ledger, limit=more.ledger.used))
    assert end_reason(spent) == f"all {more.ledger.used} model calls spent"
    without = replace(spent, settings=spent.settings.model_copy(update={"evolution": False}))
    assert end_reason(without) is None
