"""What a work unit is worth: programs of a finished run at equal work as they count it, at calibrated work,
and in equal seconds, as a Markdown table.

    python benchmarks/calibration.py cvrp-run.dga2d.zip [--instances 8] [--data DIR]

Compares the safe baseline of an archived run with its best program on the training batch, on held-out
instances. Seconds are processor time, so a busy machine does little harm. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, get_args

import anyio
from programs import Budget, Program, ProgramBench, read_program

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.events import InstanceKey, RunId
from dga2d.replay.archive import import_run
from dga2d.replay.streams import spawn_key
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store

BUDGETS: tuple[Budget, ...] = get_args(Budget)


class Outcome(NamedTuple):
    """A program over the instances."""

    gap_percent: float
    cpu_s: float
    failures: int


async def measure(archive: Path, n_instances: int, data: Path | None, folder: Path) -> None:
    """Print the table of one archived run."""
    async with open_store(f"sqlite+aiosqlite:///{folder / 'runs.db'}", create=True) as store:
        manifest = await import_run(store, archive)
        state = await load_state(store, RunId(manifest.run))
        assert state.best is not None
        problem = Problem.open(state.header.domain, data)
        sources = SourceReader(store)
        programs: dict[str, Program] = {}
        for name, steps in (("baseline", state.header.baseline), ("best program", state.best.steps)):
            programs[name] = await read_program(state, steps, sources)
        keys = [entry.key for entry in state.header.splits.test][:n_instances]
        async with open_evaluator(state.header.domain, state.settings) as pool:
            bench = ProgramBench(state, programs["baseline"], problem, pool)
            await bench.calibrate(programs.values())
            print(f"\n### {archive.stem}, {len(keys)} held-out instances\n")
            print("| program | work as it counts | calibrated work | equal seconds |")
            print("|---|--:|--:|--:|")
            for name, program in programs.items():
                cells = []
                for budget in BUDGETS:
                    found = await run_all(bench, program, keys, budget)
                    failed = f", {found.failures} failed" if found.failures else ""
                    cells.append(f"{found.gap_percent:.2f} % in {found.cpu_s:.2f} s{failed}")
                print(f"| {name} | {' | '.join(cells)} |", flush=True)


async def run_all(
    bench: ProgramBench, program: Program, keys: Sequence[InstanceKey], budget: Budget
) -> Outcome:
    """Return mean gap and processor seconds of a program under one kind of budget."""
    replies = [
        (key, await bench.run(program, key, spawn_key("test", 1, 0, number), budget))
        for number, key in enumerate(keys)
    ]
    gaps = [gap for key, reply in replies if (gap := bench.gap_percent(reply, key)) is not None]
    mean = fmean(gaps) if gaps else float("nan")
    return Outcome(mean, fmean(reply.cpu_s for _, reply in replies), len(replies) - len(gaps))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path, metavar="RUN.dga2d.zip")
    parser.add_argument("--instances", type=int, default=8, help="held-out instances")
    parser.add_argument("--data", type=Path, help="published instances, where the run had them")
    options = parser.parse_args()
    for archive in options.archives:
        with tempfile.TemporaryDirectory() as folder:
            anyio.run(measure, archive, options.instances, options.data, Path(folder))


if __name__ == "__main__":
    main()
