"""A simulated run, for the tests of the agents and of what is made of their logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from tests.agents.made_up_library import with_marked_functions
from tests.agents.memory_log import MemoryLog, before, recorded
from tests.agents.outside_world import Answers
from tests.agents.simulation import SMALL, Simulation

from dga2d.events import Draft, ImplementationId, RecordedEvent
from dga2d.events.payloads import RaceStarted
from dga2d.replay.state.run_state import RunState


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    """Three generations of three pipelines on two instances."""
    return Simulation(SMALL)


@pytest.fixture
def answers() -> type[Answers]:
    return Answers


@pytest.fixture
def record() -> Callable[[int, Draft], RecordedEvent]:
    return recorded


@pytest.fixture(scope="session")
def racing() -> Simulation:
    return Simulation(SMALL).changed(race_contenders=8, race_instances=6, race_error=0.8, generations=5)


@pytest.fixture(scope="session")
def marked(racing: Simulation) -> Simulation:
    """The same with a marked function in every implementation of its library, each another one."""
    return replace(racing, operators=with_marked_functions(racing.operators))


@pytest.fixture(scope="session")
def state_and_sources(marked: Simulation) -> tuple[RunState, Mapping[ImplementationId, str]]:
    """The state before the last race of a run with marked functions, and all texts that it knows."""
    _, log = replace(marked, seed=3).run()
    state, _ = before(log, RaceStarted)[-1]
    return state, {name: log.blobs[digest].decode() for name, digest in state.sources.items()}


@pytest.fixture(scope="session")
def raced(racing: Simulation) -> tuple[RunState, MemoryLog]:
    return racing.run()
