"""What 20 generations add to the safe baseline: both on held-out instances, over seeds, as a Markdown table.

    python benchmarks/evolved.py                              # all domains, 3 seeds, 1 s per instance
    python benchmarks/evolved.py jsp mis --seeds 1 --data DIR
    python benchmarks/evolved.py --work 1 --jobs 2            # in work units worth about a second each

A run starts from the whole operator library with the built-in offline proposer, and ends with its one
held-out test: the checkpoint that validation chose, beside the domain's safe baseline, same instances and
same budget. Budgets in seconds want idle cores; with ``--work``, a multiple of the units below, work is
calibrated (docs/explanation/method.md) and load matters little, and the test is repeated in the seconds that
the work stands for. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from evolving import evolved_outcome

from dga2d.domains.core.registry import domain_names

WORK_OF_A_SECOND = {
    "binpack3d": 15_000,
    "clp3d": 5_000,
    "cvrp": 250_000,
    "fjsp": 220_000,
    "fssp": 200_000,
    "jsp": 300_000,
    "maxcut": 150_000,
    "mis": 3_000_000,
    "ossp": 400_000,
    "rcpsp": 650_000,
    "salbp1": 2_800,
    "tsp": 25_000,
}
"""Work units that the safe baseline does in about a second of processor time (median of six instances)."""


class HeldOut(NamedTuple):
    """Mean gaps of one run's test in percent; ``None`` where an evaluation failed."""

    evolved: float | None
    baseline: float | None
    points_in_seconds: float | None
    """Gap of the baseline less that of the evolved program in equal seconds, percentage points; 0 where the
    baseline was kept, ``None`` where the budget was in seconds anyway."""


def held_out(domain: str, seed: int, options: argparse.Namespace, folder: Path) -> HeldOut:
    """Evolve a solver and test it."""
    name = f"{domain}-{seed}"
    flags = [f"--generations={options.generations}", f"--seed={seed}", f"--evaluators={options.evaluators}"]
    if options.work is None:
        flags.append(f"--time-limit={options.time_limit}")
    else:
        flags.append(f"--work={round(options.work * WORK_OF_A_SECOND[domain])}")
    flags += [f"--validation-instances={options.validation}", f"--test-instances={options.test}", "--test"]
    flags += [f"--validation-interval={options.validation_interval}", f"--batch-size={options.batch}"]
    flags.append(f"--checkpoint-margin={options.margin}")
    if options.data:
        flags.append(f"--data={options.data.resolve()}")
    summary = evolved_outcome(name, domain, flags, folder)
    gaps, timed = summary["test"]["gap_percent"], summary["verdict"]["in_seconds"]
    points = None if options.work is None else 0.0 if timed is None else timed["points"]
    found = HeldOut(gaps["evolved"], gaps["baseline"], points)
    walk = " → ".join(step["operator"] for step in summary["checkpoint"]["pipeline"])
    print(
        f"{name}: evolved {found.evolved} %, baseline {found.baseline} %: {walk}", file=sys.stderr, flush=True
    )
    return found


def compare(domain: str, options: argparse.Namespace, folder: Path) -> None:
    """Print one row of the table."""
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(held_out, domain, seed, options, folder) for seed in range(1, options.seeds + 1)]
        found = [job.result() for job in jobs]
    pairs = [(run.evolved, run.baseline) for run in found]
    timed = [run.points_in_seconds for run in found if run.points_in_seconds is not None]
    seconds = f"**{-fmean(timed):+.3f}**" if timed else "–"
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    failed = len(pairs) - len(whole)
    if whole:
        evolved, baseline = (fmean(column) for column in zip(*whole, strict=True))
        no_worse = sum(a <= b for a, b in whole)
        cells = f"{baseline:.3f} | {evolved:.3f} | **{evolved - baseline:+.3f}** | {no_worse} of {len(pairs)}"
    else:
        cells = "– | – | – | 0"
    print(f"| {domain} | {cells} | {seconds} | {failed} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", default=domain_names(), metavar="DOMAIN")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=1.0, help="seconds per instance")
    parser.add_argument("--work", type=float, help="work units instead, worth so many seconds")
    parser.add_argument("--batch", type=int, default=3, help="training instances")
    parser.add_argument("--validation", type=int, default=10, help="validation instances")
    parser.add_argument("--validation-interval", type=int, default=10, help="generations between validations")
    parser.add_argument("--margin", type=float, default=2.0, help="setting checkpoint_margin")
    parser.add_argument("--test", type=int, default=12, help="held-out instances")
    parser.add_argument("--data", type=Path, help="published instances instead of generated ones")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--evaluators", type=int, default=2, help="evaluators of a run")
    options = parser.parse_args()
    budget = f"{options.time_limit:g} s" if options.work is None else f"work worth about {options.work:g} s"
    print(f"{options.generations} generations, {budget} per instance, {options.test} held-out instances\n")
    print("| domain | baseline, % | evolved, % | difference | no worse | in equal seconds | failed |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for domain in options.domains:
            compare(domain, options, Path(folder))


if __name__ == "__main__":
    main()
