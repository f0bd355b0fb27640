"""A method without a model: every call brings what it asks for, and scores are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dga2d.agents.methods import Method, Plan, Search
from dga2d.agents.methods.contract import seeding
from dga2d.events import ImplementationId
from dga2d.replay.state.search_state import ProgramRecord, Reflection
from dga2d.replay.streams import stream


def program_id(number: int) -> ImplementationId:
    return ImplementationId(f"program.{number:012d}")


@dataclass
class DryRun:
    """Lets a method plan and update until it has no further round."""

    method: Method
    calls: int = 500
    size: int = 0
    plans: list[Plan] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    made: int = 0
    """Calls so far."""

    def run(self, fails: frozenset[int] = frozenset()) -> Search:
        """The search after the last round; programs with numbers in `fails` do not run."""
        search = Search(
            1, 1, self.calls, self.calls, self.size, 3, (program_id(1),), {}, (), (), (), {}, (), "", ""
        )
        while True:
            plan = seeding(search) if search.round == 1 else self._plan(search)
            if plan is None:
                return search
            self.plans.append(plan)
            search = self._after(search, plan, fails)
            self.searches.append(search)

    def _plan(self, search: Search) -> Plan | None:
        return self.method.plan(search) if search.calls_left > 0 else None

    def _after(self, search: Search, plan: Plan, fails: frozenset[int]) -> Search:
        draws = stream(1, "evaluation", search.round)
        latest: list[ProgramRecord] = []
        words: list[Reflection] = []
        for slot, ask in enumerate(plan.asks):
            self.made += ask.variation != "seed"
            if ask.purpose == "reflect":
                words.append(Reflection(search.round, slot, ask.variation, f"{search.round}/{slot}"))
            if ask.purpose != "program":
                continue
            number = len(search.programs) + len(latest) + 1
            failed = number in fails
            score = -5.0 if failed else round(-float(draws.random()), 4)
            parents = () if ask.variation == "seed" else ask.parents
            latest.append(
                ProgramRecord(
                    *(program_id(number), number, search.round, slot, ask.variation, parents),
                    *("", "", score, float(draws.integers(100)), failed),
                )
            )
        programs = {**search.programs, **{program.id: program for program in latest}}
        sources = {name: f"a = {'b + ' * (p.number % 5)}c" for name, p in programs.items()}
        left = self.calls - self.made
        seen = replace(
            search,
            programs=programs,
            latest=tuple(latest),
            calls_left=left,
            phase=plan.phase,
            sources=sources,
        )
        kept = self.method.update(seen)
        return replace(
            seen,
            round=search.round + 1,
            latest=(),
            phase="",
            sources={},
            population=kept.members,
            archive=kept.archive,
            tree={**search.tree, **{node.program: node for node in kept.nodes}},
            reflections=(*search.reflections, *words),
            memory=kept.memory,
        )
