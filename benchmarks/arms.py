"""The arms of the comparison in `evolved.py`: searches of equally many evaluations from one library.

Each arm is a run of the program with settings of its own, but for *best of n*, which knows no evolution:
each candidate is the safe baseline with one implementation that is new to it. The proposer writes as many as
*full* made calls, and all that the case's bank has for it is tried, too. The best on the training instances
is taken if the validation instances confirm it.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from independent import banked_programs, best_of_n
from one_family import open_family
from programs import Program, ProgramBench, read_program

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.work_calibration import NOTHING_KNOWN
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import RunId
from dga2d.events.payloads import CheckpointSelected, IncumbentSelected
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.runs.work_budget import settle_work
from dga2d.store import open_store

ARMS: dict[str, tuple[str, ...]] = {
    "full": (),
    "walks": ("--no-evolution", "--race-moves=finalist,sampled,walk,implementation,crossover,share"),
    "constants": ("--no-evolution", "--race-moves=finalist,constants", "--pipelines=1"),
    "random": ("--llm=offline:constants",),
    "best-of-n": (),
    "before": (),
}
"""Settings of each arm besides the case's; *best of n* and *before* know none of them."""
ENOUGH = 0.95
"""Part of the evaluations that an arm is to make from which it has made enough."""


@dataclass(frozen=True)
class Case:
    """A domain, or one family of its instances, with what all arms share."""

    domain: str
    family: str
    """Pattern of the groups; ``*`` for all."""
    flags: tuple[str, ...]
    """Of ``dga2d evolve``: library, budget, instances, evaluators."""
    present: tuple[str, ...]
    """Settings that an older version does not know."""
    generations: int
    data: Path | None
    before: Path | None = None
    """Python of an older version of the program, for the arm of that name."""

    @property
    def name(self) -> str:
        """What tables and files call it."""
        return self.domain if self.family == "*" else f"{self.domain}-{self.family.replace('*', '')}"


class Course(NamedTuple):
    """A program that an arm held for its best, and the evaluations it had made by then."""

    evaluations: int
    program: Program


