"""Transition credits Q, activation counts n, and their aggregation (DGA2D paper, Eqs. 8–14, Algorithm 2).

Sums run in sorted order of the transitions: the result never depends on how a table was built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from immutables import Map

from dga2d.events import ImplementationId
from dga2d.events.payloads import Edge
from dga2d.replay.settings import CreditContext
from dga2d.replay.state.graph import END, START, Pools

START_IMPLEMENTATION = ImplementationId(START)
"""c_start, the predecessor of the first implementation of every candidate."""
NO_CONTEXT = ImplementationId("*")
"""Source of every transition under zero-order credit."""
SEPARATOR = ">"
"""Between the implementations of a source of more than one."""


class Transition(NamedTuple):
    """Implementation transition e = (u, c); `source` is a context, of one implementation by default."""

    source: ImplementationId
    target: ImplementationId

    @property
    def predecessor(self) -> ImplementationId:
        """What ran just before the target; ``NO_CONTEXT`` under zero-order credit."""
        return ImplementationId(self.source.rpartition(SEPARATOR)[2])

    @property
    def members(self) -> tuple[str, ...]:
        """All implementations of the context, and the target."""
        return (*self.source.split(SEPARATOR), self.target)


def context_after(history: Sequence[ImplementationId], order: CreditContext) -> ImplementationId:
    """Return the source of the transition that follows `history` (without c_start).

    References
    ----------
    DGA2D paper, Appendix D.2: contexts of order 0 (the target alone), 1, 2 and the full history; each
    refines the one before.
    """
    if order == "first":
        return history[-1] if history else START_IMPLEMENTATION
    if order == "zero":
        return NO_CONTEXT
    whole = (START_IMPLEMENTATION, *history)
    return ImplementationId(SEPARATOR.join(whole[-2:] if order == "second" else whole))


class TransitionRecord(NamedTuple):
    """Q(e) and n(e)."""

    credit: float
    activations: int


@dataclass(frozen=True)
class CreditTable:
    """Q_t and n_t; transitions that were never activated are absent and have credit 0."""

    records: Map[Transition, TransitionRecord] = Map()
    order: CreditContext = "first"
    """How much of the history a transition's source holds."""

    def source_after(self, history: Sequence[ImplementationId]) -> ImplementationId:
        """Return the source of the transition that follows `history`."""
        return context_after(history, self.order)

    def credit(self, source: ImplementationId, target: ImplementationId) -> float:
        """Return Q_t(e), 0 for a transition that was never activated."""
        record = self.records.get(Transition(source, target))
        return 0.0 if record is None else record.credit

    @cached_property
    def ordered(self) -> tuple[tuple[Transition, TransitionRecord], ...]:
        """Return all records, sorted by transition."""
        return tuple(sorted(self.records.items()))

    @cached_property
    def _touching(self) -> dict[ImplementationId, list[TransitionRecord]]:
        """Records of the transitions into or out of each implementation, in their order."""
        found: dict[ImplementationId, list[TransitionRecord]] = {}
        for transition, record in self.ordered:
            found.setdefault(transition.target, []).append(record)
            if transition.predecessor != transition.target:
                found.setdefault(transition.predecessor, []).append(record)
        return found

    def update(self, records: Iterable[tuple[Transition, TransitionRecord]]) -> CreditTable:
        """Return the table with some transitions set."""
        return CreditTable(self.records.update(dict(records)), self.order)

    def without(self, implementation: ImplementationId) -> CreditTable:
        """Return the table after `implementation` left its pool."""
        kept = {t: r for t, r in self.records.items() if implementation not in t.members}
        return CreditTable(Map(kept), self.order)

    def replace_implementation(self, parent: ImplementationId, child: ImplementationId) -> CreditTable:
        """Return the table after `child` took the place of `parent` in all its transitions."""

        def renamed(part: ImplementationId) -> ImplementationId:
            members = (child if member == parent else member for member in part.split(SEPARATOR))
            return ImplementationId(SEPARATOR.join(members))

        kept = self.without(child).records.items()
        return CreditTable(Map({Transition(renamed(s), renamed(t)): r for (s, t), r in kept}), self.order)

    def implementation_credit(self, implementation: ImplementationId, epsilon: float) -> float:
        """Return Q̄(c): the activation-weighted mean over the transitions into or out of c; 0 if there are
        none (Eq. 10)."""
        return _weighted_mean(self._touching.get(implementation, ()), epsilon)

    def operator_credit(self, pool: Iterable[ImplementationId], epsilon: float) -> float:
        """Return Q̄(O): the plain mean of Q̄(c) over the operator's pool; 0 for an empty pool (Eq. 11)."""
        credits = [self.implementation_credit(c, epsilon) for c in sorted(pool)]
        return sum(credits) / len(credits) if credits else 0.0

    def operator_samples(self, pool: Iterable[ImplementationId]) -> int:
        """Return how often a candidate used an implementation of the operator's pool."""
        return sum(self.samples(c) for c in pool)

    def samples(self, implementation: ImplementationId) -> int:
        """Return n(c): the activations of the transitions into c."""
        return self._samples.get(implementation, 0)

    @cached_property
    def _samples(self) -> dict[ImplementationId, int]:
        found: dict[ImplementationId, int] = {}
        for transition, record in self.records.items():
            found[transition.target] = found.get(transition.target, 0) + record.activations
        return found

    def implementation_error(self, implementation: ImplementationId, rate: float) -> float | None:
        """Return the standard error of Q̄(c); ``None`` where nothing was sampled (`standard_error`)."""
        return standard_error(self._touching.get(implementation, ()), rate)

    def edge_samples(self, edge: Edge, pools: Pools) -> int:
        """Return the activations of the transitions between the pools of an edge's ends."""
        return sum(record.activations for record in self._along(edge, pools))

    def edge_error(self, edge: Edge, pools: Pools, rate: float) -> float | None:
        """Return the standard error of an edge's credit; ``None`` where nothing was sampled."""
        return standard_error(self._along(edge, pools), rate)

    def edge_credit(self, edge: Edge, pools: Pools, epsilon: float) -> float:
        """Return Q̄(O_i, O_j): the activation-weighted mean over the transitions between the two pools (Eq.
        14).

        ``START`` stands for c_start; edges into ``END`` carry no transitions and have credit 0. Under
        zero-order credit no transition knows its predecessor: an edge has the credit of its target's pool.
        """
        return _weighted_mean(self._along(edge, pools), epsilon)

    def _along(self, edge: Edge, pools: Pools) -> Iterator[TransitionRecord]:
        """Yield the records of the transitions along an edge, in their order."""
        source, target = edge
        sources = {START_IMPLEMENTATION} if source == START else set(pools.get(source, ()))
        sources.add(NO_CONTEXT)
        targets = set() if target == END else set(pools.get(target, ()))
        return (r for t, r in self.ordered if t.predecessor in sources and t.target in targets)


def standard_error(records: Iterable[TransitionRecord], rate: float) -> float | None:
    """Return the standard error of the activation-weighted mean of some credits; ``None`` for none.

    A credit is a moving average of n rewards of variance 1 (they are standardised): its variance is
    ``α/(2 − α) · (1 − (1 − α)^2n)``. Transitions are taken as independent, though those of one candidate
    share its reward; the true error is therefore no smaller than this.
    """
    variance, total = 0.0, 0
    for _, n in records:
        variance += n * n * rate / (2.0 - rate) * (1.0 - (1.0 - rate) ** (2 * n))
        total += n
    return math.sqrt(variance) / total if total else None


def _weighted_mean(records: Iterable[TransitionRecord], epsilon: float) -> float:
    weighted, total = 0.0, 0
    for record in records:
        weighted += record.activations * record.credit
        total += record.activations
    return weighted / (total + epsilon) if total else 0.0
