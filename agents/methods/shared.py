"""Selection, survival and what to ask a model for, as several methods share them.

The texts are in our own words; their letters are those of EoH (i1, e1, e2, m1, m2, m3) and MCTS-AHD (s1 and
descriptions).

References
----------
F. Liu et al., "Evolution of Heuristics: Towards Efficient Automatic Algorithm Design Using Large Language
Model", ICML 2024, and the code of its authors (FeiLiu36/EoH, commit 64b1a49): rank selection, and survival of
one program per distinct objective. Z. Zheng et al., "Monte Carlo Tree Search for Comprehensive Exploration in
LLM-Based Automatic Heuristic Design", ICML 2025.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dga2d.agents.methods.contract import Variation
from dga2d.events import ImplementationId
from dga2d.replay.state.search_state import ProgramRecord
from dga2d.replay.streams import choose

DIGITS = 5
"""Objectives that agree to so many decimals count as one."""


def rank_programs(programs: Iterable[ProgramRecord]) -> list[ProgramRecord]:
    """Return programs best first, of equal ones the older first."""
    return sorted(programs, key=lambda program: (-program.score, program.number))


def fittest(programs: Iterable[ProgramRecord], size: int) -> tuple[ImplementationId, ...]:
    """Return the `size` best programs that did not fail, best first, one of each objective: the oldest.

    A program that was written again is no other one: it counts with its first score.
    """
    first: dict[ImplementationId, ProgramRecord] = {}
    for program in sorted(programs, key=lambda program: program.number):
        first.setdefault(program.id, program)
    found: dict[float, ImplementationId] = {}
    for program in rank_programs(p for p in first.values() if not p.failed):
        found.setdefault(round(program.score, DIGITS), program.id)
    return tuple(found.values())[:size]


def rank_weights(count: int) -> list[float]:
    """Return the probability of each of `count` programs, best first: that of rank r = 0, 1, … is in
    proportion to 1 / (r + 1 + count), so that the best is at most twice as likely as the worst."""
    weights = [1.0 / (rank + 1 + count) for rank in range(count)]
    total = sum(weights)
    return [weight / total for weight in weights]


def select_by_rank(
    programs: Sequence[ProgramRecord], count: int, draws: np.random.Generator
) -> tuple[ImplementationId, ...]:
    """Draw `count` programs by rank with replacement: the same one may be drawn twice."""
    order = rank_programs(programs)
    weights = rank_weights(len(order))
    return tuple(order[choose(weights, float(draws.random()))].id for _ in range(count))


I1 = Variation("Write a program of your own for this problem. Choose the method freely.", shows_library=True)
E1 = Variation(
    "Write a program whose method has nothing of the form of those above: another way to construct, another "
    "neighbourhood, another strategy of search.",
    shows_library=True,
)
E2 = Variation(
    "Find the idea that the programs above have in common. Write a program that rests on this idea and is "
    "otherwise different from all of them.",
    shows_library=True,
)
M1 = Variation(
    "Write a modified version of the program above: a changed form of the same method that promises better "
    "solutions."
)
M2 = Variation(
    "Name to yourself the parameters of the program above. Write the same program with other settings of "
    "these parameters."
)
M3 = Variation(
    "Find the parts of the program above that are likely to fit the training instances and nothing else. "
    "Write a simpler program without them that holds on other instances, too."
)
