"""MEoH: Evolution of Heuristics with two objectives, the gap and the effort.

Children of e1, e2, m1 and m2 in turns fill a buffer; when it holds N that run, population and buffer are
ranked by dominance and dissimilarity and the best N survive: who is dominated by something that looks alike
is punished, who is dominated by something different hardly. What no other dominates is kept in an archive.
One call per child.

References
----------
S. Yao, F. Liu, X. Lin, Z. Lu, Z. Wang, Q. Zhang, "Multi-objective Evolution of Heuristic Using Large
Language Model", AAAI 2025; the code of LLM4AD, Optima-CityU/LLM4AD, commit e8d848f. What differs here:
`docs/explanation/methods.md`.
"""

from __future__ import annotations

import ast
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation, is_seeding
from dga2d.agents.methods.shared import E1, E2, I1, M1, M2
from dga2d.events import ImplementationId
from dga2d.events.payloads import TreeNode
from dga2d.replay.state.search_state import ProgramRecord
from dga2d.replay.streams import choose

SIZE = 20
"""N where nothing else is set."""
PARENTS = 2
"""Programs that e1 and e2 are shown."""
FIRST_SHARE = 4
"""The first buffer, of programs from the task alone, is full at N divided by this."""
OPERATORS = ("e1", "e2", "m1", "m2")
"""Taken in turns."""


class MultiObjectiveEvolution:
    """MEoH."""

    variations: Mapping[str, Variation] = {"i1": I1, "e1": E1, "e2": E2, "m1": M1, "m2": M2}

    def plan(self, search: Search) -> Plan | None:
        size, memory = search.size or SIZE, json.loads(search.memory)
        buffer, made, is_first = memory["buffer"], memory["made"], memory["generation"] == 0
        needed = max(1, size // FIRST_SHARE) if is_first else size
        count = min(needed - len(buffer), search.calls_left)
        if is_first:
            return Plan("initial", (Ask("i1"),) * count)
        if not search.population:
            return None
        return Plan("generation", tuple(self._child(search, made + n) for n in range(count)))

    def _child(self, search: Search, number: int) -> Ask:
        draws, operator = search.draws(number), OPERATORS[number % len(OPERATORS)]
        count = PARENTS if operator in ("e1", "e2") else 1
        values = [search.tree[name].value for name in search.population]
        chances = softmax(values)
        picked = (search.population[choose(chances, float(draws.random()))] for _ in range(count))
        return Ask(operator, tuple(picked))

    def update(self, search: Search) -> Population:
        valid = list({program.id: program for program in search.latest if not program.failed}.values())
        if is_seeding(search):
            return self._select_survivors(search, valid, {"buffer": [], "made": 0, "generation": 0})
        size, memory = search.size or SIZE, json.loads(search.memory)
        is_first = memory["generation"] == 0
        buffer = [*(search.programs[name] for name in memory["buffer"]), *valid]
        made = memory["made"] + (0 if is_first else len(search.latest))
        if len(buffer) < (max(1, size // FIRST_SHARE) if is_first else size) and search.calls_left > 0:
            told = {**memory, "buffer": [program.id for program in buffer], "made": made}
            archive = self._front(search, buffer)
            return Population(search.population, archive, memory=json.dumps(told))
        told = {"buffer": [], "made": made, "generation": memory["generation"] + 1}
        return self._select_survivors(search, buffer, told)

    def _select_survivors(self, search: Search, buffer: list[ProgramRecord], memory: object) -> Population:
        """Return the N programs of population and buffer of the largest value; of equal ones the older."""
        known = {program.id: program for program in (*search.members, *buffer)}
        programs = sorted(known.values(), key=lambda program: program.number)
        values = dominance_dissimilarity(programs, [search.sources[program.id] for program in programs])
        order = sorted(range(len(programs)), key=lambda i: (-values[i], programs[i].number))
        kept = order[: search.size or SIZE]
        nodes = [
            TreeNode(program=programs[i].id, parent=None, value=values[i], visits=0) for i in sorted(kept)
        ]
        members = sorted((programs[i] for i in kept), key=lambda program: (-program.score, program.number))
        names = tuple(program.id for program in members)
        return Population(names, self._front(search, programs), tuple(nodes), json.dumps(memory))

    @staticmethod
    def _front(search: Search, programs: Sequence[ProgramRecord]) -> tuple[ImplementationId, ...]:
        old = [search.programs[name] for name in search.archive]
        return tuple(program.id for program in front([*old, *programs]))

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        return ()


def dominates(one: ProgramRecord, other: ProgramRecord) -> bool:
    """Return whether `one` is nowhere worse than `other`: no larger gap and no larger effort."""
    return one.score >= other.score and one.effort <= other.effort


def front(programs: Sequence[ProgramRecord]) -> list[ProgramRecord]:
    """Return the programs that no other dominates, best score first; of equal ones the oldest."""
    found: dict[tuple[float, float], ProgramRecord] = {}
    for program in sorted(programs, key=lambda p: p.number):
        found.setdefault((program.score, program.effort), program)
    unique = list(found.values())
    kept = [p for p in unique if not any(q is not p and dominates(q, p) for q in unique)]
    return sorted(kept, key=lambda p: (-p.score, p.number))


def dominance_dissimilarity(programs: Sequence[ProgramRecord], sources: Sequence[str]) -> list[float]:
    """Return the value of each program, 0 at most: less by its likeness to every program that dominates it.

    Of two equal ones the earlier dominates the later.
    """
    values = [0.0] * len(programs)
    for j in range(len(programs)):
        for i in range(j):
            if dominates(programs[i], programs[j]):
                values[j] -= likeness(sources[i], sources[j])
            elif dominates(programs[j], programs[i]):
                values[i] -= likeness(sources[j], sources[i])
    return values


def softmax(values: Sequence[float]) -> list[float]:
    """Return the probabilities that go with exponentials of `values`."""
    powers = np.exp(np.array(values) - max(values))
    return [float(power) for power in powers / math.fsum(powers)]


@lru_cache(maxsize=65_536)
def likeness(one: str, other: str) -> float:
    """Return which part of the syntax trees within `one` is also found in `other`, names and constants
    aside: 0 to 1.

    References
    ----------
    S. Ren et al., "CodeBLEU: a Method for Automatic Evaluation of Code Synthesis", 2020 (syntactic match).
    """
    first, second = _shapes(one), _shapes(other)
    total = sum(first.values())
    return sum(min(count, second[shape]) for shape, count in first.items()) / total if total else 0.0


_numbers: dict[tuple[object, ...], int] = {}
"""Shape of a syntax tree → a number of its own: equal shapes have equal numbers."""


@lru_cache(maxsize=1024)
def _shapes(source: str) -> Counter[int]:
    found: Counter[int] = Counter()

    def number(node: ast.AST) -> int:
        shape = (type(node).__name__, *(number(child) for child in ast.iter_child_nodes(node)))
        key = _numbers.setdefault(shape, len(_numbers))
        found[key] += 1
        return key

    number(ast.parse(source))
    return found
