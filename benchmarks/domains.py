"""Gaps of an algorithm on the held-out instances of the problem domains, as Markdown tables.

    python benchmarks/domains.py                                    # safe baselines, generated instances
    python benchmarks/domains.py tsp jsp --data DIR --workers 1     # published instances, undisturbed
    python benchmarks/domains.py mis --data DIR --suite paper       # exactly those of the paper
    python benchmarks/domains.py tsp --method basic --time-limit 1 --instances 3
    python benchmarks/domains.py tsp --run tsp-k3v9q2 --store sqlite+aiosqlite:///dga2d.db
    python benchmarks/domains.py tsp --method pomo --weights examples/learned/pomo.safetensors
    python benchmarks/domains.py cvrp --method pyvrp --data DIR     # what a user would pick instead
    python benchmarks/domains.py --families --data DIR --data DIR2  # the weak families, one row each
    python benchmarks/domains.py --families rcpsp-scarce mis-model-rb --workers 1

Every solution comes from the contained evaluator pool and is verified and scored by the parent, as in a run.
A failed evaluation is counted and has no gap. Give it idle cores: a budget in seconds buys less on busy ones.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import anyio
from families import FAMILIES, Family, family_called, instances_of
from peers import PEERS, peer_of

from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.domains.core.contract import InstanceRef, normalised_gap
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.registry import domain_names
from dga2d.events import Dga2dError
from dga2d.replay.settings import RunSettings
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import UsageError
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.learned.names import DOMAINS as LEARNED
from dga2d.runtime.learned.names import Learned
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.solving import (
    Algorithm,
    SolveFailedError,
    baseline_steps,
    best_of_run,
    open_learned,
    solve_by_network,
    solve_by_or_tools,
)
from dga2d.store import DEFAULT_URL


class Published(NamedTuple):
    """Mean gaps in percent that the DGA2D paper reports for a domain, at 90 s per instance."""

    dga2d: float
    """DGA2D with the better of its two language models."""
    best_peer: float
    """The best of EoH, MCTS-AHD, MEoH and ReEvo with either model."""
    or_tools: float | None = None
    ils: float | None = None


PAPER = {
    "binpack3d": Published(0.60, 6.89),
    "clp3d": Published(0.51, 0.71, 6.10, 5.51),
    "cvrp": Published(5.86, 6.75),
    "fjsp": Published(6.54, 21.60, 8.82, 11.31),
    "fssp": Published(4.25, 6.80),
    "jsp": Published(2.34, 8.64),
    "maxcut": Published(1.47, 4.84),
    "mis": Published(6.61, 15.16, 7.45, 8.41),
    "ossp": Published(0.16, 0.19),
    "rcpsp": Published(0.03, 3.38),
    "salbp1": Published(2.21, 8.12),
    "tsp": Published(4.70, 18.20, 0.76, 0.48),
}
"""The DGA2D paper's main results table and its table of the other eight domains; on its own test splits."""


@dataclass(frozen=True)
class Measured:
    """One evaluation."""

    domain: str
    group: str
    name: str
    gap_percent: float | None
    """``None`` when the algorithm failed."""
    failure: str | None
    elapsed_s: float


def chosen(refs: Sequence[InstanceRef], limit: int | None) -> list[InstanceRef]:
    """The first `limit` instances of each group; all of them without a limit."""
    groups: dict[str, list[InstanceRef]] = {}
    for ref in refs:
        groups.setdefault(ref.group, []).append(ref)
    return [ref for group in sorted(groups) for ref in groups[group][:limit]]


async def algorithm_of(problem: Problem, options: argparse.Namespace) -> Algorithm:
    """The pipeline to run."""
    if options.run is not None:
        return await best_of_run(options.store, options.run, problem.domain.name)
    return baseline_steps(problem.domain, options.method)


async def measure_domain(domain_name: str, options: argparse.Namespace) -> tuple[str, list[Measured]]:
    """Run the algorithm once on each chosen test instance of a domain."""
    folder = options.data[0] if options.data else None
    problem = Problem.open(domain_name, folder, suite=options.suite)
    refs = chosen(problem.splits.test, options.instances)
    if not refs:
        raise UsageError(f"{domain_name} has too few instances for a test split")
    return await measure(problem, refs, options)


