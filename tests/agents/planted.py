"""A synthetic domain whose best algorithm is known: a planted order of operators and planted matches of
implementations. Its evaluations cost nothing, everything else is the real thing: policy, credits, streams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dga2d.agents.policy.contract import PipelinePolicy, PolicyContext
from dga2d.agents.scoring import best_implementations, sample_implementations, standardise, update_credits
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
from dga2d.replay.settings import CreditContext
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import stream

Walk = tuple[OperatorId, ...]
PIPELINES, TEMPERATURE, RATE, EPSILON = 4, 0.7, 0.1, 1e-8
"""N, τ, α and ε of the paper's Appendix E.1."""


@dataclass(frozen=True)
class PlantedDomain:
    """A graph, the walk to be found in it, and pools of equally many implementations.

    An implementation matches its predecessor if its number follows the predecessor's, modulo the pool's
    size; the first of a pipeline always matches. No implementation is better than another by itself.
    """

    graph: OperatorGraph
    planted: Walk
    max_length: int
    pool_size: int = 1

    @property
    def pools(self) -> dict[OperatorId, tuple[ImplementationId, ...]]:
        """``<operator>.<number>`` for each operator."""
        numbers = range(self.pool_size)
        return {o: tuple(ImplementationId(f"{o}.{i}") for i in numbers) for o in self.graph.operators}

    @property
    def context(self) -> PolicyContext:
        """What the policy is told, with the temperature of the paper."""
        return PolicyContext(
            graph=self.graph,
            max_length=self.max_length,
            temperature=TEMPERATURE,
            domain_summary="Find the planted order.",
            instance_summary="n=1",
            titles={},
        )

    def score(self, steps: Sequence[Step]) -> float:
        """At most 0, which only the planted walk with all implementations matching reaches.

        Half of what is lost is the share of planted transitions that are not in place, half the share of
        implementations that do not match.
        """
        return -0.5 * (self.order_loss([s.operator for s in steps]) + self.match_loss(steps))

    def order_loss(self, walk: Sequence[OperatorId]) -> float:
        """Share of the planted transitions, sentinels included, that `walk` does not have in their place.

        Chosen for two properties. A single better decision pays from anywhere: correcting the first wrong
        operator puts one more transition in place and can take none away, so there is no local optimum but
        the planted walk. And the length of a walk does not count: a share of its own transitions would pay
        for ending early.
        """
        found, wanted = (list(pairwise((START, *w, END))) for w in (walk, self.planted))
        return 1.0 - sum(a == b for a, b in zip(found, wanted, strict=False)) / len(wanted)

    def match_loss(self, steps: Sequence[Step]) -> float:
        """Share of the implementations that do not match, in [0, 1]."""
        numbers = [int(step.implementation.rpartition(".")[2]) for step in steps]
        missed = sum((b - a) % self.pool_size != 1 % self.pool_size for a, b in pairwise(numbers))
        return missed / max(1, len(numbers) - 1)


def complete_domain(improvers: int, length: int, max_length: int) -> PlantedDomain:
    """Two initialisers, all edges between `improvers`; a walk of `length` operators is planted.

    Uniform sampling draws the planted walk with probability 1/2 · improvers^−length.
    """
    starts = [OperatorId("start_a"), OperatorId("start_b")]
    others = [OperatorId(f"improve_{chr(ord('a') + i)}") for i in range(improvers)]
    edges = [(START, s) for s in starts] + [(s, o) for s in starts for o in others]
    edges += [(a, b) for a in others for b in others if a != b] + [(o, END) for o in others]
    graph = OperatorGraph(tuple(sorted([*starts, *others])), frozenset(starts), frozenset(edges))
    return PlantedDomain(graph, (starts[1], *others[length - 2 :: -1]), max_length)


def chain_domain(length: int, pool_size: int) -> PlantedDomain:
    """One chain of operators, so that implementations are all there is to choose."""
    operators = [OperatorId(f"step_{i}") for i in range(length)]
    graph = OperatorGraph(
        tuple(operators), frozenset(operators[:1]), frozenset(pairwise((START, *operators, END)))
    )
    return PlantedDomain(graph, tuple(operators), length, pool_size)


@dataclass(frozen=True)
class Search:
    """What a search came to."""

    evaluations: int | None
    """Candidates evaluated until the first of score 0, that one included; ``None`` if there was none."""
    scores: tuple[float, ...]
    """Of all candidates, in order."""
    final: float
    """Score of the planted walk with the implementations of highest credit."""


def search(
    domain: PlantedDomain,
    policy: PipelinePolicy,
    seed: int,
    generations: int,
    order: CreditContext = "first",
    to_the_end: bool = False,
    start: Walk = (),
    focus: float = 0.0,
    replay: float = 0.0,
) -> Search:
    """Algorithm 1 without evolution, until the best algorithm was sampled or `generations` are over.

    `to_the_end` goes on after it was found. With `focus` walks are sampled around the best so far, at first
    around `start`, which `replay` rewards in every update as well.
    """
    credits, scores, found = CreditTable(order=order), [], None
    best, best_score = start, -math.inf
    if start:
        best_score = domain.score([Step(operator=o, implementation=domain.pools[o][0]) for o in start])
    for t in range(1, generations + 1):
        draws = [stream(seed, "pipeline", t, j) for j in range(PIPELINES)]
        context = replace(domain.context, guide=best, focus=focus)
        walks = [walk.operators for walk in policy.sample(context, draws)]
        candidates = [
            sample_implementations(
                w, domain.pools, credits, TEMPERATURE, stream(seed, "implementation", t, j)
            )
            for j, w in enumerate(walks)
        ]
        for steps in candidates:
            scores.append(domain.score(steps))
            if scores[-1] == 0.0 and found is None:
                found = len(scores)
        if found is not None and not to_the_end:
            break
        rewards = standardise(scores[-PIPELINES:], EPSILON).rewards
        implementations = [[step.implementation for step in steps] for steps in candidates]
        credits = credits.update(update_credits(credits, implementations, rewards, RATE))
        again = [best] if replay else []
        policy.update(context, [*walks, *again], [*rewards, *[replay for _ in again]])
        for walk, score in zip(walks, scores[-PIPELINES:], strict=True):
            if score > best_score:
                best, best_score = walk, score
    final = domain.score(best_implementations(domain.planted, domain.pools, credits))
    return Search(found, tuple(scores), final)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two means over the same seeds with its 95 % percentile bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio_of_means(above: Sequence[float], below: Sequence[float], resamples: int = 10_000) -> Ratio:
    """mean(above) / mean(below); seeds are drawn in pairs (Efron and Tibshirani 1993, chapter 13)."""
    a, b = np.array(above), np.array(below)
    drawn = np.random.default_rng(0).integers(len(a), size=(resamples, len(a)))
    low, high = np.quantile(a[drawn].mean(axis=1) / b[drawn].mean(axis=1), [0.025, 0.975])
    return Ratio(float(a.mean() / b.mean()), float(low), float(high))
