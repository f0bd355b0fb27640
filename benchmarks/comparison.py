"""Arms of one case over all seeds, and their programs on held-out instances."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from arms import Case, Outcome, open_frame, run_arm
from independent import without_constants
from numpy.typing import NDArray
from one_family import open_family
from pairing import Gain, gain_of, is_beaten
from programs import Budget, Program, ProgramBench

from dga2d.agents.spreading import spread
from dga2d.domains.core.registry import get_domain
from dga2d.events import InstanceKey
from dga2d.replay.streams import spawn_key
from dga2d.runtime.evaluator import open_evaluator

FAILED = 100.0
"""Gap in percent that a failed evaluation counts as."""
BUDGETS: tuple[Budget, ...] = ("calibrated", "seconds")
KINDS = ("new code", "unused code", "constants", "walk", "baseline")
"""What a winner can be: with code that the domain's library has not; with code that the run's library alone
has not, which a proposer may know; with other constants; another walk; the start."""
Gaps = Mapping[str, Mapping[Budget, list[float]]]
"""By program and budget, one for each instance, in percent."""


async def held_out(case: Case, seed: int, folder: Path, programs: Sequence[Program], n: int) -> Gaps:
    """Return the gaps of programs in percent, by program, budget and instance.

    What was evaluated before is read from `folder`, which needs no databases of the runs.
    """
    kept = folder / f"{case.name}-held-out-{seed}.json"
    known: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    problem = open_family(case.domain, case.data, case.family)
    keys = spread([InstanceKey(ref.key) for ref in problem.splits.test], n)
    distinct = {program.name: program for program in programs}
    owed = [
        (name, key, budget)
        for key in keys
        for budget in BUDGETS
        for name in distinct
        if f"{name} {budget} {key}" not in known
    ]
    if owed:
        state, baseline = await open_frame(case, folder), programs[0]
        async with open_evaluator(case.domain, state.settings) as pool:
            bench = ProgramBench(state, baseline, problem, pool)
            await bench.calibrate(distinct.values())
            for name, key, budget in owed:
                stream = spawn_key("test", 1, 0, problem.index(key))
                gap = bench.gap_percent(await bench.run(distinct[name], key, stream, budget), key)
                known[f"{name} {budget} {key}"] = FAILED if gap is None else gap
                kept.write_text(json.dumps(known), encoding="utf-8")
    return {name: {b: [known[f"{name} {b} {key}"] for key in keys] for b in BUDGETS} for name in distinct}


class Comparison:
    """One case: its arms over all seeds."""

    def __init__(self, case: Case, arms: Sequence[str], seeds: Sequence[int]) -> None:
        self.case, self.arms, self.seeds = case, arms, seeds
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.gaps: dict[int, Gaps] = {}

    def search(self, seed: int, folder: Path) -> None:
        """Carry out all arms of a seed; *full* first, which says how many evaluations the others get."""
        evaluations = None
        for arm in ("full", *(arm for arm in self.arms if arm != "full")):
            outcome = run_arm(self.case, arm, seed, folder, evaluations)
            evaluations = outcome.evaluations if arm == "full" else evaluations
            self.outcomes[arm, seed] = outcome
            walk = " → ".join(part.operator for part in outcome.winner.parts)
            print(
                f"{self.case.name} {arm} {seed}: {outcome.evaluations} evaluations, {walk}", file=sys.stderr
            )

    def test(self, seed: int, folder: Path, n: int, with_course: bool) -> None:
        """Evaluate what the arms of a seed came to on held-out instances."""
        found = [self.outcomes[arm, seed] for arm in self.arms]
        programs = [found[0].baseline, *(outcome.winner for outcome in found)]
        if with_course:
            programs += [step.program for outcome in found for step in outcome.course]
        self.gaps[seed] = anyio.run(held_out, self.case, seed, folder, programs, n)

    def matrix(self, arm: str, budget: Budget) -> NDArray[np.float64]:
        """Return gaps in percent of shape `(seeds, instances)`; the arm ``start`` is the baseline."""
        rows = []
        for seed in self.seeds:
            outcome = self.outcomes[self.arms[0] if arm == "start" else arm, seed]
            program = outcome.baseline if arm == "start" else outcome.winner
            rows.append(self.gaps[seed][program.name][budget])
        return np.array(rows)

    def gain(self, arm: str, other: str, budget: Budget) -> Gain:
        """Return what `arm` gains on `other`."""
        return gain_of(self.matrix(other, budget), self.matrix(arm, budget))

    def gain_of_program(self, program: Program, seed: int, budget: Budget) -> Gain:
        """Return what a program of a seed's course gains on that seed's start."""
        gaps, start = self.gaps[seed], self.outcomes[self.arms[0], seed].baseline
        before, after = (np.array([gaps[name][budget]]) for name in (start.name, program.name))
        return gain_of(before, after)

    def winners(self, arm: str) -> str:
        """Return how many winners hold new code, other constants, another walk alone, or are the baseline."""
        kinds = [self._kind(self.outcomes[arm, seed]) for seed in self.seeds]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)

    def _kind(self, outcome: Outcome) -> str:
        if outcome.winner.name == outcome.baseline.name:
            return "baseline"
        operators = get_domain(self.case.domain).operators()
        is_basic = "--library=basic" in self.case.flags
        used = [op for op in operators if op.tier == "basic" or not is_basic]
        texts, known, whole = (
            {read(c.source) for op in library for c in op.implementations}
            for library, read in ((used, str), (used, without_constants), (operators, without_constants))
        )
        new = [part.source for part in outcome.winner.parts if part.source not in texts]
        structures = [without_constants(source) for source in new]
        if not {*structures} <= whole:
            return "new code"
        if not {*structures} <= known:
            return "unused code"
        return "constants" if new else "walk"

    def until_beaten(self, arm: str, seed: int) -> int | None:
        """Return the evaluations until a program was held that beats the baseline, for all arms that of the
        first one, as an older version's may be another; ``None`` if none does."""
        outcome, gaps = self.outcomes[arm, seed], self.gaps[seed]
        before = np.array(gaps[self.outcomes[self.arms[0], seed].baseline.name]["calibrated"])
        for step in outcome.course:
            if is_beaten(before, np.array(gaps[step.program.name]["calibrated"])):
                return step.evaluations
        return None

    def figures(self) -> dict[str, Any]:
        """Return everything as plain values."""
        arms = {}
        for arm in ("start", *self.arms):
            arms[arm] = {budget: self.matrix(arm, budget).tolist() for budget in BUDGETS}
        runs = {
            f"{arm} {seed}": {
                "evaluations": outcome.evaluations,
                "calls": outcome.calls,
                "winner": [part.id for part in outcome.winner.parts],
                "kind": self._kind(outcome),
                "selected_at": [step.evaluations for step in outcome.course],
            }
            for (arm, seed), outcome in self.outcomes.items()
        }
        return {"gap_percent": arms, "runs": runs}
