"""Evolution of Heuristics: a population of ideas and programs under five kinds of prompts.

Two batches of N programs from the task alone, then generations of N children of one and the same population,
each by an operator drawn at random; the N best of parents and children survive. 2N + G·N calls.

References
----------
F. Liu, X. Tong, M. Yuan, X. Lin, F. Luo, Z. Wang, Z. Lu, Q. Zhang, "Evolution of Heuristics: Towards
Efficient Automatic Algorithm Design Using Large Language Model", ICML 2024; the authors' code, FeiLiu36/EoH,
commit 64b1a49. What differs here: `docs/explanation/methods.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation
from dga2d.agents.methods.shared import E1, E2, I1, M1, M2, M3, fittest, select_by_rank

SIZE = 10
"""N where nothing else is set: 500 calls are 2 · 10 + 48 · 10."""
PARENTS = 2
"""Programs that e1 and e2 are shown."""
BATCHES = 2
"""Batches of N programs from the task alone."""
OPERATORS = ("e1", "e2", "m1", "m2")
"""Drawn with equal weights; m3 is known and not drawn, as in the authors' code."""


class EvolutionOfHeuristics:
    """EoH."""

    variations: Mapping[str, Variation] = {"i1": I1, "e1": E1, "e2": E2, "m1": M1, "m2": M2, "m3": M3}

    def plan(self, search: Search) -> Plan | None:
        count = min(search.size or SIZE, search.calls_left)
        if search.round <= 1 + BATCHES:  # the first round is that of the library's own programs
            return Plan("initial", (Ask("i1"),) * count)
        if not search.population:
            return None
        return Plan("generation", tuple(self._child(search, number) for number in range(count)))

    def _child(self, search: Search, number: int) -> Ask:
        draws = search.draws(number)
        operator = OPERATORS[int(draws.integers(len(OPERATORS)))]
        count = PARENTS if operator in ("e1", "e2") else 1
        return Ask(operator, select_by_rank(search.members, count, draws))

    def update(self, search: Search) -> Population:
        return Population(fittest((*search.members, *search.latest), search.size or SIZE))

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        return ()
