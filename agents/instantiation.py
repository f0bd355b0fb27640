"""Implementations for the operators of a walk: sampled for training, of highest credit for validation.

References
----------
DGA2D paper, Section 3.4 (π^code = Softmax(Q/τ)) and Appendix E.1 (validation).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
from dga2d.replay.state.credit import START_IMPLEMENTATION, CreditTable, Pools
from dga2d.replay.streams import choose


def selection_probabilities(
    credits: CreditTable,
    previous: ImplementationId,
    pool: Sequence[ImplementationId],
    temperature: float,
) -> tuple[float, ...]:
    """π^code(c | previous) over the pool in its order: softmax of Q/τ."""
    logits = [credits.credit(previous, c) / temperature for c in pool]
    top = max(logits)
    weights = [math.exp(value - top) for value in logits]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def sample_implementations(
    operators: Sequence[OperatorId],
    pools: Pools,
    credits: CreditTable,
    temperature: float,
    draws: np.random.Generator,
) -> tuple[Step, ...]:
    """One implementation per operator by inverse distribution function, one draw per position."""
    steps: list[Step] = []
    previous = START_IMPLEMENTATION
    for operator in operators:
        pool = pools[operator]
        probabilities = selection_probabilities(credits, previous, pool, temperature)
        previous = pool[choose(probabilities, float(draws.random()))]
        steps.append(Step(operator=operator, implementation=previous))
    return tuple(steps)


def best_implementations(
    operators: Sequence[OperatorId], pools: Pools, credits: CreditTable
) -> tuple[Step, ...]:
    """The implementation of highest transition credit at each position, ties to the smallest id."""
    steps: list[Step] = []
    previous = START_IMPLEMENTATION
    for operator in operators:
        previous = min(pools[operator], key=lambda c: (-credits.credit(previous, c), c))
        steps.append(Step(operator=operator, implementation=previous))
    return tuple(steps)
