"""Which operator an implementation slot treats, and what happens to its pool.

References
----------
DGA2D paper, Section 3.5, Eqs. 10–12, and Algorithm 2, lines 4–17: the slots that credit fills. The others go
to the operators of the incumbent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from dga2d.agents.agent import open_basis
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.generation_state import EvolutionBasis
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import OPERATOR_SLOT, Contribution, RunState
from dga2d.replay.streams import choose, stream


class PoolEdit(NamedTuple):
    """What is decided for one operator."""

    kind: Literal["delete", "add", "replace", "keep"]
    operator: OperatorId
    worst: ImplementationId
    """c⁻: the lowest credit among the members that may be removed, if any may, and of all otherwise."""
    parent: ImplementationId | None = None
    """The implementation to improve on; ``None`` for that of the highest credit."""


class PoolTicket(NamedTuple):
    """What code was asked for that a later generation takes."""

    operator: OperatorId
    parent: ImplementationId
    """The implementation to improve on."""


NOTHING_KEPT: frozenset[ImplementationId] = frozenset()


def pool_edit(
    basis: EvolutionBasis,
    slot: int,
    pool_limit: int,
    epsilon: float,
    is_judged: Callable[[OperatorId], bool] = lambda operator: True,
    kept: Collection[ImplementationId] = NOTHING_KEPT,
) -> PoolEdit | None:
    """Return the edit of the `slot`-th lowest-credit operator that is judged; ``None`` beyond the last.

    Of operators with equal credit the smaller id comes first. Members `kept` are not removed.
    """
    ranked = sorted(
        (basis.credits.operator_credit(basis.pools[operator], epsilon), operator)
        for operator in basis.graph.operators
        if is_judged(operator)
    )
    if slot >= len(ranked):
        return None
    credit, operator = ranked[slot]
    pool = basis.pools[operator]
    worst = lowest_credit(basis, pool, epsilon, kept)
    if credit >= 0:
        is_deleted = len(pool) > 1 and worst not in kept
        return PoolEdit("delete" if is_deleted else "keep", operator, worst)
    return PoolEdit("add" if len(pool) < pool_limit else "replace", operator, worst)


def lowest_credit(
    basis: EvolutionBasis,
    pool: Collection[ImplementationId],
    epsilon: float,
    kept: Collection[ImplementationId],
) -> ImplementationId:
    """Return c⁻ of a pool: the lowest credit among those that are not kept, of all where all are kept."""
    free = [c for c in pool if c not in kept] or pool
    return min(free, key=lambda c: (basis.credits.implementation_credit(c, epsilon), c))


def parent_of(basis: EvolutionBasis, edit: PoolEdit, epsilon: float) -> ImplementationId:
    """Return the implementation to improve on: that of the edit, or the highest credit of the pool."""
    if edit.parent is not None:
        return edit.parent
    pool = basis.pools[edit.operator]
    return max(pool, key=lambda c: (basis.credits.implementation_credit(c, epsilon), c))


def edit_of(state: RunState, slot: int) -> PoolEdit | None:
    """Return the edit of a slot of the open generation; ``None`` where no operator is left for it.

    It is the same whatever verdicts of the generation are in the log.
    """
    basis, settings = open_basis(state)[1], state.settings
    if (ticket := landing_ticket(state, slot)) is not None:
        return _landing_edit(state, ticket)
    number, answer = divmod(slot, basis.slots_per_edit)
    if number >= basis.edits:
        return _incumbent_edit(state, number)
    edit = pool_edit(
        basis,
        number,
        settings.pool_limit,
        settings.epsilon,
        lambda operator: _may_be_judged(state, operator),
        kept_members(state),
    )
    if answer and edit is not None and edit.kind == "delete":  # the first slot of the edit does it
        return edit._replace(kind="keep")
    return edit


def landing_ticket(state: RunState, slot: int) -> PoolTicket | None:
    """Return what the answer is for that a slot takes; ``None`` where the slot asks for one."""
    call = open_basis(state)[1].landing_call("implement", slot)
    ticket = None if call is None else state.ledger.calls[call].ticket
    if ticket is None:
        return None
    assert ticket.operator is not None
    assert ticket.parent is not None
    return PoolTicket(ticket.operator, ticket.parent)


def _landing_edit(state: RunState, ticket: PoolTicket) -> PoolEdit:
    """Return the edit for which code was asked in an earlier generation; `stale_reason` says if it still
    fits."""
    basis, settings = open_basis(state)[1], state.settings
    pool = basis.pools.get(ticket.operator, ())
    parent = _successor(state, ticket)
    if parent is None:
        return PoolEdit("keep", ticket.operator, ticket.parent)
    worst = lowest_credit(basis, pool, settings.epsilon, kept_members(state))
    return PoolEdit("add" if len(pool) < settings.pool_limit else "replace", ticket.operator, worst, parent)


def stale_reason(state: RunState, slot: int) -> str | None:
    """Return why the edit whose answer a slot takes no longer fits; ``None`` where it does, or the slot takes
    none."""
    ticket, basis = landing_ticket(state, slot), open_basis(state)[1]
    if ticket is None:
        return None
    if ticket.operator not in basis.graph.operators:
        return f"{ticket.operator} has left the graph"
    if _successor(state, ticket) is None:
        return f"{ticket.parent}, which it was to improve on, has left the pool"
    pool = basis.pools[ticket.operator]
    if len(pool) >= state.settings.pool_limit and kept_members(state).issuperset(pool):
        return f"the pool of {ticket.operator} is full, and nothing may leave it"
    return None


def _successor(state: RunState, ticket: PoolTicket) -> ImplementationId | None:
    """Return the implementation that an edit was to improve on, or what took its place with other constants;
    ``None`` where neither is in the pool."""
    pool = open_basis(state)[1].pools.get(ticket.operator, ())
    parent = state.successor(ticket.parent)
    if parent in pool:
        return parent
    text = state.unconfigured(parent)
    return next((c for c in pool if state.unconfigured(c) == text), None)


def edit_to_ask(state: RunState, slot: int) -> PoolEdit:
    """Return the edit of a slot that asks a model; it must have one."""
    edit = edit_of(state, slot)
    assert edit is not None
    return edit


def rank_among_askers(state: RunState, slot: int) -> tuple[int, int]:
    """Return which of the slots that ask for code of its operator a slot is, from 1, and how many ask. Turns
    of one proposal count as one; answers in flight come first."""
    (generation, basis), own = open_basis(state), edit_of(state, slot)
    flying = [state.ledger.calls[number] for number in state.ledger.in_flight]
    before = sum(
        call.ticket is not None
        and own is not None
        and call.ticket.operator == own.operator
        and call.generation != generation.number
        for call in flying
    )
    if slot >= basis.asking_slots:  # a rejected answer is asked for again
        return before + 1, before + 1
    edits = {s: edit_of(state, s) for s in range(0, basis.asking_slots, basis.turns)}
    slot -= slot % basis.turns
    own = edits[slot]
    askers = [
        number
        for number, edit in edits.items()
        if edit is not None and own is not None and edit.operator == own.operator and is_asked_for(edit)
    ]
    return before + askers.index(slot) + 1, before + len(askers)


def is_asked_for(edit: PoolEdit) -> bool:
    """Return whether an edit needs code of a model."""
    return edit.kind in ("add", "replace")


def kept_members(state: RunState) -> frozenset[ImplementationId]:
    """Return what stays in its pool: what waits for its samples and, where edits go to the incumbent, its
    implementations."""
    steps = incumbent(state) if open_basis(state)[1].incumbent_edits else ()
    return frozenset(step.implementation for step in steps) | _waiting(state)


def _waiting(state: RunState) -> frozenset[ImplementationId]:
    """Return the implementations of earlier generations that have not had their samples."""
    number = open_basis(state)[0].number
    return frozenset(
        t.implementation for t in state.owed_trials if t.implementation is not None and t.generation < number
    )


def _is_offered(state: RunState, operator: OperatorId) -> bool:
    """Return whether code may be asked for an operator: it is on a walk, where that is set, it does not rest,
    and nothing of its pool waits for samples."""
    basis, settings = open_basis(state)[1], state.settings
    on_walk = settings.edit_scope == "graph" or operator in basis.graph.on_walks(settings.max_length)
    return on_walk and not _rests(state, operator) and _waiting(state).isdisjoint(basis.pools[operator])


def _rests(state: RunState, operator: OperatorId) -> bool:
    """Return whether a model would change nothing about an operator lately, and its pool is still the same.

    Where others had code that was measured in that generation there may be more.
    """
    (generation, basis), tried = open_basis(state), state.tried.get(operator, ())
    before = [d for d in state.declined.get(operator, ()) if d.generation < generation.number]
    if not before or generation.number - before[-1].generation > state.settings.no_change_rest:
        return False
    has_code = any(code.generation == before[-1].generation for code in tried)
    return not has_code and before[-1].pool == basis.pools[operator]


def _may_be_judged(state: RunState, operator: OperatorId) -> bool:
    basis = open_basis(state)[1]
    samples = basis.credits.operator_samples(basis.pools[operator])
    return samples >= state.settings.min_samples and _is_offered(state, operator)


def _incumbent_edit(state: RunState, slot: int) -> PoolEdit | None:
    """Draw an operator of the incumbent, in proportion to what it accounts for; slots draw with
    replacement."""
    (generation, basis), settings = open_basis(state), state.settings
    program = incumbent(state)
    if slot == basis.edits and (banked := _banked_operator(state)) is not None:
        return PoolEdit(
            "add" if len(basis.pools[banked]) < settings.pool_limit else "replace",
            banked,
            lowest_credit(basis, basis.pools[banked], settings.epsilon, kept_members(state)),
        )
    found = [(o, w) for o, w in operator_weights(state).items() if _is_offered(state, o)]
    if not found:
        return None
    total = sum(weight for _, weight in found)
    draw = stream(state.header.seed, "edit", generation.number, slot)
    operator = found[choose([weight / total for _, weight in found], float(draw.random()))][0]
    pool = basis.pools[operator]
    parents = [s.implementation for s in program if s.operator == operator and s.implementation in pool]
    if parents and settings.edit_parent == "descendant":
        parents[0] = best_descendant(state, operator, parents[0])
    return PoolEdit(
        "add" if len(pool) < settings.pool_limit else "replace",
        operator,
        lowest_credit(basis, pool, settings.epsilon, kept_members(state)),
        parents[0] if parents else None,
    )


def _banked_operator(state: RunState) -> OperatorId | None:
    """Return the operator outside the incumbent that the bank holds the best code for, of what was not
    offered in an earlier generation; ``None`` once `bank_operators` of them had their turn, or where there is
    none.
    """
    number, inside = open_basis(state)[0].number, {step.operator for step in incumbent(state)}
    earlier = [o for o in state.offers if o.generation < number and o.slot != OPERATOR_SLOT]
    if len({o.operator for o in earlier} - inside) >= state.settings.bank_operators:
        return None
    made = {(o.entry, o.operator) for o in earlier}
    often = Counter(o.operator for o in earlier)
    for place, entry in enumerate(state.header.bank or ()):
        operator = entry.operator
        is_open = entry.domain == state.header.domain and (place, operator) not in made
        is_open &= often[operator] < state.settings.bank_offers
        outside = operator in open_basis(state)[1].graph.operators and operator not in inside
        if is_open and outside and _is_offered(state, operator):
            return operator
    return None


def best_descendant(state: RunState, operator: OperatorId, ancestor: ImplementationId) -> ImplementationId:
    """Return the end of the chain of best children of an implementation, or the implementation itself.

    A child counts where it is in its pool and the gate measured it as better than its parent by more than a
    standard error.
    """
    pool = open_basis(state)[1].pools[operator]
    children: dict[ImplementationId, list[tuple[float, ImplementationId]]] = {}
    for tried in state.tried.get(operator, ()):
        name = state.successor(tried.implementation)
        gain = _sure_gain(tried.gains)
        if tried.is_accepted and name in pool and gain > 0.0:
            children.setdefault(state.successor(tried.parent), []).append((gain, name))
    best, seen = ancestor, {ancestor}
    while found := [(gain, name) for gain, name in children.get(best, ()) if name not in seen]:
        best = max(found)[1]
        seen.add(best)
    return best


def _sure_gain(gains: Sequence[float | None]) -> float:
    """Return the mean of paired gains, 0 where one failed or it is within its standard error."""
    known = [gain for gain in gains if gain is not None]
    if len(known) < max(2, len(gains)):
        return 0.0
    mean = math.fsum(known) / len(known)
    error = math.sqrt(math.fsum((gain - mean) ** 2 for gain in known) / (len(known) - 1) / len(known))
    return mean if mean > error else 0.0


def operator_weights(state: RunState) -> dict[OperatorId, float]:
    """Return the operators of the incumbent that are in the graph, each with a weight above 0.

    The weight is the mean share of the effort plus that of the improvement that its implementations had in
    the evaluations of training so far, or that which it configures had; those never evaluated have the mean
    weight of the others.
    """
    basis = open_basis(state)[1]
    steps = [step for step in incumbent(state) if step.operator in basis.graph.operators]
    shares = [contribution(state, step.implementation) for step in steps]
    known = [(s.effort + s.gain) / s.runs for s in shares if s.runs]
    usual = sum(known) / len(known) if sum(known) > 0.0 else 1.0
    weights: dict[OperatorId, float] = {}
    for step, share in zip(steps, shares, strict=True):
        weight = (share.effort + share.gain) / share.runs if share.runs else usual
        weights[step.operator] = weights.get(step.operator, 0.0) + max(weight, 0.01 * usual)
    return weights


def contribution(state: RunState, implementation: ImplementationId) -> Contribution:
    """Return what an implementation, or the one it configures, has contributed in training so far."""
    found = state.contributions.get(implementation)
    if found is None and implementation in state.configured:
        return contribution(state, state.configured[implementation])
    return found or Contribution(0.0, 0.0, 0)
