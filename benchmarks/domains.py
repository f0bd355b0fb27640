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
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import anyio
from families import FAMILIES, family_called, instances_of
from gap_tables import Measured, MeasuredFamily, families_table, in_words, table
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
from dga2d.runtime.learned.names import Weights
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
        threads = settings.model_copy(update={"evaluators": options.cores})
        return "OR-Tools", await measure_or_tools(problem, refs, threads, options.seed)
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
    """One instance after the other, with `settings.evaluators` search threads."""
    results = []
    for ref in refs:
        instance = await anyio.to_thread.run_sync(problem.instance, ref.key)
        try:
            solved = await solve_by_or_tools(problem.domain, instance, settings, seed)
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
    learned = Weights(options.weights, options.device)
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


def run_families(options: argparse.Namespace) -> list[Measured]:
    """Measure the families that were asked for and print their table; return what `--method` did."""
    rows: list[MeasuredFamily] = []
    for family in [family_called(name) for name in options.families] or FAMILIES:
        problem = instances_of(family, options.data, options.instances)
        if not problem.splits.test:
            print(f"{family.name}: no instance among those given", file=sys.stderr)
        results = measure_family(problem, options)
        rivals = [argparse.Namespace(**{**vars(options), "method": method}) for method in options.beside]
        rows.append(MeasuredFamily(family, results, [measure_family(problem, rival) for rival in rivals]))
    print()
    print("\n".join(families_table(rows, options.beside)), flush=True)
    return [result for row in rows for result in row.results]


def measure_family(problem: Problem, options: argparse.Namespace) -> list[Measured]:
    """Run one method on each instance of a family; nothing where the method is for another domain."""
    peer = PEERS.get(options.method)
    if not problem.splits.test or (peer is not None and peer[0] != problem.domain.name):
        return []
    _, results = anyio.run(functools.partial(measure, problem, problem.splits.test, options))
    return results


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
    parser.add_argument(
        "--cores", type=int, default=1, metavar="N", help="search threads of cp-sat (default 1)"
    )
    parser.add_argument(
        "--beside",
        nargs="+",
        default=[],
        choices=methods,
        metavar="METHOD",
        help="with --families: mean gaps of these, too, on the same instances: cp-sat, pyvrp, …",
    )
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
