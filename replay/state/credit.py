"""Transition credits Q, activation counts n, and their aggregation (DGA2D paper, Eqs. 8–14, Algorithm 2).

Sums run in sorted order of the transitions: the result never depends on how a table was built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from immutables import Map

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START

START_IMPLEMENTATION = ImplementationId(START)
"""c_start, the predecessor of the first implementation of every candidate."""

Pools = Mapping[OperatorId, tuple[ImplementationId, ...]]
"""C^(t): implementations of each operator, sorted by id."""


class Transition(NamedTuple):
    """First-order implementation transition e = (u, c)."""

    source: ImplementationId
    target: ImplementationId


class TransitionRecord(NamedTuple):
    """Q(e) and n(e)."""

    credit: float
    activations: int


@dataclass(frozen=True)
class CreditTable:
    """Q_t and n_t; transitions that were never activated are absent and have credit 0."""

    records: Map[Transition, TransitionRecord] = Map()

    def credit(self, source: ImplementationId, target: ImplementationId) -> float:
        """Q_t(e), 0 for unseen transitions."""
        record = self.records.get(Transition(source, target))
        return 0.0 if record is None else record.credit

    @cached_property
    def ordered(self) -> tuple[tuple[Transition, TransitionRecord], ...]:
        """All records, sorted by transition."""
        return tuple(sorted(self.records.items()))

    def updated(self, records: Iterable[tuple[Transition, TransitionRecord]]) -> CreditTable:
        """The table with some transitions set."""
        return CreditTable(self.records.update(dict(records)))

    def without(self, implementation: ImplementationId) -> CreditTable:
        """The table after `implementation` left its pool."""
        kept = {t: r for t, r in self.records.items() if implementation not in t}
        return CreditTable(Map(kept))

    def implementation_credit(self, implementation: ImplementationId, epsilon: float) -> float:
        """Q̄(c): activation-weighted mean over the transitions into or out of c; 0 if none (Eq. 10)."""
        return _weighted_mean((r for t, r in self.ordered if implementation in t), epsilon)

    def operator_credit(self, pool: Iterable[ImplementationId], epsilon: float) -> float:
        """Q̄(O): plain mean of Q̄(c) over the operator's pool; 0 for an empty pool (Eq. 11)."""
        credits = [self.implementation_credit(c, epsilon) for c in sorted(pool)]
        return sum(credits) / len(credits) if credits else 0.0

    def edge_credit(self, edge: Edge, pools: Pools, epsilon: float) -> float:
        """Q̄(O_i, O_j): activation-weighted mean over the transitions between the two pools (Eq. 14).

        ``START`` stands for c_start; edges into ``END`` carry no transitions and have credit 0.
        """
        source, target = edge
        sources = {START_IMPLEMENTATION} if source == START else set(pools.get(source, ()))
        targets = set() if target == END else set(pools.get(target, ()))
        return _weighted_mean(
            (r for t, r in self.ordered if t.source in sources and t.target in targets), epsilon
        )


def _weighted_mean(records: Iterable[TransitionRecord], epsilon: float) -> float:
    weighted, total = 0.0, 0
    for record in records:
        weighted += record.activations * record.credit
        total += record.activations
    return weighted / (total + epsilon) if total else 0.0
