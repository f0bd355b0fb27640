"""What limits 10, 100 and 1,000 nodes, simulated with measured constants, as Markdown tables.

    python benchmarks/scale.py
    python benchmarks/scale.py --evaluation 0.5 --cores 32 --parent-ms 1.5 --runs 200

A generation asks for its evaluations at once. Each needs the run's process twice (to be sent, and to be
verified and logged when it is back), a way over the network, and a core of a node in between; the process
serves one at a time, in the order in which they come. Model calls go on beside them, as under `edit_lag`, so
many at a time as the endpoint takes; a generation ends with its evaluations or with its share of the calls,
whichever is later. Durations of evaluations are log-normal. In a study every run has such a process on its
own node, and all runs share one writer of the log and one endpoint.

The defaults are measured: `parent_ms` by `benchmarks/evaluate.py` (parent_cpu_ms) and the driver's part by
`benchmarks/ray_cluster.py`, `append_ms` by `benchmarks/log.py` (32 waiting), `network_ms` by
`benchmarks/ray_cluster.py`. Give those of your machines.
"""

from __future__ import annotations

import argparse
import heapq
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

NODES = (1, 10, 100, 1000)
GENERATIONS = 20
EVENTS_PER_EVALUATION = 1.3
"""Events of a run per evaluation: samples, calls and verdicts come on top of ``EvaluationRecorded``."""
SPREAD = 0.5
"""Standard deviation of the logarithm of an evaluation's duration."""


@dataclass(frozen=True)
class Constants:
    """What was measured, and what is asked for."""

    cores: int
    """Of a node."""
    evaluation_s: float
    """Mean duration of an evaluation."""
    width: int
    """Evaluations of a generation."""
    calls: int
    """Model calls of a generation."""
    answer_s: float
    concurrent: int
    """Model calls at a time, of the endpoint."""
    parent_ms: float
    """Of the run's process for an evaluation: request, transport, verification, log."""
    append_ms: float
    """Of the log's writer for an event, many waiting."""
    network_ms: float
    """Both ways, without anybody's processor."""
    closing_s: float
    """Of a generation in which nothing is evaluated: policy, credits, prompts."""


class Outcome(NamedTuple):
    """A run of some generations."""

    busy: float
    """Share of the cores' time in which they evaluated."""
    per_s: float
    """Evaluations per second."""
    limit: str


def one_run(n_nodes: int, given: Constants) -> Outcome:
    """Return what one run makes of `n_nodes`."""
    rng = np.random.default_rng(0)
    clock = parent_busy = evaluated = models = 0.0
    for _ in range(GENERATIONS):
        durations = rng.lognormal(0.0, SPREAD, given.width)
        durations *= given.evaluation_s / durations.mean()
        ended, served = generation(durations.tolist(), n_nodes * given.cores, given)
        model_s = given.calls * given.answer_s / given.concurrent
        clock += max(ended, model_s) + given.closing_s
        models += model_s
        parent_busy += served
        evaluated += float(durations.sum())
    slots = n_nodes * given.cores
    shares = {
        "cores": evaluated / (slots * clock),
        "verification and log of the run": parent_busy / clock,
        "model calls": models / clock,
    }
    limit = max(shares, key=lambda name: shares[name])
    if shares[limit] < 0.7:
        limit = "width of a generation" if given.width < 4 * slots else "stragglers at the border"
    return Outcome(shares["cores"], given.width * GENERATIONS / clock, limit)


def generation(durations: list[float], slots: int, given: Constants) -> tuple[float, float]:
    """Return when the last evaluation is in the log, and how long the run's process was busy."""
    half, network = given.parent_ms / 2000.0, given.network_ms / 2000.0
    waiting = sorted(durations)  # the longest is taken first
    free_at = [0.0] * min(slots, len(durations))
    back: list[float] = []
    parent = 0.0
    while waiting or back:
        sent = max(parent, free_at[0]) if waiting else math.inf
        read = max(parent, back[0]) if back else math.inf
        if read <= sent:
            heapq.heappop(back)
            parent = read + half
            continue
        heapq.heappop(free_at)
        parent = sent + half
        end = parent + network + waiting.pop()
        heapq.heappush(free_at, end + network)
        heapq.heappush(back, end + network)
    return parent, 2 * half * len(durations)


def study(n_nodes: int, n_runs: int, given: Constants) -> Outcome:
    """Return what a study makes of `n_nodes`, each run with its process and evaluations on one node."""
    at_once = min(n_nodes, n_runs)
    alone = one_run(1, replace(given, calls=0))
    events_per_s = alone.per_s * at_once * EVENTS_PER_EVALUATION
    calls_per_s = alone.per_s / given.width * given.calls * at_once
    demands = {
        "cores": 1.0,
        "log writer": events_per_s * given.append_ms / 1000.0,
        "model calls": calls_per_s * given.answer_s / given.concurrent,
    }
    worst = max(demands, key=lambda name: demands[name])
    slower = max(1.0, demands[worst])
    limit = "number of runs" if slower == 1.0 and n_runs < n_nodes else worst
    busy = alone.busy * at_once / n_nodes / slower
    return Outcome(busy, alone.per_s * at_once / slower, limit)


def table(title: str, rows: list[tuple[int, Outcome]]) -> None:
    """Print outcomes by number of nodes."""
    print(f"{title}\n")
    print("| nodes | cores busy | evaluations per second | limit |")
    print("|--:|--:|--:|---|")
    for n_nodes, found in rows:
        print(f"| {n_nodes:,} | {100 * found.busy:.0f} % | {found.per_s:,.1f} | {found.limit} |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cores", type=int, default=8, help="of a node")
    parser.add_argument("--evaluation", type=float, default=5.0, help="seconds of an evaluation")
    parser.add_argument(
        "--width", type=int, nargs="+", default=[12, 120, 1200], help="evaluations of a generation"
    )
    parser.add_argument("--calls", type=int, default=4, help="model calls of a generation")
    parser.add_argument("--answer", type=float, default=20.0, help="seconds of an answer")
    parser.add_argument("--concurrent", type=int, default=4, help="model calls at a time")
    parser.add_argument("--parent-ms", type=float, default=5.2)
    parser.add_argument("--append-ms", type=float, default=0.05)
    parser.add_argument("--network-ms", type=float, default=3.0)
    parser.add_argument("--closing", type=float, default=1.0, help="seconds without evaluations")
    parser.add_argument("--runs", type=int, default=200, help="of a study")
    options = parser.parse_args()
    given = Constants(
        options.cores,
        options.evaluation,
        options.width[0],
        options.calls,
        options.answer,
        options.concurrent,
        options.parent_ms,
        options.append_ms,
        options.network_ms,
        options.closing,
    )
    for width in options.width:
        wide = replace(given, width=width)
        rows = [(n_nodes, one_run(n_nodes, wide)) for n_nodes in NODES]
        table(f"One run, {width:,} evaluations of {options.evaluation:g} s in a generation:", rows)
    for concurrent in (options.concurrent, 64 * options.concurrent):
        many = replace(given, width=max(options.width[0], 48), concurrent=concurrent)
        rows = [(n_nodes, study(n_nodes, options.runs, many)) for n_nodes in NODES]
        table(f"A study of {options.runs:,} runs, one to a node, {concurrent} model calls at a time:", rows)


if __name__ == "__main__":
    main()
