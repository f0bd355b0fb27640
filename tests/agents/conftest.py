"""A simulated run, for the tests of the agents and of what is made of their logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.agents.memory_log import recorded
from tests.agents.outside_world import Answers
from tests.agents.simulation import SMALL, Simulation

from dga2d.events import Draft, RecordedEvent


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
