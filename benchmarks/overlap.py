"""How much of a slow model's time a lag hides, and what stale answers cost, as Markdown tables.

    python benchmarks/overlap.py --answer 2 --evaluation 0.5 --generations 40 --lags 1 2 4 8
    python benchmarks/overlap.py --quality --seeds 20 --rows rows.jsonl

The first runs the real agents and the real gateway against an endpoint on the loopback interface that takes
its time over each answer; evaluations sleep, so that a busy machine counts for little. Beside each lag stand,
measured in the same process, the same run with answers that come at once (evaluation and agents alone) and
the run that waits (lag 0). A key is wanted, any text in DGA2D_LLM_KEY. The second runs the agents on made-up
problems with planted losses (`races.py`), where asking goes on for equally many generations with every lag;
`--rows` keeps each run's figures in a file and makes no run again that is there, so it can be stopped, and
split by `--first-seed`; one file is of one version of the program. A lag is better or worse than waiting if
the interval of its differences from lag 0, seed by seed, leaves out 0. `--sample-ahead 1 --lags` measures
what drawing candidates ahead costs.
Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import races
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import Fails, HashEvaluator
from tests.agents.simulation import SMALL, Simulation
from tests.fakes.behaviours import answer
from tests.fakes.endpoint import Asked, Behaviour, Exchange, Server, serving
from tests.fakes.obliging import useful

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.gateway.opening import open_models
from dga2d.runtime.gateway.retries import OutageRecorder

PIPELINES, BATCH, WORKERS = 4, 3, 2


class SleepingEvaluator(HashEvaluator):
    """Takes its share of a generation's evaluation time for each evaluation, on so many workers."""

    seconds = 0.0
    """Of the training evaluations of a generation."""

    def __init__(self, order: random.Random, fails: Fails) -> None:
        super().__init__(order, fails)
        self._workers = anyio.CapacityLimiter(WORKERS)

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        """Sleep, then answer."""
        if request.key.startswith("evaluation/"):
            async with self._workers:
                await anyio.sleep(self.seconds * WORKERS / (PIPELINES * BATCH))
        return await super().evaluate(request)


class Timed(NamedTuple):
    """A run and what it took."""

    wall_s: float
    calls: int
    state: RunState


class Pair(NamedTuple):
    """The run that waits for its answers."""

    late: Timed
    alone_s: float
    """Seconds that it takes where they come at once."""


def after(seconds: float) -> Behaviour:
    """Return an endpoint that answers usefully, but late."""

    def late(exchange: Exchange, asked: Asked) -> None:
        time.sleep(seconds)
        answer(exchange, asked, useful(asked.prompt, asked.number))

    return late


async def timed(server: Server, behaviour: str, options: argparse.Namespace, lag: int) -> Timed:
    """Run once against an endpoint."""
    settings = RunSettings.model_validate(
        {
            **SMALL.model_dump(),
            "generations": options.generations,
            "pipelines": PIPELINES,
            "batch_size": BATCH,
            "pool_limit": 10,
            "validation_interval": 0,
            "llm": "openai:fake",
            "llm_base_url": server.url(behaviour),
            "llm_concurrent": options.concurrent,
            "llm_calls": 1000,
            "edit_lag": lag,
        }
    )
    log = MemoryLog(settings.llm_calls)
    async with open_models(settings, "", OutageRecorder()) as model:
        began = time.perf_counter()
        await Simulation(settings, model=model, evaluator=SleepingEvaluator).process(log, log)
        wall_s = time.perf_counter() - began
    state = fold_all(log.events)
    print(f"{behaviour}, lag {lag}: {wall_s:.1f} s, {state.ledger.used} calls", file=sys.stderr, flush=True)
    return Timed(wall_s, state.ledger.used, state)


def times(options: argparse.Namespace) -> None:
    """Print what each lag hides."""
    SleepingEvaluator.seconds = options.evaluation
    with serving({"late": after(options.answer), "soon": after(0.0)}) as server:
        late = anyio.run(timed, server, "late", options, 0)
        waiting = Pair(late, anyio.run(timed, server, "soon", options, 0).wall_s)
        print(
            f"Answers after {options.answer:g} s, {options.concurrent} at a time, "
            f"{options.evaluation:g} s of evaluation in each of {options.generations} generations.\n"
        )
        print("| lag | calls | stale | wall, s | evaluation, s | model ÷ concurrency, s | ratio | hidden |")
        print("|--:|--:|--:|--:|--:|--:|--:|--:|")
        print(row(options, 0, *waiting, waiting))
        for lag in options.lags:
            run = anyio.run(timed, server, "late", options, lag)
            alone = anyio.run(timed, server, "soon", options, lag)
            print(row(options, lag, run, alone.wall_s, waiting), flush=True)


