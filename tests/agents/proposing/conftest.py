"""A small library of operators and sources that the proposing tests share."""

from __future__ import annotations

import pytest

from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.domains.core.contract import Card, SolutionKind
from dga2d.events import OperatorId

PARENT = '''"""Descent, in Größe n. Not a marker: X = 1  # tunable: int 0..9"""

import numpy as np
from numba import njit

ROUNDS = 3  # tunable: int 1..20
NOISE = 0.25   # tunable: float 0.0..2.0
PATIENCE = 1_000  # tunable: int 10..100000
RULE = "spt"  # tunable: choice spt lpt mwkr
FIXED = 12


# exchangeable: kick
@njit(cache=True)
def kick(order, rng):
    """Exchange of two random places."""
    i = rng.integers(0, order.size)
    j = rng.integers(0, order.size)
    order[i], order[j] = order[j], order[i]


def run(env_data, state, calc_makespan_fn):
    order = np.copy(state.sequence)
    for _ in range(ROUNDS):
        kick(order, env_data["rng"])
    return state
'''

DONOR = '''import numpy as np
from numba import njit

STRENGTH = 4  # tunable: int 1..9
ROUNDS = 7  # tunable: int 1..20


# exchangeable: kick
@njit(cache=True)
def shake(order, rng):
    """Several exchanges."""
    for _ in range(STRENGTH):
        i = rng.integers(0, order.size)
        order[0], order[i] = order[i], order[0]


def run(env_data, state, calc_makespan_fn):
    shake(state.sequence, env_data["rng"])
    return state
'''


def contract(
    name: str, category: str, requires: SolutionKind = "complete", provides: SolutionKind = "complete"
) -> OperatorContract:
    """An operator with made-up texts."""
    return OperatorContract(
        OperatorId(name), name.title(), f"What {name} does.", category, requires, provides
    )


@pytest.fixture(scope="session")
def parent_source() -> str:
    return PARENT


@pytest.fixture(scope="session")
def donor_source() -> str:
    return DONOR


@pytest.fixture(scope="session")
def card() -> Card:
    return Card(
        title="Ordering",
        objective="Find the best order.",
        encoding="A permutation.",
        decoder="Sum up.",
        environment={"n": "int: how many", "cost": "float64 (n, n): cost of i at place j"},
        constraints="Every item once.",
    )


@pytest.fixture(scope="session")
def operators() -> tuple[OperatorContract, ...]:
    """Two initialisers (one leaves a partial solution), one completer, four improvers."""
    return (
        contract("build", "initialisation", "none"),
        contract("sketch", "initialisation", "none", "partial"),
        contract("finish", "local_search", "partial"),
        contract("descend", "local_search"),
        contract("tabu", "intensification"),
        contract("shake", "perturbation"),
        contract("relink", "recombination"),
    )
