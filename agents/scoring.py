"""Scores, rewards and credits, and the choice of implementations by credit. Pure functions.

References
----------
DGA2D paper, Eqs. 3–5 and 8 (scores, rewards, credits), Section 3.4 (π^code = Softmax(Q/τ)) and Appendix E.1
(validation takes the implementation of highest credit).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dga2d.domains.core.contract import normalised_gap
from dga2d.events import ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads import Step
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord
from dga2d.replay.state.graph import Pools
from dga2d.replay.state.outcomes import Outcome
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import choose


class CandidateScore(NamedTuple):
    """S_{t,j} and the gaps it averages."""

    score: float
    gaps: tuple[float | None, ...]


class Standardised(NamedTuple):
    """μ_t, σ_t (population) and R̃_{t,j}."""

    mean: float
    deviation: float
    rewards: tuple[float, ...]


def score_candidate(
    outcomes: Sequence[Outcome],
    references: Sequence[float],
    sense: Literal["min", "max"],
    failure_reward: float,
    scales: Sequence[float | None] | None = None,
) -> CandidateScore:
    """Return S = −mean gap (Eq. 4), at least R_fail; a failure on any instance gives exactly R_fail.

    `scales` are those of the gaps where they are not the usual ones (see `normalised_gap`).
    """
    gaps = tuple(
        None if outcome.objective is None else normalised_gap(outcome.objective, reference, sense, scale)
        for outcome, reference, scale in zip(
            outcomes, references, scales or (None,) * len(references), strict=True
        )
    )
    known = [gap for gap in gaps if gap is not None]
    if len(known) < len(gaps) or not known:
        return CandidateScore(failure_reward, gaps)
    return CandidateScore(max(-math.fsum(known) / len(known), failure_reward), gaps)


def score_candidates(
    state: RunState,
    outcomes: Mapping[tuple[int, InstanceKey], Outcome],
    candidates: Iterable[int],
    keys: Sequence[InstanceKey],
) -> list[CandidateScore]:
    """Return `score_candidate` of the `candidates` on the instances `keys`."""
    entries = [state.entry(key) for key in keys]
    references, scales = [entry.reference for entry in entries], [entry.scale for entry in entries]
    sense, failure_reward = state.header.sense, state.settings.failure_reward
    return [
        score_candidate([outcomes[j, key] for key in keys], references, sense, failure_reward, scales)
        for j in candidates
    ]


def is_clearly_better(challenger: CandidateScore, incumbent: CandidateScore, margin: float) -> bool:
    """Return whether the challenger gains steadily over the instances.

    Its mean gain is positive, and either that mean or the number of instances won less those lost is more
    than `margin` standard errors above 0.

    The mean tells where gains are alike; the count where they differ by orders of magnitude, as between small
    and large instances, and a mean says little. The gains of a single instance have no error.
    """
    if None in challenger.gaps or None in incumbent.gaps:
        return challenger.score > incumbent.score
    pairs = zip(challenger.gaps, incumbent.gaps, strict=True)
    gains = [before - after for after, before in pairs if before is not None and after is not None]
    n, mean = len(gains), math.fsum(gains) / len(gains)
    variance = math.fsum((gain - mean) ** 2 for gain in gains) / (n - 1) if n > 1 else 0.0
    won, lost = sum(gain > 0.0 for gain in gains), sum(gain < 0.0 for gain in gains)
    is_large = mean > margin * math.sqrt(variance / n)
    return mean > 0.0 and (is_large or won - lost >= margin * math.sqrt(won + lost))


def standardise(scores: Sequence[float], epsilon: float) -> Standardised:
    """Return R̃ = (S − μ)/(σ + ε) with the population deviation (Eq. 5); equal scores give zeros."""
    mean = math.fsum(scores) / len(scores)
    if min(scores) == max(scores):
        return Standardised(scores[0], 0.0, (0.0,) * len(scores))
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    return Standardised(mean, deviation, tuple((s - mean) / (deviation + epsilon) for s in scores))


def update_credits(
    table: CreditTable,
    candidates: Sequence[Sequence[ImplementationId]],
    rewards: Sequence[float],
    rate: float,
) -> tuple[tuple[Transition, TransitionRecord], ...]:
    """Return the transitions that a generation changes with their new Q and n, sorted (Eq. 8, Algorithm 1).

    Updates run over candidates, then positions; a transition activated several times in a candidate is
    updated once each time.
    """
    changed: dict[Transition, TransitionRecord] = {}
    for implementations, reward in zip(candidates, rewards, strict=True):
        for position, implementation in enumerate(implementations):
            transition = Transition(table.source_after(implementations[:position]), implementation)
            record = changed.get(transition) or table.records.get(transition) or TransitionRecord(0.0, 0)
            changed[transition] = TransitionRecord(
                (1.0 - rate) * record.credit + rate * reward, record.activations + 1
            )
    return tuple(sorted(changed.items()))


def mean_gap(gaps: Mapping[str, float | None]) -> float | None:
    """Return the mean over instances; ``None`` without instances or if one failed."""
    known = [gap for gap in gaps.values() if gap is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(gaps) else None


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
