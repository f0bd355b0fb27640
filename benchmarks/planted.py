"""Evaluations until the best algorithm is found, on a synthetic domain where it is known.

    python benchmarks/planted.py             # 20 seeds
    python benchmarks/planted.py --seeds 5

Order of operators: a walk of four operators is planted in a complete graph; the embedded policy, which
learns, against the uniform one, with one implementation per operator. Implementations: one chain of five
operators with three implementations each, where an implementation is good only after the right one; credit
of every context order, with nothing else to learn. Ratios are of means over the same seeds, with 95 %
percentile bootstrap intervals. The tables are Markdown; progress goes to stderr.
Everything but the processor time repeats exactly.
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
    count = domain.graph.count_pipelines(domain.max_length)
    print(
        f"A planted walk of {len(domain.planted)} operators among {count}; evaluations until it is found.\n"
    )
    print("| policy | seeds | found | mean | median | most | of the mean of uniform (95 %) | processor, s |")
    print("|---|---|---|---|---|---|---|---|")
    uniform = evaluations(domain, lambda seed: UniformPolicy(), seeds, "uniform", None)
    learned = evaluations(
        domain, lambda s: make_policy("embedded", s, PolicySettings()), seeds, "embedded", uniform
    )
    quicker = sum(a < b for a, b in zip(learned, uniform, strict=True))
    print(f"\nembedded is quicker with {quicker} of {seeds} seeds")


def evaluations(
    domain: PlantedDomain,
    policy: Callable[[int], PipelinePolicy],
    seeds: int,
    name: str,
    against: list[float] | None,
) -> list[float]:
    """Evaluations to the planted walk per seed, with a row about them."""
    began = time.process_time()
    needed, found = [], 0
    for seed in range(seeds):
        result = search(domain, policy(seed), seed, MOST_GENERATIONS)
        needed.append(float(len(result.scores) if result.evaluations is None else result.evaluations))
        found += result.evaluations is not None
        print(f"{name}, seed {seed}: {needed[-1]:.0f}", file=sys.stderr, flush=True)
    spent = time.process_time() - began
    ratio = "1" if against is None else str(ratio_of_means(needed, against))
    print(
        f"| {name} | {seeds} | {found} | {fmean(needed):.1f} | {median(needed):.1f} | {max(needed):.0f} "
        f"| {ratio} | {spent:.0f} |"
    )
    return needed


def contexts(seeds: int, generations: int = 200) -> None:
    """Credit of every order."""
    domain = chain_domain(length=5, pool_size=3)
    print(f"Implementations that depend on their predecessor, {generations} generations.\n")
    print(
        "| credit | seeds | loss of the last 10 generations | of zero order's (95 %) | optimal at the end |"
    )
    print("|---|---|---|---|---|")
    results: dict[CreditContext, list[Search]] = {
        order: [search(domain, UniformPolicy(), s, generations, order, to_the_end=True) for s in range(seeds)]
        for order in get_args(CreditContext)
    }
    late = {order: [-fmean(r.scores[-40:]) for r in found] for order, found in results.items()}
    for order, found in results.items():
        solved = sum(r.final == 0.0 for r in found)
        ratio = "1" if order == "zero" else str(ratio_of_means(late[order], late["zero"]))
        print(f"| {order} | {seeds} | {fmean(late[order]):.3f} | {ratio} | {solved} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    contexts(options.seeds)
    print()
    policies(options.seeds)


if __name__ == "__main__":
    main()