@dataclass(frozen=True)
class Outcome:
    """What an arm came to."""

    evaluations: int
    """Training, racing, gates and validation together."""
    calls: int
    baseline: Program
    winner: Program
    course: tuple[Course, ...]
    """Every program that won a race or was validated, in order."""

    def to_json(self) -> str:
        """Return it as text."""
        course = [[at, _plain(program)] for at, program in self.course]
        return json.dumps(
            {
                "evaluations": self.evaluations,
                "calls": self.calls,
                "baseline": _plain(self.baseline),
                "winner": _plain(self.winner),
                "course": course,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Return what `to_json` wrote."""
        found = json.loads(text)
        course = tuple(Course(at, _program(program)) for at, program in found["course"])
        baseline, winner = _program(found["baseline"]), _program(found["winner"])
        return cls(found["evaluations"], found["calls"], baseline, winner, course)


def _plain(program: Program) -> list[Any]:
    return [[[part.operator, part.source, part.origin] for part in program.parts], program.shares]


def _program(plain: list[Any]) -> Program:
    parts, shares = plain
    return Program(
        tuple(Implementation(OperatorName(op), source, origin) for op, source, origin in parts), tuple(shares)
    )


def run_arm(case: Case, arm: str, seed: int, folder: Path, evaluations: int | None) -> Outcome:
    """Return what an arm comes to with about so many `evaluations`, by default those of its generations.

    What is finished is read from `folder`, and what was begun there goes on.
    """
    name = f"{case.name}-{arm}-{seed}"
    kept = folder / f"{name}.json"
    if not kept.exists():
        if arm == "best-of-n":
            assert evaluations is not None, "best of n takes another arm's number of evaluations"
            outcome = anyio.run(_independent, case, seed, folder, evaluations)
        else:
            outcome = _search(case, arm, seed, name, folder, evaluations)
        kept.write_text(outcome.to_json(), encoding="utf-8")
    return Outcome.from_json(kept.read_text(encoding="utf-8"))


def _search(case: Case, arm: str, seed: int, name: str, folder: Path, evaluations: int | None) -> Outcome:
    """Carry a run to its end, and on until it has made about so many `evaluations`."""
    python = case.before if arm == "before" else Path(sys.executable)
    assert python is not None, "the arm `before` takes the Python of an older version"
    settings = ARMS[arm] if arm == "before" else (*case.present, *ARMS[arm])
    flags = [*case.flags, *settings, f"--seed={seed}", f"--generations={case.generations}"]
    begin = ["evolve", case.domain, f"--run-id={name}", *flags]
    if not (folder / f"{name}.db").exists() or not _carry_out(case, python, ["resume", name], name, folder):
        _carry_out(case, python, begin, name, folder)
    while True:
        outcome, generations = anyio.run(_read_outcome, folder, name)
        if evaluations is None or outcome.evaluations >= ENOUGH * evaluations:
            return outcome
        needed = math.ceil(generations * evaluations / outcome.evaluations)
        go_on = ["resume", name, f"--generations={max(generations + 1, needed)}"]
        _carry_out(case, python, go_on, name, folder)


def store_url(folder: Path, name: str) -> str:
    """Return the database of a run."""
    return f"sqlite+aiosqlite:///{folder / name}.db"


def _carry_out(case: Case, python: Path, command: list[str], name: str, folder: Path) -> bool:
    """Evolve or resume; return whether there was a run to resume. Where it ends badly the benchmark ends."""
    launcher = str(Path(__file__).parent / "one_family.py")
    words = [str(python), "-P", launcher, case.family, *command, f"--store={store_url(folder, name)}"]
    words += ["--quiet", "--no-report", "--json"]
    if case.data is not None:
        words.append(f"--data={case.data.resolve()}")
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    if "is complete" in done.stderr:
        return True
    if done.returncode == 2 and command == ["resume", name]:
        return False
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed ({done.returncode}):\n{done.stderr}")
    return True


async def _read_outcome(folder: Path, name: str) -> tuple[Outcome, int]:
    """Count a run's evaluations, collect the programs it selected, and say for how many generations it is."""
    async with open_store(store_url(folder, name), create=False) as store:
        run = RunId(name)
        state, sources = await load_state(store, run), SourceReader(store)
        count, course = 0, list[Course]()
        baseline = state.header.baseline
        async for page in store.pages(run):
            for event in page:
                count += EVALUATIONS.get(event.type, lambda payload: 0)(event.payload)
                selected = event.payload
                if isinstance(selected, CheckpointSelected | IncumbentSelected):
                    program = await read_program(state, selected.pipeline, sources)
                    if selected.pipeline != baseline and (not course or course[-1].program != program):
                        course.append(Course(count, program))
        kept = baseline if state.checkpoint is None else state.checkpoint.steps
        start, winner = [await read_program(state, steps, sources) for steps in (baseline, kept)]
        outcome = Outcome(count, len(state.ledger.calls), start, winner, tuple(course))
        return outcome, state.settings.generations


EVALUATIONS: dict[str, Callable[[Any], int]] = {"EvaluationRecorded": lambda payload: payload.split != "test"}
"""Evaluations that an event of a type records."""


def frame_name(case: Case, seed: int) -> str:
    """Return what `open_frame` calls its run: the tests' has seed 0."""
    return f"{case.name}-frame-{seed}" if seed else f"{case.name}-frame"


async def open_frame(case: Case, folder: Path, seed: int = 0) -> RunState:
    """Return the state of a short run with the case's settings, beside which programs are evaluated: outcomes
    that were made elsewhere need no other. Random numbers are those of its `seed`."""
    name = frame_name(case, seed)
    if not (folder / f"{name}.db").exists():
        short = ("--no-evolution", "--generations=1", "--pipelines=1", "--race-contenders=0")
        begin = ["evolve", case.domain, f"--run-id={name}", f"--seed={seed}", *case.flags, *case.present]
        _carry_out(case, Path(sys.executable), [*begin, *short], name, folder)
    async with open_store(store_url(folder, name), create=False) as store:
        return await load_state(store, RunId(name))


async def work_per_second(domain: str, family: str, data: Path | None, library: str) -> float:
    """Return how many units of calibrated work stand for a second on an instance of middle size, to two
    digits."""
    settings = settings_for(domain, {"library": library}, {"work_seconds": 1.0})
    settled, _ = await settle_work(open_family(domain, data, family), settings, 0, NOTHING_KNOWN)
    assert settled.work is not None
    return float(settled.work)


async def _independent(case: Case, seed: int, folder: Path, evaluations: int) -> Outcome:
    """Return what the best of independent proposals comes to."""
    state = await open_frame(case, folder, seed)
    full = Outcome.from_json((folder / f"{case.name}-full-{seed}.json").read_text(encoding="utf-8"))
    async with open_store(store_url(folder, frame_name(case, seed)), create=False) as store:
        banked = await banked_programs(state, full.baseline, store)
    problem = open_family(case.domain, case.data, case.family)
    async with open_evaluator(case.domain, state.settings) as pool:
        bench = ProgramBench(state, full.baseline, problem, pool)
        best = await best_of_n(bench, banked, full.calls, evaluations)
    course = (Course(best.evaluations, best.program),) if best.program != full.baseline else ()
    return Outcome(best.evaluations, best.proposals, full.baseline, best.program, course)
