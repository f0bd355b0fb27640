"""Claims about operators at work, whatever ran them: the sandbox of a check, or a test in its own process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dga2d.domains.claims.examination import Claim, Contradictions
from dga2d.domains.core.contract import Domain, Implementation, Instance, Operator, State, normalised_gap

TOLERANCE = 1e-9
"""A gap below minus this beats its reference."""


class PositionRecord(Protocol):
    """What one position of a pipeline did to the solution, whoever recorded it."""

    @property
    def score_before(self) -> float | None:
        """Minimisation score on entry; ``None`` before the initialiser."""
        ...

    @property
    def score_after(self) -> float:
        """The same on leaving."""
        ...

    @property
    def work(self) -> int:
        """Work units charged."""
        ...


@dataclass(frozen=True)
class TrialOutcome:
    """What one run of a pipeline gave."""

    failure: str | None
    """Why there is no solution, in words; ``None`` where there is one."""
    objective: float | None
    """By the verifier; ``None`` on failure."""
    solution: State | None
    trace: Sequence[PositionRecord]
    """Entry by position; empty on failure."""

    @property
    def work(self) -> tuple[int, ...]:
        """Work units charged, by position."""
        return tuple(position.work for position in self.trace)


@dataclass(frozen=True)
class Trial:
    """One operator run twice in the same way: behind an initialiser, unless it is one itself."""

    operator: Operator
    implementation: Implementation
    instance: Instance
    first: TrialOutcome
    again: TrialOutcome
    may_be_broken: bool = False
    """Whether constraints may stay broken, because others find no valid solution there either."""

    @property
    def outcomes(self) -> tuple[TrialOutcome, TrialOutcome]:
        """Both runs."""
        return self.first, self.again

    @property
    def place(self) -> str:
        """File and instance, for messages."""
        return f"{self.implementation.origin} on {self.instance.key}"


def validity_claim(domain: Domain, trials: Sequence[Trial]) -> Contradictions:
    """Every run gives a valid solution, and no operator hands on a broken state.

    Where a walk is a step of an iteration, one operator alone need not come to its end.
    """
    yield from group_failures(
        (trial.place, outcome.failure)
        for trial in trials
        for outcome in trial.outcomes
        if outcome.failure is not None
        and not is_unfinished(domain, outcome.failure)
        and not (trial.may_be_broken and is_broken(outcome.failure))
    )
    for trial in trials:
        for outcome in () if trial.may_be_broken else trial.outcomes:
            if any(position.score_after == domain.invalid_score for position in outcome.trace):
                yield f"{trial.place}: the operator leaves a broken state"
    return f"{2 * len(trials)} runs"


def is_unfinished(domain: Domain, failure: str) -> bool:
    """Return whether a failure says no more than that an iteration has not ended."""
    return hasattr(domain, "oracle_data") and failure.startswith("infeasible")


def is_broken(failure: str) -> bool:
    """Return whether a failure says that a solution breaks constraints that a problem's `check` knows."""
    return failure.startswith("infeasible: check: ")


def group_failures(failures: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each failure once, with the first place that it was met in and the number of runs that met it."""
    places: dict[str, list[str]] = {}
    for place, failure in failures:
        places.setdefault(failure, []).append(place)
    for failure, met in places.items():
        more = f" ({len(met)} runs fail like this)" if len(met) > 1 else ""
        yield f"{met[0]}: {failure}{more}"


def never_worse_claim(domain: Domain, trials: Sequence[Trial]) -> Contradictions:
    """Operators that are no perturbations leave nothing worse than they got.

    Not claimed where walks repeat: only their last state is an answer.
    """
    if domain.card.repeats:
        return "not claimed: they are steps of a walk that repeats"
    count = 0
    for trial in trials:
        if trial.operator.category in ("perturbation", "initialisation") or not trial.first.trace:
            continue
        count += 1
        before, after = trial.first.trace[-1].score_before, trial.first.trace[-1].score_after
        if before is None or after > before:
            yield f"{trial.place}: score {before} became {after}; keep the best, or call it a perturbation"
    return f"{count} runs of operators that improve"


def repeatability_claim(domain: Domain, trials: Sequence[Trial]) -> Contradictions:
    """The same seed and work budget give the same solution and the same work."""
    for trial in trials:
        if not are_same(trial.first.solution, trial.again.solution):
            yield (f"{trial.place}: two runs with one seed and work budget differ; draw from env_data['rng']")
        work, again = (list(outcome.work) for outcome in trial.outcomes)
        if work != again:
            yield f"{trial.place}: two runs with one seed charged {work} and {again} work units"
    return f"{len(trials)} pairs"


def are_same(one: State | None, other: State | None) -> bool:
    """Return whether two solutions are equal, entry by entry; two missing ones are."""
    if one is None or other is None:
        return one is other
    arrays, others = ({"sequence": state.sequence, **state.metadata} for state in (one, other))
    return arrays.keys() == others.keys() and all(are_equal(arrays[key], others[key]) for key in arrays)


def are_equal(one: object, other: object) -> bool:
    """Return whether two numbers, texts or arrays are equal; two missing numbers (NaN) are."""
    is_real = np.asarray(one).dtype.kind == "f"
    return np.array_equal(one, other, equal_nan=is_real)  # type: ignore[arg-type]


def charging_claim(domain: Domain, trials: Sequence[Trial]) -> Contradictions:
    """Every operator charges work, without which no work budget can end it; one that is handed an optimum, or
    finds it at once, may end instead.
    """
    smallest = trials[0].instance
    if hasattr(
        domain, "oracle_data"
    ):  # what is asked is charged, and the others are steps of a walk that asks
        return f"{sum(sum(trial.first.work) for trial in trials)} questions"
    for trial in trials:
        if trial.instance is smallest or _is_optimal(trial):
            continue
        if trial.first.trace and trial.first.work[-1] <= 0:
            yield f"{trial.place}: it charged no work; call budget.charge(n)"
    return f"{sum(sum(trial.first.work) for trial in trials)} work units"


def _is_optimal(trial: Trial) -> bool:
    reference = trial.instance.reference
    return (
        reference is not None
        and reference.kind == "optimal"
        and trial.first.objective is not None
        and trial.first.objective == reference.value
    )


def references_claim(domain: Domain, trials: Sequence[Trial]) -> Contradictions:
    """No solution is better than an optimal reference."""
    gaps = []
    for trial in trials:
        reference, objective = trial.instance.reference, trial.first.objective
        if reference is None or objective is None:
            continue
        gap = normalised_gap(objective, reference.value, domain.sense)
        gaps.append(gap)
        if reference.kind == "optimal" and gap < -TOLERANCE:
            yield f"{trial.place}: objective {objective:g} beats the optimal reference {reference.value:g}"
    if not gaps:
        return "no reference to compare with"
    return f"gaps of {100 * min(gaps):.2f} to {100 * max(gaps):.2f} %"


OPERATOR_CLAIMS = (
    Claim("operators give valid solutions", validity_claim),
    Claim("operators never worsen a solution", never_worse_claim),
    Claim("operators are deterministic under a work budget", repeatability_claim),
    Claim("operators charge their work", charging_claim),
    Claim("no solution beats an optimal reference", references_claim),
)
"""Claims about operators at work; each takes the domain and the trials, on its smallest instance first."""
