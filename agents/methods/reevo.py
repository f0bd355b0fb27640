"""ReEvo: crossover and mutation under reflections, as of a reflective evolution.

Three times N programs from the task alone; then iterations. In each, N pairs of unequal programs: a short
reflection on why the better one is better, then a program out of both under this hint; these N children
replace the population. A long reflection sums up the hints, and N/2 mutations of the elite follow it. The
elite, the best program ever, returns to the pool of parents when it has dropped out. 3N + G · (2N + 1 + N/2)
calls.

References
----------
H. Ye, J. Wang, Z. Cao, F. Berto, C. Hua, H. Kim, J. Park, G. Song, "ReEvo: Large Language Models as
Hyper-Heuristics with Reflective Evolution", NeurIPS 2024; the authors' code, ai4co/reevo, commit 1f080bf.
What differs here: `docs/explanation/methods.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation
from dga2d.agents.methods.shared import I1, rank_programs
from dga2d.events import ImplementationId
from dga2d.replay.state.search_state import ProgramRecord

SIZE = 10
"""N where nothing else is set: 500 calls are 30 + 18 · 26, and 2 are left."""
FIRST = 3
"""Times N programs from the task alone."""
MUTATIONS = 0.5
"""Mutations of the elite per N in an iteration."""
MOST_DRAWS = 1000
"""Pairs drawn in vain before the run is over."""
SHORT, LONG = "short_reflection", "long_reflection"


class ReflectiveEvolution:
    """ReEvo."""

    variations: Mapping[str, Variation] = {
        "i1": I1,
        SHORT: Variation(
            "The second program finds better solutions than the first. Compare their code and give hints to "
            "whoever writes the next program: what makes the difference?",
            shows_scores=True,
            max_words=20,
        ),
        "crossover": Variation(
            "The second program is better than the first. Write a program out of both that is better still, "
            "after the hint above."
        ),
        LONG: Variation(
            "Above are what was learned so far, if anything, and the hints of the last comparisons. Sum "
            "them up as advice for the next programs, the most useful first.",
            max_words=50,
        ),
        "mutation": Variation(
            "Write a modified version of the program above, the best so far, after the advice above."
        ),
    }

    def plan(self, search: Search) -> Plan | None:
        size, left = search.size or SIZE, search.calls_left
        mutations = int(MUTATIONS * size)
        if search.round == 2:  # behind the library's own programs
            return Plan("initial", (Ask("i1"),) * min(FIRST * size, left))
        if search.memory == "crossover":
            count = min(mutations, left - 1)
            children = (Ask("mutation", search.archive[:1], after=0),) * count
            return Plan("mutation", (Ask(LONG, purpose="reflect"), *children)) if count > 0 else None
        if left < 2 * size + 1 + mutations:  # an iteration that cannot be finished is not begun
            return None
        pairs = self._pairs(search, size)
        if pairs is None:
            return None
        hints = tuple(Ask(SHORT, pair, "reflect") for pair in pairs)
        crossed = tuple(Ask("crossover", pair, after=slot) for slot, pair in enumerate(pairs))
        return Plan("crossover", (*hints, *crossed))

    def _pairs(
        self, search: Search, count: int
    ) -> tuple[tuple[ImplementationId, ImplementationId], ...] | None:
        """Return pairs of a worse and a better program, drawn uniformly; ``None`` where no two differ."""
        pool = {program.id: program for program in search.members}
        pool.update((name, search.programs[name]) for name in search.archive)
        programs, draws, pairs = list(pool.values()), search.draws(), []
        if len(programs) < 2:
            return None
        for _ in range(MOST_DRAWS + count):
            one, other = (programs[int(i)] for i in draws.choice(len(programs), 2, replace=False))
            if one.score != other.score:
                worse, better = sorted((one, other), key=lambda program: program.score)
                pairs.append((worse.id, better.id))
            if len(pairs) == count:
                return tuple(pairs)
        return None

    def update(self, search: Search) -> Population:
        valid = [program for program in search.latest if not program.failed]
        kept: list[ProgramRecord] = list(search.members) if search.phase == "mutation" else []
        elite = rank_programs([*valid, *(search.programs[name] for name in search.archive)])[:1]
        members = dict.fromkeys(program.id for program in rank_programs([*kept, *valid]))
        return Population(tuple(members), tuple(program.id for program in elite), memory=search.phase)

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        if ask.variation != LONG:
            return ()
        before = [r.text for r in search.reflections if r.variation == LONG][-1:]
        hints = [r.text for r in search.reflections if r.variation == SHORT and r.round == search.round - 1]
        return (*before, *hints)
