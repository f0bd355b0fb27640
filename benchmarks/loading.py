"""Processor time of an evaluation that has next to nothing to do: the price of its isolation and its code.

    python benchmarks/loading.py                                  # all domains, now
    python benchmarks/loading.py jsp cvrp --before OLD/.venv/bin/python

The safe baseline of each library runs on the domain's smoke instance with a budget of one work unit for each
position, which leaves what every evaluation pays: fork, seal, imports, and loading the machine code of its
positions. It was compiled before. With ``--before`` an older version does the same in turn, so that both see
the same machine. Times are means in ms of processor time; the table is Markdown, progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import anyio
from evaluate import Processor

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.runtime.evaluation.pool import EvaluatorPool

TURNS = 3
"""Times that either version is measured, one after the other."""


async def candidates_ms(name: str, repeats: int, cache: Path) -> float:
    """Return the processor time of the children of one evaluation, in ms."""
    domain = get_domain(name)
    program = tuple(step.implementation for step in domain.safe_baseline())

    def request(number: int) -> EvaluationRequest:
        return EvaluationRequest(str(number), domain.smoke_instance(), program, (number,), len(program))

    async with EvaluatorPool(name, 1, cache_dir=cache) as pool:
        for number in range(3):
            reply = await pool.evaluate(request(number))
            assert reply.failure is None, reply.diagnostic
        await anyio.sleep(0.5)
        before = Processor.now()
        for number in range(repeats):
            await pool.evaluate(request(number))
        await anyio.sleep(0.5)  # until the last child has been buried
        return 1000.0 * (Processor.now() - before).candidates / repeats


def measured(python: str, domain: str, repeats: int, cache: Path) -> float:
    """Return what a version, named by its `python`, needs; in a process of its own."""
    words = [python, __file__, domain, "--repeats", str(repeats), "--one", str(cache)]
    environment = os.environ if python == sys.executable else {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout))


def rows(pythons: Sequence[str], domains: Sequence[str], repeats: int) -> None:
    """Print a row for each domain."""
    is_compared = len(pythons) > 1
    print("| domain | positions |", "before, ms | now, ms | ratio |" if is_compared else "ms |")
    print("|---|" + "--:|" * (4 if is_compared else 2))
    with tempfile.TemporaryDirectory() as folder:
        for domain in domains:
            times: dict[str, list[float]] = {python: [] for python in pythons}
            for turn in range(TURNS):
                for number, python in enumerate(pythons):
                    times[python].append(measured(python, domain, repeats, Path(folder) / str(number)))
                print(f"{domain}, turn {turn + 1}", file=sys.stderr, flush=True)
            means = [fmean(found) for found in times.values()]
            positions = len(get_domain(domain).safe_baseline())
            cells = [f"{mean:.1f}" for mean in means]
            cells += [f"{means[1] / means[0]:.2f}"] if is_compared else []
            print(f"| {domain} | {positions} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", default=list(domain_names()), metavar="DOMAIN")
    parser.add_argument("--before", metavar="PYTHON", help="of an older version")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        found = anyio.run(candidates_ms, options.domains[0], options.repeats, options.one)
        print(json.dumps(found))
        return
    before = [options.before] if options.before else []
    rows([*before, sys.executable], options.domains, options.repeats)


if __name__ == "__main__":
    main()