async def measure(
    problem: Problem, refs: Sequence[InstanceRef], options: argparse.Namespace
) -> tuple[str, list[Measured]]:
    """Run the algorithm once on each of `refs`."""
    domain_name = problem.domain.name
    settings = RunSettings(
        time_limit=options.time_limit, work=options.work, evaluators=options.workers, sandbox=options.sandbox
    )
    if options.run is None and options.method == "cp-sat":
        return "OR-Tools", await measure_or_tools(problem, refs, settings, options.seed)
    if options.run is None and options.method in PEERS:
        return options.method, await measure_peer(problem, refs, options)
    if options.run is None and options.method in LEARNED:
        return await measure_learned(problem, refs, settings, options)
    algorithm = await algorithm_of(problem, options)
    measured: dict[str, Measured] = {}

    async def one(evaluator: Evaluator, ref: InstanceRef) -> None:
        seed = (options.seed, *spawn_key("test", 0, 0, problem.index(ref.key)))
        instance = await anyio.to_thread.run_sync(problem.instance, ref.key)
        request = EvaluationRequest(ref.key, instance, algorithm.steps, seed, shares=algorithm.shares)
        reply = await evaluator.evaluate(request)
        measured[ref.key] = result = verdict(problem, ref, reply)
        print(f"{domain_name} {ref.key}: {in_words(result)}", file=sys.stderr, flush=True)

    async with open_evaluator(domain_name, settings) as evaluator, anyio.create_task_group() as group:
        for ref in refs:
            group.start_soon(one, evaluator, ref)
    return algorithm.name, [measured[ref.key] for ref in refs]


async def measure_or_tools(
    problem: Problem, refs: Sequence[InstanceRef], settings: RunSettings, seed: int
) -> list[Measured]:
    """One instance after the other, with one search worker."""
    results = []
    for ref in refs:
        instance = await anyio.to_thread.run_sync(problem.instance, ref.key)
        alone = settings.model_copy(update={"evaluators": 1})
        try:
            solved = await solve_by_or_tools(problem.domain, instance, alone, seed)
            gap = None if solved.gap is None else 100.0 * solved.gap
            result = Measured(problem.domain.name, ref.group, ref.name, gap, None, solved.elapsed_s)
        except SolveFailedError as error:
            result = Measured(problem.domain.name, ref.group, ref.name, None, str(error), settings.time_limit)
        print(f"{problem.domain.name} {ref.key}: {in_words(result)}", file=sys.stderr, flush=True)
        results.append(result)
    return results


async def measure_learned(
    problem: Problem, refs: Sequence[InstanceRef], settings: RunSettings, options: argparse.Namespace
) -> tuple[str, list[Measured]]:
    """One instance after the other with a learned solver; the time is that of its inference."""
    learned = Learned(options.weights, options.device)
    solver = await open_learned(problem.domain.name, options.method, settings, learned)
    results = []
    for ref in refs:
        instance = await anyio.to_thread.run_sync(problem.instance, ref.key)
        try:
            solved = await solve_by_network(problem.domain, instance, solver, settings, options.seed)
            gap = gap_percent(problem, ref, solved.objective)
            result = Measured(problem.domain.name, ref.group, ref.name, gap, None, solved.elapsed_s)
        except (SolveFailedError, UsageError) as error:
            result = Measured(problem.domain.name, ref.group, ref.name, None, str(error), 0.0)
        print(f"{problem.domain.name} {ref.key}: {in_words(result)}", file=sys.stderr, flush=True)
        results.append(result)
    return solver.title, results


async def measure_peer(
    problem: Problem, refs: Sequence[InstanceRef], options: argparse.Namespace
) -> list[Measured]:
    """One instance after the other with a solver of another project."""
    solve = peer_of(options.method, problem.domain.name)
    results = []
    for ref in refs:
        instance = problem.instance(ref.key)
        start = time.perf_counter()
        state = await anyio.to_thread.run_sync(solve, instance, options.time_limit, options.seed)
        elapsed_s = time.perf_counter() - start
        verdict = problem.domain.verify(instance, state)
        gap = None if verdict.objective is None else gap_percent(problem, ref, verdict.objective)
        result = Measured(problem.domain.name, ref.group, ref.name, gap, verdict.violation, elapsed_s)
        print(f"{problem.domain.name} {ref.key}: {in_words(result)}", file=sys.stderr, flush=True)
        results.append(result)
    return results


def gap_percent(problem: Problem, ref: InstanceRef, objective: float) -> float:
    """The gap to the reference, which every instance of a split has."""
    assert ref.reference is not None
    return 100.0 * normalised_gap(objective, ref.reference.value, problem.domain.sense)


def verdict(problem: Problem, ref: InstanceRef, reply: EvaluationReply) -> Measured:
    """The gap to the reference, or why there is none."""
    gap = None if reply.objective is None else gap_percent(problem, ref, reply.objective)
    failure = None if reply.failure is None else f"{reply.failure}: {reply.diagnostic}"
    return Measured(problem.domain.name, ref.group, ref.name, gap, failure, reply.elapsed_s)


def in_words(result: Measured) -> str:
    """Gap or failure, and time."""
    gap = result.failure if result.gap_percent is None else f"gap {result.gap_percent:.3f} %"
    return f"{gap}, {result.elapsed_s:.2f} s"


