"""Simulated runs of every method, one each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.agents.simulation import SMALL, Simulation

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog

    from dga2d.replay.state.run_state import RunState

METHODS = ("random", "eoh", "reevo", "mcts-ahd", "meoh", "tree")
CALLS = 26


def small(method: str, calls: int = CALLS, population: int = 3, **settings: object) -> Simulation:
    """A short run of a method with few programs."""
    return Simulation(SMALL).changed(
        method=method, population=population, llm_calls=calls, prompt_edition=3, generations=6, **settings
    )


@cache
def run_of(method: str) -> tuple[Simulation, RunState, MemoryLog]:
    simulation = small(method)
    return simulation, *simulation.run()


@pytest.fixture(params=METHODS)
def method_run(request: pytest.FixtureRequest) -> tuple[Simulation, RunState, MemoryLog]:
    return run_of(request.param)
