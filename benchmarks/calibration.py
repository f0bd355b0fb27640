"""What a work unit is worth: programs of a finished run at equal work as they count it, at calibrated work,
and in equal seconds, as a Markdown table.

    python benchmarks/calibration.py cvrp-run.dga2d.zip [--instances 8] [--data DIR]
    python benchmarks/calibration.py jsp-run.dga2d.zip --set work_by_size=false  # as another setting has it

Compares the safe baseline of an archived run (`dga2d export`) with its best program on the training batch and
its checkpoint, on held-out instances: mean gap, and processor seconds, the mean, the least and the most. If
work is time, each program takes about as long as the others wherever it does not end by itself. Progress goes
to stderr.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, get_args

import anyio
from programs import Budget, Program, ProgramBench, read_program

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.spreading import spread
from dga2d.events import InstanceKey, RunId
from dga2d.events.payloads import Step
from dga2d.replay.archive import import_run
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.work_rates import WorkRates
from dga2d.replay.streams import spawn_key
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store

BUDGETS: tuple[Budget, ...] = get_args(Budget)


class Outcome(NamedTuple):
    """A program over the instances."""

    gap_percent: float
    cpu_s: tuple[float, ...]
    """By instance."""
    failures: int

    @property
    def told(self) -> str:
        """The mean gap and processor seconds, with the least and the most that an instance took."""
        failed = f", {self.failures} failed" if self.failures else ""
        spread = f"{min(self.cpu_s):.2f} to {max(self.cpu_s):.2f}"
        return f"{self.gap_percent:.2f} % in {fmean(self.cpu_s):.3f} s ({spread}){failed}"


async def measure(
    archive: Path, n_instances: int, data: Path | None, folder: Path, changes: Mapping[str, Any]
) -> None:
    """Print the table of one archived run under its settings with `changes`."""
    async with open_store(f"sqlite+aiosqlite:///{folder / 'runs.db'}", create=True) as store:
        manifest = await import_run(store, archive)
        state = await load_state(store, RunId(manifest.run))
        header, best, checkpoint = state.header, state.best, state.checkpoint
        assert best is not None
        settings = RunSettings.model_validate({**state.settings.model_dump(), **changes})
        state = replace(state, settings=settings)
        if changes:  # which may be about how rates are measured
            state = replace(state, work_rates=WorkRates())
        problem = Problem.open(header.domain, data)
        sources = SourceReader(store)
        found = {"baseline": header.baseline, "best program": best.steps}
        if checkpoint is not None:
            found["checkpoint"] = checkpoint.steps
        programs = {name: await read_program(state, steps, sources) for name, steps in found.items()}
        keys = spread([entry.key for entry in header.splits.test], n_instances)
        async with open_evaluator(header.domain, settings) as pool:
            bench = ProgramBench(state, programs["baseline"], problem, pool)
            if not settings.calibrate_constants:
                await calibrate_texts(bench, [step for steps in found.values() for step in steps], sources)
            await bench.calibrate(programs.values())
            told = "".join(f", {name} = {value}" for name, value in changes.items())
            print(f"\n### {archive.stem}, {len(keys)} held-out instances{told}\n")
            print("| program | work as it counts | calibrated work | equal seconds |")
            print("|---|--:|--:|--:|")
            for name, program in programs.items():
                cells = [(await run_all(bench, program, keys, budget)).told for budget in BUDGETS]
                print(f"| {name} | {' | '.join(cells)} |", flush=True)


async def calibrate_texts(bench: ProgramBench, steps: Sequence[Step], sources: SourceReader) -> None:
    """Let code with other constants count as the text that it configures."""
    for step in dict.fromkeys(steps):
        name = bench.state.unconfigured(step.implementation)
        if name != step.implementation:
            text = Step(operator=step.operator, implementation=name)
            await bench.calibrate([written := await read_program(bench.state, [text], sources)])
            [child] = (await read_program(bench.state, [step], sources)).parts
            bench.inherit_rate(child, written.parts[0])


async def run_all(
    bench: ProgramBench, program: Program, keys: Sequence[InstanceKey], budget: Budget
) -> Outcome:
    """Return what a program comes to under one kind of budget."""
    replies = [
        (key, await bench.run(program, key, spawn_key("test", 1, 0, number), budget))
        for number, key in enumerate(keys)
    ]
    gaps = [gap for key, reply in replies if (gap := bench.gap_percent(reply, key)) is not None]
    mean = fmean(gaps) if gaps else float("nan")
    return Outcome(mean, tuple(reply.cpu_s for _, reply in replies), len(replies) - len(gaps))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path, metavar="RUN.dga2d.zip")
    parser.add_argument("--instances", type=int, default=8, help="held-out instances")
    parser.add_argument("--data", type=Path, help="published instances, where the run had them")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting to change")
    options = parser.parse_args()
    changes = tomllib.loads("\n".join(options.set))
    for archive in options.archives:
        with tempfile.TemporaryDirectory() as folder:
            anyio.run(measure, archive, options.instances, options.data, Path(folder), changes)


if __name__ == "__main__":
    main()
