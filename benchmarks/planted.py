"""Evaluations until the best algorithm is found, on a synthetic domain where it is known.

    python benchmarks/planted.py             # 20 seeds
    python benchmarks/planted.py --seeds 5

Order of operators: a walk of four operators is planted in a complete graph; the embedded policy, which
learns, against the uniform one, with one implementation per operator; both also around a walk that is near
the planted one, or far from it, then around the best so far. Implementations: one chain of five
operators with three implementations each, where an implementation is good only after the right one; credit
of every context order, with nothing else to learn. Ratios are of means over the same seeds, with 95 %
percentile bootstrap intervals. The tables are Markdown; progress goes to stderr.
Everything but the processor time repeats exactly.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.agents.planted import (
    PlantedDomain,
    Search,
    Walk,
    chain_domain,
    complete_domain,
    ratio_of_means,
    search,
)

from dga2d.agents.policy.contract import PolicySettings
from dga2d.agents.policy.policies import UniformPolicy, make_policy
from dga2d.replay.settings import CreditContext

MOST_GENERATIONS = 1000
"""A search that has not found the walk by then counts with all its evaluations."""


class Arm(NamedTuple):
    """How walks are sampled and learned from."""

    policy: str
    start: str = ""
    focus: float = 0.0
    entropy: float = 0.0
    replay: float = 0.0

    @property
    def name(self) -> str:
        settings = zip(("focus", "entropy", "replay"), self[2:], strict=True)
        words = [f"{name} {value:g}" for name, value in settings if value]
        return " ".join([self.policy, *([f"({self.start})"] if self.start else []), *words])


ARMS = (
    Arm("uniform"),
    Arm("embedded"),
    Arm("embedded", entropy=0.1),
    Arm("embedded", "near", replay=1.0),
    Arm("uniform", "near", 0.6),
    Arm("embedded", "near", 0.6),
    Arm("embedded", "near", 0.6, entropy=0.1),
    Arm("embedded", "near", 0.6, replay=1.0),
    Arm("uniform", "far", 0.6),
    Arm("embedded", "far", 0.6),
    Arm("embedded", "far", 0.6, entropy=0.1),
    Arm("embedded", "far", 0.6, replay=1.0),
)


def starts(domain: PlantedDomain) -> dict[str, Walk]:
    """A walk that has three of the five planted transitions, and one that has none."""
    first, second, third, _ = domain.planted
    others = [o for o in domain.graph.operators if o not in domain.graph.initialisers]
    other_start = next(o for o in domain.graph.initialisers if o != first)
    wrong = next(o for o in others if o not in (second, third, domain.planted[3]))
    return {"": (), "near": (first, second, third, wrong), "far": (other_start, wrong, third)}


def policies(seeds: int) -> None:
    """The learned policy against the uniform one, and both around a walk."""
    domain = complete_domain(improvers=4, length=4, max_length=5)
    count = domain.graph.count_pipelines(domain.max_length)
    print(
        f"A planted walk of {len(domain.planted)} operators among {count}; evaluations until it is found.\n"
    )
    print("| policy | seeds | found | mean | median | most | of the mean of uniform (95 %) | processor, s |")
    print("|---|---|---|---|---|---|---|---|")
    uniform = evaluations(domain, ARMS[0], seeds, None)
    for arm in ARMS[1:]:
        needed = evaluations(domain, arm, seeds, uniform)
        quicker = sum(a < b for a, b in zip(needed, uniform, strict=True))
        print(f"{arm.name}: quicker with {quicker} of {seeds} seeds", file=sys.stderr)


def evaluations(domain: PlantedDomain, arm: Arm, seeds: int, against: list[float] | None) -> list[float]:
    """Evaluations to the planted walk per seed, with a row about them."""
    began = time.process_time()
    needed, found = [], 0
    for seed in range(seeds):
        policy = make_policy(arm.policy, seed, PolicySettings(entropy_bonus=arm.entropy))
        start = starts(domain)[arm.start]
        result = search(
            domain, policy, seed, MOST_GENERATIONS, start=start, focus=arm.focus, replay=arm.replay
        )
        needed.append(float(len(result.scores) if result.evaluations is None else result.evaluations))
        found += result.evaluations is not None
        print(f"{arm.name}, seed {seed}: {needed[-1]:.0f}", file=sys.stderr, flush=True)
    spent = time.process_time() - began
    ratio = "1" if against is None else str(ratio_of_means(needed, against))
    print(
        f"| {arm.name} | {seeds} | {found} | {fmean(needed):.1f} | {median(needed):.1f} | {max(needed):.0f} "
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
    parser.add_argument("--only-policies", action="store_true", help="leave out the implementations")
    options = parser.parse_args()
    if not options.only_policies:
        contexts(options.seeds)
        print()
    policies(options.seeds)


if __name__ == "__main__":
    main()
