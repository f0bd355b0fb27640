"""What recorded runs came to, in equal seconds beside the hand-tuned baseline of the whole library.

    python benchmarks/recorded.py examples/runs/turns/*.dga2d.zip --seconds 1 10
    python benchmarks/recorded.py examples/runs/turns/mis-*.zip --published 'bhoslib*' --data DIR

Of each run, the algorithm that it took home (its checkpoint), its start, and the safe baseline solve the
instances that the run held out, evenly spread, with common random numbers; with ``--published`` those of the
groups that match, as far as the run has not seen them. A failed evaluation counts as a gap of 100 %.
Intervals (95 %) are bootstraps over instances and random streams, both drawn anew; tests are Wilcoxon's
signed-rank tests over instances, of the means over streams. Give it idle cores.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray
from pairing import gain_of
from programs import Program, read_program

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationRequest, Evaluator
from dga2d.agents.spreading import spread
from dga2d.domains.core.contract import normalised_gap
from dga2d.domains.core.plugins import use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.events import InstanceKey, RunId
from dga2d.replay.archive import import_run
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore, open_store

FAILED = 1.0
"""Gap that a failed evaluation counts as."""
Gaps = NDArray[np.float64]
"""In percent, of shape `(streams, instances)`."""


def held_out(*runs: RunState) -> Sequence[InstanceKey]:
    """Return what one of the runs held out and none has seen, sorted."""
    splits = [run.header.splits for run in runs]
    seen = {entry.key for split in splits for entry in (*split.train, *split.validation)}
    return sorted({entry.key for split in splits for entry in split.test} - seen)


def open_problem(domain: str, data: Path | None) -> Problem:
    """Return a problem with its generated instances and, with `data`, the published ones."""
    found = get_domain(domain)
    published = () if data is None else found.published(data)
    return Problem(found, list({ref.key: ref for ref in (*found.generated(), *published)}.values()))


async def solve_all(
    pool: Evaluator,
    problem: Problem,
    program: Program,
    keys: Sequence[InstanceKey],
    seconds: float,
    streams: int = 1,
) -> Gaps:
    """Return the gaps of a program on instances under so many random streams each, a column per instance."""
    gaps = np.empty((streams, len(keys)))

    async def solve(row: int, column: int) -> None:
        instance = problem.instance(keys[column])
        random = (row + 1, *spawn_key("test", 1, 0, column))
        request = EvaluationRequest(
            f"held out/{keys[column]}/{row}",
            instance,
            program.parts,
            random,
            budget=seconds,
            unit="s",
            shares=program.shares,
        )
        objective = (await pool.evaluate(request)).objective
        assert instance.reference is not None, f"{keys[column]} has no reference"
        value = instance.reference.value
        gap = FAILED if objective is None else normalised_gap(objective, value, problem.domain.sense)
        gaps[row, column] = 100.0 * gap

    async with anyio.create_task_group() as tasks:
        for row in range(streams):
            for column in range(len(keys)):
                tasks.start_soon(solve, row, column)
    return gaps


def instances_of(state: RunState, problem: Problem, options: argparse.Namespace) -> Sequence[InstanceKey]:
    """Return the instances on which a run's programs are compared."""
    splits = state.header.splits
    seen = {entry.key for entry in (*splits.train, *splits.validation)}
    known = {InstanceKey(ref.key): ref.group for part in problem.splits for ref in part}
    keys = [key for key in held_out(state) if key in known]
    if options.published is not None:
        more = {key for key, group in known.items() if fnmatchcase(group, options.published)}
        keys = sorted(more - seen)
    return spread(keys, options.instances)


async def compare(archive: Path, store: EventStore, options: argparse.Namespace) -> None:
    """Print the rows of one recorded run."""
    run = RunId((await import_run(store, archive)).run)
    state, sources = await load_state(store, run), SourceReader(store)
    problem = open_problem(state.header.domain, options.data)
    kept = state.header.baseline if state.checkpoint is None else state.checkpoint.steps
    programs = {
        "start": await read_program(state, state.header.baseline, sources),
        "hand-tuned": Program(tuple(step.implementation for step in problem.domain.safe_baseline())),
        "evolved": await read_program(state, kept, sources),
    }
    keys = instances_of(state, problem, options)
    settings = state.settings.model_copy(update={"evaluators": options.workers})
    for seconds in options.seconds:
        async with open_evaluator(state.header.domain, settings) as pool:
            gaps = {
                name: await solve_all(pool, problem, program, keys, seconds, options.streams)
                for name, program in programs.items()
                if name != "start" or seconds <= options.start_up_to
            }
        print(row(run, state, seconds, keys, gaps), flush=True)


def row(
    run: RunId, state: RunState, seconds: float, keys: Sequence[InstanceKey], gaps: dict[str, Gaps]
) -> str:
    """Return a run's row of the table."""
    gain = gain_of(gaps["hand-tuned"], gaps["evolved"])
    start = f"{gaps['start'].mean():.3f}" if "start" in gaps else "–"
    tuned, evolved = (gaps[name].mean() for name in ("hand-tuned", "evolved"))
    cells = [
        run,
        state.header.domain,
        state.settings.library,
        str(state.ledger.used),
        f"{seconds:g}",
        f"{len(keys)} × {len(gaps['evolved'])}",
        start,
        f"{tuned:.3f}",
        f"{evolved:.3f}",
        str(gain),
        f"{gain.won}, {gain.lost}",
        f"{gain.p:.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path, metavar="RUN.dga2d.zip")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0], help="per instance")
    parser.add_argument(
        "--start-up-to", type=float, default=1.0, help="seconds up to which the start is solved with, too"
    )
    parser.add_argument("--streams", type=int, default=3, help="random streams of each instance")
    parser.add_argument("--instances", type=int, default=30, help="at most")
    parser.add_argument(
        "--published", metavar="GROUPS", help="pattern of groups, instead of what the run held out"
    )
    parser.add_argument("--data", type=Path, help="published instances")
    parser.add_argument("--domain-path", type=Path, help="file of a problem of one's own")
    parser.add_argument("--workers", type=int, default=2, help="evaluations at a time")
    options = parser.parse_args()
    if options.domain_path is not None:
        use_problem_file(options.domain_path)

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with open_store(f"sqlite+aiosqlite:///{folder}/runs.db", create=True) as store:
                for archive in options.archives:
                    await compare(archive, store, options)

    print(
        "| run | domain | library | calls | s | instances × streams | start, % | hand-tuned, % | evolved, % "
        "| evolved ahead by, points (95 %) | won, lost | p |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|--:|---|--:|--:|")
    anyio.run(run)


if __name__ == "__main__":
    main()
