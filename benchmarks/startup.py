"""Wall-clock of ``dga2d solve --time-limit 1`` on the smallest and the largest instances of each problem.

    dga2d doctor --warm && python benchmarks/startup.py             # all problems that take a time limit
    python benchmarks/startup.py cvrp mis --data DIR --time-limit 0.01

Each row is one process from its start to its exit, with what it used of the processors; the goal is a wall
of the limit and one second on an idle machine, a solution whatever the limit, and nothing compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dga2d.domains.core.contract import own_score_of
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.runtime.runs.problem import Problem


class Solved(NamedTuple):
    """One process."""

    wall_s: float
    cpu_s: float
    """Of all its processes."""
    operators_s: float | None
    """What the operators took by the program's own clock; ``None`` without a solution."""
    compiled: bool
    """Whether it said that it compiled something first."""
    failure: str
    """What stood between it and the algorithm's own solution; empty if nothing did."""


def ends_of(domain: str, data: Path | None) -> list[str]:
    """Keys of the smallest and the largest instance, by the numbers in their environments."""
    problem = Problem.open(domain, data)
    keys = sorted((ref.key for part in problem.splits for ref in part), key=problem.size)
    return sorted({keys[0], keys[-1]}, key=problem.size)


def solve(domain: str, key: str, options: argparse.Namespace) -> Solved:
    """Run ``dga2d solve`` as a user would."""
    where = [] if options.data is None else ["--data", str(options.data)]
    limit = ["--time-limit", str(options.time_limit)]
    command = [sys.executable, "-m", "dga2d", "solve", domain, key, *limit, *where, "--json"]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s, after = time.perf_counter() - start, os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    if done.returncode:
        return Solved(wall_s, cpu_s, None, "compiling" in done.stderr, done.stderr.strip()[-200:])
    answer = json.loads(done.stdout)
    failure = answer.get("fallback") or ""
    return Solved(wall_s, cpu_s, answer["elapsed_s"], "compiling" in done.stderr, failure)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", metavar="DOMAIN")
    parser.add_argument("--data", type=Path, help="folder of published instances; default: generated ones")
    parser.add_argument("--time-limit", type=float, default=1.0)
    options = parser.parse_args(arguments)
    names = options.domains or [name for name in domain_names() if own_score_of(get_domain(name)) is None]
    print(f"`dga2d solve --time-limit {options.time_limit:g}`; load {os.getloadavg()[0]:.1f} at the start\n")
    print("| instance | wall s | processor s | operators s | compiled | failure |")
    print("|---|--:|--:|--:|---|---|", flush=True)
    is_whole = True
    for domain in names:
        for key in ends_of(domain, options.data):
            row = solve(domain, key, options)
            shown = "–" if row.operators_s is None else f"{row.operators_s:.2f}"
            is_whole = is_whole and row.operators_s is not None
            print(
                f"| {domain} {key} | {row.wall_s:.2f} | {row.cpu_s:.2f} | {shown} "
                f"| {'yes' if row.compiled else 'no'} | {row.failure} |",
                flush=True,
            )
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
