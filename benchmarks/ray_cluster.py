"""What evaluating on a Ray cluster costs and gains, as Markdown tables.

    python benchmarks/ray_cluster.py                  # some minutes on an idle machine with two cores or more
    python benchmarks/ray_cluster.py --only overhead

Nodes are those of a cluster on this machine (Ray's own test cluster), each with one processor. Overhead:
the same short evaluations, one after the other, by the local pool and by one node, in turns; the difference
per evaluation is what request, transport and answer take. Gain: as many evaluations as `--evaluations` of
`--work` units, all asked for at once, on one node and on two. Every pool has compiled and run the program
before the clock starts. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from statistics import median, quantiles
from typing import Any, NamedTuple

import anyio

from dga2d.agents.ports import EvaluationRequest, Evaluator
from dga2d.domains.core.registry import get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.cluster.pool import ClusterPool
from dga2d.runtime.evaluator import open_run_evaluator
from dga2d.runtime.runs.problem import Problem

DOMAIN = "tsp"
ROUNDS = 5
"""Turns of the two pools; the overhead is the median of all."""


@contextmanager
def cluster(n_nodes: int) -> Iterator[str]:
    """Start a head that evaluates nothing and `n_nodes` with a processor each; yield the setting."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    from ray.cluster_utils import Cluster

    folder = os.environ["RAY_TMPDIR"] = tempfile.mkdtemp(prefix="ray-")
    small: dict[str, Any] = {"object_store_memory": 80 << 20}
    head = {"num_cpus": 0, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={**head, **small})
    try:
        for _ in range(n_nodes):
            made.add_node(num_cpus=1, **small)
        yield f"ray:{made.address}"
    finally:
        made.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def warm_pool(evaluators: int | str, n_nodes: int, work: int) -> AsyncIterator[Evaluator]:
    """Open a pool whose nodes have all joined and compiled the program."""
    settings = RunSettings(evaluators=evaluators, work=work)
    async with open_run_evaluator(DOMAIN, settings) as pool:
        while isinstance(pool, ClusterPool) and pool.workers < n_nodes:
            await anyio.sleep(0.1)
        await asked_at_once(pool, 4 * n_nodes, 100)
        yield pool


def request(number: int, work: int) -> EvaluationRequest:
    """Return an evaluation of the basic baseline on the first training instance."""
    problem = Problem.open(DOMAIN, None)
    steps = tuple(step.implementation for step in get_domain(DOMAIN).basic_baseline())
    instance = problem.instance(problem.splits.train[0].key)
    return EvaluationRequest(f"evaluation/{number}", instance, steps, (number,), budget=work)


async def asked_at_once(pool: Evaluator, count: int, work: int) -> float:
    """Return the seconds of `count` evaluations."""
    requests = [request(number, work) for number in range(count)]

    async def ask(one: EvaluationRequest) -> None:
        reply = await pool.evaluate(one)
        assert reply.failure is None, reply

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for one in requests:
            group.start_soon(ask, one)
    return time.perf_counter() - began


class Alone(NamedTuple):
    """A short evaluation that nothing else was asked for beside."""

    wall_s: float
    cpu_s: float
    """Of this process, Ray's threads in it included."""


async def each_alone(pool: Evaluator, count: int) -> list[Alone]:
    """Return what `count` short evaluations took, asked for one after the other."""
    found = []
    for one in [request(number, 100) for number in range(count)]:
        began, busy = time.perf_counter(), time.process_time()
        await pool.evaluate(one)
        found.append(Alone(time.perf_counter() - began, time.process_time() - busy))
    return found


async def overhead(options: argparse.Namespace) -> None:
    """Print what an evaluation takes here and on a node."""
    local: list[Alone] = []
    remote: list[Alone] = []
    with cluster(1) as address:
        async with warm_pool(1, 1, 100) as here, warm_pool(address, 1, 100) as there:
            for turn in range(ROUNDS):
                local += await each_alone(here, options.evaluations)
                remote += await each_alone(there, options.evaluations)
                print(f"overhead, turn {turn + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    print("| short evaluations | | local pool, ms | a node, ms | overhead, ms | goal |")
    print("|--:|---|--:|--:|--:|--:|")
    told = {"until it is verified": "wall_s", "of that, processor of the run's process": "cpu_s"}
    for (name, field), goal in zip(told.items(), ("≤ 15", ""), strict=True):
        at_home, away = ([getattr(one, field) for one in many] for many in (local, remote))
        over = 1e3 * (median(away) - median(at_home))
        print(f"| {len(local)} | {name} | {spread(at_home)} | {spread(away)} | {over:.1f} | {goal} |")
    print()


def spread(times: list[float]) -> str:
    """Return median and ninth decile in milliseconds."""
    return f"{1e3 * median(times):.1f} (90 %: {1e3 * quantiles(times, n=10)[-1]:.1f})"


async def gain(options: argparse.Namespace) -> None:
    """Print what a second node gains."""
    seconds: dict[int, float] = {}
    for n_nodes in (1, 2):
        with cluster(n_nodes) as address:
            async with warm_pool(address, n_nodes, options.work) as pool:
                seconds[n_nodes] = await asked_at_once(pool, options.evaluations, options.work)
        print(f"{n_nodes} nodes: {seconds[n_nodes]:.1f} s", file=sys.stderr, flush=True)
    print("| nodes of one core | seconds | evaluations per second | times one node | goal |")
    print("|--:|--:|--:|--:|--:|")
    for n_nodes, goal in ((1, ""), (2, "≥ 1.8")):
        rate = options.evaluations / seconds[n_nodes]
        gained = seconds[1] / seconds[n_nodes]
        print(f"| {n_nodes} | {seconds[n_nodes]:.1f} | {rate:.2f} | {gained:.2f} | {goal} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=("overhead", "gain"), default=None)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--work", type=int, default=60_000, help="of an evaluation whose gain is measured")
    options = parser.parse_args()
    if options.only != "gain":
        anyio.run(overhead, options)
    if options.only != "overhead":
        anyio.run(gain, options)


if __name__ == "__main__":
    main()