def table(domain: str, results: Sequence[Measured]) -> Iterator[str]:
    """Markdown: one row per benchmark group, and one for all with the paper's figures."""
    yield (
        "| group | instances | mean gap % | worst gap % | failed | longest s "
        "| paper 90 s: DGA2D | best peer | OR-Tools | ILS |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for group in sorted({result.group for result in results}):
        yield row(group, [result for result in results if result.group == group], None)
    yield row("**all**", results, PAPER.get(domain))


def row(title: str, results: Sequence[Measured], paper: Published | None) -> str:
    """A row of the table."""
    gaps = [result.gap_percent for result in results if result.gap_percent is not None]
    worst = max(results, key=lambda r: -1e9 if r.gap_percent is None else r.gap_percent)
    cells = [
        title,
        str(len(results)),
        f"{statistics.fmean(gaps):.3f}" if gaps else "–",
        f"{worst.gap_percent:.3f} ({worst.name})" if gaps else "–",
        str(len(results) - len(gaps)),
        f"{max(result.elapsed_s for result in results):.2f}",
        *("" if paper is None or value is None else f"{value:.2f}" for value in paper or (None,) * 4),
    ]
    return f"| {' | '.join(cells)} |"


def families_table(measured: Sequence[tuple[Family, Sequence[Measured]]]) -> Iterator[str]:
    """Markdown: one row per family, with the mean gap when the round began and the goal, its half."""
    yield "| domain | family | n | mean gap % | worst gap % | failed | longest s | at first % | goal % |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for family, results in measured:
        known = f"{family.start_percent:.2f} | {family.start_percent / 2:.2f} |"
        if results:
            cells = row(family.title, results, None).removesuffix("|  |  |  |  |")
            yield f"| {family.domain} {cells}| {known}"
        else:
            yield f"| {family.domain} | {family.title} | 0 | – | – | – | – | {known}"


def run_families(options: argparse.Namespace) -> list[Measured]:
    """Measure the families that were asked for and print their table; return all evaluations."""
    measured: list[tuple[Family, Sequence[Measured]]] = []
    for family in [family_called(name) for name in options.families] or FAMILIES:
        problem = instances_of(family, options.data, options.instances)
        refs = problem.splits.test
        results: list[Measured] = []
        if refs:
            _, results = anyio.run(functools.partial(measure, problem, refs, options))
        else:
            print(f"{family.name}: no instance among those given", file=sys.stderr)
        measured.append((family, results))
    print()
    print("\n".join(families_table(measured)), flush=True)
    return [result for _, results in measured for result in results]


def machine() -> str:
    """What the figures were measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}, {packages}, {time.strftime('%Y-%m-%d')}"
    )


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", metavar="DOMAIN", help="default: all registered domains")
    parser.add_argument(
        "--families",
        nargs="*",
        metavar="FAMILY",
        help=f"families instead of domains: {', '.join(family.name for family in FAMILIES)}; none named: all",
    )
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        default=[],
        help="folder of published instances; default: generated ones; --families takes several",
    )
    parser.add_argument(
        "--suite", choices=["any", "paper"], default="any", help="paper: exactly the paper's instances"
    )
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds per instance (default 10)")
    parser.add_argument("--work", type=int, help="work units per instance instead of seconds")
    methods = ["safe", "basic", "ils", "cp-sat", *LEARNED, *PEERS]
    parser.add_argument(
        "--method", choices=methods, default="safe", help="pyvrp, lkh: see benchmarks/peers.py"
    )
    parser.add_argument("--weights", type=Path, help="of a learned solver: pomo, resched, sdds, bpp-drl")
    parser.add_argument("--device", default="cpu", help="of a learned solver (default cpu)")
    parser.add_argument("--run", help="measure the best algorithm of this run instead of a baseline")
    parser.add_argument("--store", default=DEFAULT_URL, metavar="URL", help="database that holds the run")
    parser.add_argument("--instances", type=int, metavar="N", help="only the first N of each group")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="evaluations at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sandbox", choices=["strict", "best-effort", "off"], default="best-effort")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every evaluation there too")
    options = parser.parse_args(arguments)
    options.domains = options.domains or list(domain_names())
    if options.run is not None and len(options.domains) != 1:
        parser.error("--run measures one domain: name it")
    if options.families is None and len(options.data) > 1:
        parser.error("--data: one folder, unless --families is given")
    if options.instances is not None and options.instances < 1:
        parser.error("--instances: expected 1 or more")
    return options


def run_domains(options: argparse.Namespace) -> list[Measured]:
    """Measure the domains and print a table for each; return all evaluations."""
    everything: list[Measured] = []
    for domain in options.domains:
        algorithm, results = anyio.run(functools.partial(measure_domain, domain, options))
        everything += results
        print(f"\n### {domain}: {algorithm}\n")
        print("\n".join(table(domain, results)), flush=True)
    return everything


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    budget = f"{options.time_limit:g} s" if options.work is None else f"{options.work} work units"
    source = "published instances" if options.data else "generated instances"
    what = f"Test split of the {source}" if options.families is None else "Families"
    print(f"{what}, {budget} each, {options.workers} at a time, seed {options.seed}.")
    print(f"Machine: {machine()}.", flush=True)
    try:
        everything = run_domains(options) if options.families is None else run_families(options)
    except (Dga2dError, DomainError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.json is not None:
        rows = [asdict(result) for result in everything]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(result.failure is None for result in everything) else 1


if __name__ == "__main__":
    sys.exit(main())
