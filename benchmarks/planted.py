"""Evaluations until the best algorithm is found, on a synthetic domain where it is known.

    python benchmarks/planted.py             # 20 seeds
    python benchmarks/planted.py --seeds 5

Order of operators: a walk of four operators is planted in a complete graph; the embedded policy, which
learns, against the uniform one, with one implementation per operator. Implementations: one chain of five
operators with three implementations each, where an implementation is good only after the right one; credit
of every context order, with nothing else to learn. Ratios are of means over the same seeds, with 95 %
percentile bootstrap intervals. Everything but the processor time repeats exactly.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.agents.planted import (
    PlantedDomain,
    Search,
    chain_domain,
    complete_domain,
    ratio_of_means,
    search,
)

from dga2d.agents.policy import PipelinePolicy, PolicySettings, UniformPolicy, make_policy
from dga2d.replay.settings import CreditContext

MOST_GENERATIONS = 1000
"""A search that has not found the walk by then counts with all its evaluations."""


def policies(seeds: int) -> None:
    """The learned policy against the uniform one."""
    domain = complete_domain(improvers=4, length=4, max_length=5)
    print(f"a walk of {len(domain.planted)} operators among {domain.graph.count_pipelines(5)}, {seeds} seeds")
    uniform = evaluations(domain, lambda seed: UniformPolicy(), seeds, "uniform")
    learned = evaluations(domain, lambda s: make_policy("embedded", s, PolicySettings()), seeds, "embedded")
    print(f"embedded / uniform: {ratio_of_means(learned, uniform)}\n")


def evaluations(
    domain: PlantedDomain, policy: Callable[[int], PipelinePolicy], seeds: int, name: str
) -> list[float]:
    """Evaluations to the planted walk per seed, with a line about them."""
    began = time.process_time()
    needed, lost = [], 0
    for seed in range(seeds):
        result = search(domain, policy(seed), seed, MOST_GENERATIONS)
        needed.append(float(len(result.scores) if result.evaluations is None else result.evaluations))
        lost += result.evaluations is None
        print(f"{name}, seed {seed}: {needed[-1]:.0f}", file=sys.stderr, flush=True)
    spent = time.process_time() - began
    print(
        f"{name:9} mean {fmean(needed):6.1f}  median {median(needed):6.1f}  most {max(needed):6.0f}  "
        f"not found {lost}/{seeds}  processor {spent:.0f} s"
    )
    return needed


def contexts(seeds: int, generations: int = 200) -> None:
    """Credit of every order."""
    domain = chain_domain(length=5, pool_size=3)
    print(f"implementations that depend on their predecessor, {generations} generations, {seeds} seeds")
    results: dict[CreditContext, list[Search]] = {
        order: [search(domain, UniformPolicy(), s, generations, order, to_the_end=True) for s in range(seeds)]
        for order in get_args(CreditContext)
    }
    late = {order: [-fmean(r.scores[-40:]) for r in found] for order, found in results.items()}
    for order, found in results.items():
        solved = sum(r.final == 0.0 for r in found)
        print(
            f"{order:9} loss of the last 10 generations {fmean(late[order]):.3f}, relative to zero "
            f"{ratio_of_means(late[order], late['zero'])}; highest credits are optimal {solved}/{seeds}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    contexts(options.seeds)
    print()
    policies(options.seeds)


if __name__ == "__main__":
    main()