def row(options: argparse.Namespace, lag: int, run: Timed, alone_s: float, waiting: Pair) -> str:
    """Return a line of the table.

    The ratio is to the larger of evaluation and model time. What could be hidden lies between that and the
    time of a run that waits for as many calls.
    """
    model_s = run.calls * options.answer / options.concurrent
    bound = max(alone_s, model_s)
    verdicts = [call.diagnostic or "" for call in run.state.ledger.calls.values()]
    stale = sum(diagnostic.startswith("stale:") for diagnostic in verdicts)
    waited_s = alone_s + (waiting.late.wall_s - waiting.alone_s) * run.calls / waiting.late.calls
    hidden = (waited_s - run.wall_s) / (waited_s - bound) if waited_s > bound else 0.0
    return (
        f"| {lag} | {run.calls} | {stale} | {run.wall_s:.1f} | {alone_s:.1f} | {model_s:.1f} | "
        f"{run.wall_s / bound:.2f} | {100 * hidden:.0f} % |"
    )


def quality(options: argparse.Namespace) -> None:
    """Print what runs with each lag come to when they ask for equally many generations."""
    print(
        "| lag | seeds | evaluations | loss gone, %: champion (95 %) | more than lag 0 | checkpoint | more |"
    )
    print("|--:|--:|--:|---|---|---|---|")
    waiting: tuple[list[float], list[float]] | None = None
    for lag in (0, *options.lags):
        rules: dict[str, Any] = {"edit_lag": lag, "race_contenders": 0 if options.no_races else 12}
        if options.sample_ahead:
            rules["sample_ahead"] = options.sample_ahead
        rows: list[tuple[float, float, int]] = []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            rows.append(kept_row(options.rows, rules, seed, options.generations + lag))
            print(f"lag {lag}, seed {seed}: {rows[-1]}", file=sys.stderr, flush=True)
        champions, kept, counts = (list[float](column) for column in zip(*rows, strict=True))
        waiting = waiting or (champions, kept)
        told = [text for pair in zip((champions, kept), waiting, strict=True) for text in compared(*pair)]
        print(f"| {lag} | {options.seeds} | {fmean(counts):.0f} | {' | '.join(told)} |", flush=True)


def compared(late: Sequence[float], waiting: Sequence[float]) -> tuple[str, str]:
    """Return the mean and the mean difference to the runs of the same seeds that wait, with intervals."""
    if late is waiting:
        return races.interval(late), ""
    return races.interval(late), races.interval([a - b for a, b in zip(late, waiting, strict=True)])


def kept_row(
    path: Path | None, rules: dict[str, Any], seed: int, generations: int
) -> tuple[float, float, int]:
    """Return the figures of a run (`races.evolve`), from the file if they are there, else made and kept."""
    name = {**rules, "seed": seed, "generations": generations}
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            known = json.loads(line)
            if known["run"] == name:
                champion, kept, count = known["row"]
                return champion, kept, count
    row = races.evolve(rules, seed, generations)
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"run": name, "row": row}) + "\n")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--answer", type=float, default=2.0, help="seconds until an answer")
    parser.add_argument("--evaluation", type=float, default=0.5, help="seconds of evaluation in a generation")
    parser.add_argument("--generations", type=int, default=None, help="40; with --quality 8")
    parser.add_argument("--concurrent", type=int, default=4, help="requests at a time")
    parser.add_argument("--lags", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--quality", action="store_true", help="what staleness costs, instead of times")
    parser.add_argument("--no-races", action="store_true", help="with --quality: no races beside the edits")
    parser.add_argument("--sample-ahead", type=int, default=0, help="with --quality: that setting")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=Path, metavar="FILE", help="with --quality: keep each run's figures")
    options = parser.parse_args()
    options.generations = options.generations or (8 if options.quality else 40)
    quality(options) if options.quality else times(options)


if __name__ == "__main__":
    main()
