"""Every operator implementation on one large instance: what it gains, how late it ends, what it charges.

    python benchmarks/operators.py                       # all domains: the largest instance generated
    python benchmarks/operators.py cvrp mis --seconds 2 --data DIR

An improver starts from the first operator of the basic baseline. Time is processor time, so that a busy
machine does no harm; runs before the measured ones compile everything. Late is how long after the end of its
budget an implementation returns (the house rule: 50 ms), the worst of the budgets tried; work per second
shows whether work units mean the same as those of its neighbours.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Domain, Implementation, Instance
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.execution import Execution, Run, execute, load_implementation

LATE_S = (0.02, 0.1)
"""Budgets in seconds beside the main one that lateness is looked for with."""

WARM_UPS = 4
"""Runs before the measured ones: each compiles until its budget is over."""


class Row(NamedTuple):
    """One implementation."""

    title: str
    gain_percent: float
    """How much lower the minimised score is than that of the start; 0 for an initialiser."""
    score: float
    late_ms: float
    work_per_s: float


def largest(domain: Domain, data: Path | None) -> Instance:
    """The instance whose arrays hold the most numbers."""
    refs = domain.generated() if data is None else domain.published(data)
    by_group = {ref.group: ref for ref in refs}
    instances = [domain.load(ref) for ref in by_group.values()]
    return max(instances, key=lambda instance: sum(_size(v) for v in domain.environment(instance).values()))


def _size(value: object) -> int:
    return int(value.size) if isinstance(value, np.ndarray) else 1


def run_once(domain: Domain, instance: Instance, runs: list[Run], seconds: float) -> tuple[Execution, float]:
    """The execution and the processor time it took."""
    environment = domain.environment(instance)
    decoder = domain.decoder(environment)
    budget = Budget(seconds, "s", len(runs), clock=time.process_time)
    start = time.process_time()
    result = execute(runs, environment, decoder, budget, np.random.Generator(np.random.Philox(1)))
    return result, time.process_time() - start


def measured(
    domain: Domain,
    instance: Instance,
    first: Run,
    implementation: Implementation,
    seconds: float,
    cache: Path,
) -> Row:
    """Run an implementation alone, or after `first` when it needs a solution to start from."""
    operator = next(op for op in domain.operators() if op.id == implementation.operator)
    run = load_implementation(implementation, cache)
    runs = [run] if operator.is_initialiser else [first, run]
    for warm_up in (domain.smoke_instance(), *[instance] * WARM_UPS):
        run_once(domain, warm_up, runs, 5 * LATE_S[-1])
    late = []
    for budget in (*LATE_S, seconds):
        result, elapsed = run_once(domain, instance, runs, budget)
        late.append(elapsed - budget)
    last = result.trace[-1]
    before = last.score_before
    gain = 0.0 if before is None else 100.0 * (before - last.score_after) / max(abs(before), 1e-12)
    title = implementation.origin.removeprefix("library:")
    return Row(title, gain, last.score_after, 1000 * max(late), last.work / max(last.elapsed_s, 1e-9))


def table(domain: Domain, options: argparse.Namespace, cache: Path) -> None:
    """Print a domain's table."""
    instance = largest(domain, options.data)
    print(f"\n### {domain.name}: {instance.key}, {options.seconds:g} s\n")
    print("| implementation | gain % | score | late, ms | work per s |\n|---|--:|--:|--:|--:|")
    first = load_implementation(domain.basic_baseline()[0].implementation, cache)
    for operator in domain.operators():
        for implementation in operator.implementations:
            row = measured(domain, instance, first, implementation, options.seconds, cache)
            cells = f"{row.gain_percent:.2f} | {row.score:.6g} | {row.late_ms:.0f} | {row.work_per_s:,.0f}"
            print(f"| {row.title} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", metavar="DOMAIN")
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time of the main run")
    parser.add_argument("--data", type=Path, help="published instances instead of generated ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = f"{cache}/decoders"
        for name in options.domains or domain_names():
            table(get_domain(name), options, Path(cache))


if __name__ == "__main__":
    main()
