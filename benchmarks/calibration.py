"""What a work unit is worth: programs of a finished run at equal work as they count it, at calibrated work,
and in equal seconds, as a Markdown table.

    python benchmarks/calibration.py cvrp-run.dga2d.zip [--instances 8] [--data DIR]

Compares the safe baseline of an archived run with its best program on the training batch, on held-out
instances. Seconds are processor time, so a busy machine does little harm. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import anyio

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.work_calibration import MeasureRate, RateMeter, measured_pipeline, seconds_of_work
from dga2d.domains.core.contract import Implementation, normalised_gap
from dga2d.events import ImplementationId, InstanceKey, RunId
from dga2d.events.payloads import Step
from dga2d.replay.archive import import_run
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.replay.streams import spawn_key
from dga2d.runtime.evaluation import EvaluatorPool
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store


class Outcome(NamedTuple):
    """A program over the instances."""

    gap_percent: float
    cpu_s: float
    failures: int


async def calibrate(
    state: RunState, steps: list[Step], sources: SourceReader, pool: EvaluatorPool, problem: Problem
) -> RunState:
    """Return `state` with the rates of the baseline and of `steps`."""
    state = replace(state, settings=state.settings.model_copy(update={"calibration": "measured"}))
    meter = RateMeter(pool, problem)
    for subject in (BASELINE, *dict.fromkeys(step.implementation for step in steps)):
        pipeline = measured_pipeline(state, MeasureRate(0, subject))
        implementations = [await sources.implementation(state, step) for step in pipeline]
        points = await meter.measure(state, subject, tuple(implementations))
        print(f"{subject}: {[(p.size, p.work, round(p.cpu_s, 4)) for p in points]}", file=sys.stderr)
        rates = state.work_rates
        rates = (
            rates.with_reference(points, 1)
            if subject == BASELINE
            else rates.with_implementation(ImplementationId(subject), points)
        )
        state = replace(state, work_rates=rates)
    return state


async def measure(archive: Path, n_instances: int, data: Path | None, folder: Path) -> None:
    """Print the table of one archived run."""
    async with open_store(f"sqlite+aiosqlite:///{folder / 'runs.db'}", create=True) as store:
        manifest = await import_run(store, archive)
        state = await load_state(store, RunId(manifest.run))
        assert state.best is not None
        problem = Problem.open(state.header.domain, data)
        sources = SourceReader(store)
        programs = {"baseline": list(state.header.baseline), "best program": list(state.best.steps)}
        keys = [entry.key for entry in state.header.splits.test][:n_instances]
        async with open_evaluator(state.header.domain, state.settings) as pool:
            state = await calibrate(state, list(chain(*programs.values())), sources, pool, problem)
            limit_s = seconds_of_work(state)
            print(f"\n### {archive.stem}, {len(keys)} held-out instances\n")
            print("| program | work as it counts | calibrated work | equal seconds |")
            print("|---|--:|--:|--:|")
            for name, steps in programs.items():
                texts = tuple([await sources.implementation(state, step) for step in steps])
                cells = []
                for budget in ("counted", "calibrated", "seconds"):
                    found = await run_all(state, pool, problem, keys, steps, texts, budget, limit_s)
                    failed = f", {found.failures} failed" if found.failures else ""
                    cells.append(f"{found.gap_percent:.2f} % in {found.cpu_s:.2f} s{failed}")
                print(f"| {name} | {' | '.join(cells)} |", flush=True)


async def run_all(
    state: RunState,
    pool: EvaluatorPool,
    problem: Problem,
    keys: Sequence[InstanceKey],
    steps: list[Step],
    texts: tuple[Implementation, ...],
    budget: str,
    limit_s: float | None,
) -> Outcome:
    """Return mean gap and processor seconds of a program under one kind of budget."""
    replies: list[tuple[InstanceKey, EvaluationReply]] = []
    for number, key in enumerate(keys):
        size = problem.size(key)
        scales = tuple(state.work_rates.scale(step.implementation, size) for step in steps)
        request = EvaluationRequest(
            f"{budget}/{key}",
            problem.instance(key),
            texts,
            (state.header.seed, *spawn_key("test", 1, 0, number)),
            budget=limit_s if budget == "seconds" else None,
            unit="s" if budget == "seconds" else "work",
            scales=scales if budget == "calibrated" else (),
        )
        replies.append((key, await pool.evaluate(request)))
    gaps = [
        100.0 * normalised_gap(reply.objective, state.reference(key), state.header.sense)
        for key, reply in replies
        if reply.objective is not None
    ]
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
