"""What evaluations gave, by candidate and instance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from immutables import Map

from dga2d.events import InstanceKey, decode_payload
from dga2d.events.payloads import EvaluationRecorded, FailureKind, PositionTrace

EvaluationKey = tuple[int, InstanceKey]
"""Candidate j and instance."""


OutcomeRow = dict[InstanceKey, "Outcome"]
"""Outcomes of one candidate."""


_NO_ROW: Mapping[InstanceKey, Outcome] = MappingProxyType({})


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an evaluation gave: an objective or the kind of failure.

    A replay makes and drops a thousand of them per generation. What few readers ask for is therefore kept as
    the bytes that were checked when they were folded, which takes a fifth of the objects.
    """

    objective: float | None
    failure: FailureKind | None
    recorded: bytes = b""
    """Payload of the evaluation in its current version; empty where there was none."""

    @property
    def effort(self) -> tuple[int, float]:
        """Work units and seconds of the evaluation; decoded anew every time."""
        if not self.recorded:
            return 0, 0.0
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.work, payload.elapsed_s

    @property
    def trace(self) -> tuple[PositionTrace, ...]:
        """What every position of the pipeline did; decoded anew every time."""
        if not self.recorded:
            return ()
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.trace

    @property
    def diagnostic(self) -> str:
        """How it failed, in words; decoded anew every time."""
        if not self.recorded:
            return ""
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.diagnostic


@dataclass(frozen=True)
class Outcomes(Mapping[EvaluationKey, Outcome]):
    """Outcomes by candidate and instance. Immutable; a copy shares the rows that it does not change."""

    rows: Map[int, OutcomeRow] = Map()
    """By candidate; rows are never changed."""
    count: int = 0

    @classmethod
    def of(cls, outcomes: Mapping[EvaluationKey, Outcome]) -> Outcomes:
        """Return the outcomes of any mapping."""
        rows: dict[int, OutcomeRow] = {}
        for (candidate, instance), outcome in outcomes.items():
            rows.setdefault(candidate, {})[instance] = outcome
        return cls().with_rows(rows)

    def __getitem__(self, key: EvaluationKey) -> Outcome:
        return self.rows[key[0]][key[1]]

    def __iter__(self) -> Iterator[EvaluationKey]:
        return ((candidate, instance) for candidate, row in self.rows.items() for instance in row)

    def __len__(self) -> int:
        return self.count

    def row(self, candidate: int) -> Mapping[InstanceKey, Outcome]:
        """Return the outcomes of a candidate by instance, empty where there are none."""
        return self.rows.get(candidate, _NO_ROW)

    @property
    def failed_candidates(self) -> int:
        """Candidates that failed on at least one instance."""
        return sum(any(outcome.failure for outcome in row.values()) for row in self.rows.values())

    def set(self, key: EvaluationKey, outcome: Outcome) -> Outcomes:
        """Return a copy with one outcome more."""
        candidate, instance = key
        return self.with_rows({candidate: {**self.row(candidate), instance: outcome}})

    def with_rows(self, changed: Mapping[int, OutcomeRow]) -> Outcomes:
        """Return a copy with the rows of some candidates replaced; takes ownership of `changed`."""
        more = sum(map(len, changed.values())) - sum(len(self.row(candidate)) for candidate in changed)
        return Outcomes(self.rows.update(changed), self.count + more)


NO_OUTCOMES = Outcomes()


class BestMet(NamedTuple):
    """The best objective that evaluations came to on an instance, and how many did."""

    objective: float
    meetings: int = 1
    evaluations: int = 1
    """Those that did not fail."""

    def after(self, objective: float, is_better: bool) -> BestMet:
        """Return it after one evaluation more; what differs by rounding alone (1e-9) is the same."""
        if math.isclose(objective, self.objective, rel_tol=1e-9):
            return BestMet(self.objective, self.meetings + 1, self.evaluations + 1)
        if is_better:
            return BestMet(objective, 1, self.evaluations + 1)
        return self._replace(evaluations=self.evaluations + 1)
