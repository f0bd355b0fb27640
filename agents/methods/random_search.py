"""Random search and best of n: every call asks for a program from the task alone, and the best are kept.

The control that any method has to beat with the same calls.
"""

from __future__ import annotations

from collections.abc import Mapping

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation
from dga2d.agents.methods.shared import I1, fittest

SIZE = 10
"""Programs asked for in a round, and kept, where nothing else is set."""


class RandomSearch:
    """Best of n."""

    variations: Mapping[str, Variation] = {"i1": I1}

    def plan(self, search: Search) -> Plan | None:
        count = min(search.size or SIZE, search.calls_left)
        return Plan("sample", (Ask("i1"),) * count)

    def update(self, search: Search) -> Population:
        known = (*search.members, *search.latest)
        return Population(fittest(known, search.size or SIZE))

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        return ()
