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
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import Pools
from dga2d.replay.streams import choose


def selection_probabilities(
    credits: CreditTable,
    history: Sequence[ImplementationId],
    pool: Sequence[ImplementationId],
    temperature: float,
) -> tuple[float, ...]:
    """Return π^code(c | history) over the pool in its order: softmax of Q/τ in the context of the credits."""
    source = credits.source_after(history)
    logits = [credits.credit(source, c) / temperature for c in pool]
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
    """Draw one implementation per operator by inverse distribution function, with one number per position."""
    chosen: list[ImplementationId] = []
    for operator in operators:
        pool = pools[operator]
        probabilities = selection_probabilities(credits, chosen, pool, temperature)
        chosen.append(pool[choose(probabilities, float(draws.random()))])
    return _steps(operators, chosen)


def best_implementations(
    operators: Sequence[OperatorId], pools: Pools, credits: CreditTable
) -> tuple[Step, ...]:
    """Return the implementation of highest transition credit at each position, ties to the smallest id."""
    chosen: list[ImplementationId] = []
    for operator in operators:
        source = credits.source_after(chosen)
        ranked = sorted((-credits.credit(source, c), c) for c in pools[operator])
        chosen.append(ranked[0][1])
    return _steps(operators, chosen)


def _steps(operators: Sequence[OperatorId], chosen: Sequence[ImplementationId]) -> tuple[Step, ...]:
    pairs = zip(operators, chosen, strict=True)
    return tuple(Step(operator=operator, implementation=c) for operator, c in pairs)
