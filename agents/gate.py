"""The gate: new code is measured against its parent inside the incumbent before it joins a pool.

Both arms draw common random numbers on the same training instances. After half of them a child that is behind
by more than `gate_patience` standard errors is given up; of rivals (`gate_rivals`) only the best joins, if it
does not lose on all of them. What is decided here follows from the recorded evaluations alone.

References
----------
A. M. Law, "Simulation Modeling and Analysis", 5th edition, 2015, Section 11.2 (common random numbers).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dga2d.agents.agent import open_basis
from dga2d.agents.conductor import instances_to_compare_on
from dga2d.agents.pool_edits import edit_of, parent_of
from dga2d.agents.spreading import spread_order
from dga2d.agents.trial_walks import fill, replace_implementation, walk_through
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads import OperatorProposed, Step, TransitionCredit
from dga2d.replay.state.credit import TransitionRecord
from dga2d.replay.state.generation_state import GenerationState, Proposal
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.outcomes import EvaluationKey
from dga2d.replay.state.run_state import RunState, TriedCode
from dga2d.replay.streams import stream

MOST_REWARD = 3.0
"""Largest reward that a measurement brings new code: standardised gains of a few instances can be huge."""


class GateResult(NamedTuple):
    """The outcome of a measurement."""

    gains: tuple[float | None, ...]
    """Gap of the parent less that of the child, by instance as far as measured; ``None`` where the child
    failed."""
    loses: bool

    @property
    def mean(self) -> float | None:
        """The mean gain; ``None`` where the child failed."""
        known = [gain for gain in self.gains if gain is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(self.gains) else None


def is_gated(state: RunState) -> bool:
    """Return whether new code is measured before it joins."""
    return state.settings.gate_instances > 0


# ---------------------------------------------------------------- what is measured


def gate_instances(state: RunState) -> tuple[InstanceKey, ...]:
    """Return the training instances of the open generation's gate, spread over groups and names."""
    draws = stream(state.header.seed, "gate", open_basis(state)[0].number)
    keys = instances_to_compare_on(state, draws)
    start = int(draws.integers(len(keys)))
    order = [keys[(start + i) % len(keys)] for i in spread_order(len(keys))]
    return tuple(order[: state.settings.gate_instances])


def gate_program(state: RunState, operator: OperatorId, parent: ImplementationId) -> tuple[Step, ...]:
    """Return the program in which children of `parent` are measured, with the parent itself.

    The incumbent, where the operator is part of it; else the nearest walk of the graph that passes it.
    """
    basis, program = open_basis(state)[1], incumbent(state)
    if all(step.operator != operator for step in program):
        base = tuple(step.operator for step in program)
        walk = walk_through(basis.graph, base, operator, state.settings.max_length)
        walk = walk or basis.graph.route_through(operator)
        program = fill(walk, program, basis.pools, basis.credits)
    return replace_implementation(program, operator, parent)


def control_number(state: RunState, slot: int, parent: ImplementationId) -> int:
    """Return the candidate number of the parent's arm for a slot; slots with the same arm share it.

    Children are numbered as their slots, arms of the slots' usual parents behind them, and arms of other
    parents (of configurations) behind those.
    """
    count = open_basis(state)[1].implementation_slots
    program = _usual_program(state, slot)
    if program is None or program != _program_with(state, slot, parent):
        return 2 * count + slot
    return count + next(s for s in range(slot + 1) if _usual_program(state, s) == program)


def _usual_program(state: RunState, slot: int) -> tuple[Step, ...] | None:
    edit = edit_of(state, slot)
    if edit is None or edit.kind in ("keep", "delete"):
        return None
    return gate_program(state, edit.operator, parent_of(open_basis(state)[1], edit, state.settings.epsilon))


def _program_with(state: RunState, slot: int, parent: ImplementationId) -> tuple[Step, ...] | None:
    edit = edit_of(state, slot)
    return None if edit is None else gate_program(state, edit.operator, parent)


def operator_arms(state: RunState) -> tuple[int, int]:
    """Return the candidate numbers of the incumbent with a new operator and without it: behind all others."""
    first = 3 * open_basis(state)[1].implementation_slots
    return first, first + 1


def _all_proposals(generation: GenerationState) -> list[Proposal]:
    """Return what the gate measures in a generation: implementations, and a new operator."""
    last = generation.operator_proposal
    return [*generation.proposals.values(), *([] if last is None else [last])]


def gated_steps(state: RunState, candidate: int) -> tuple[Step, ...]:
    """Return the algorithm evaluated under a candidate number of the gate."""
    for proposal in _all_proposals(open_basis(state)[0]):
        if candidate == proposal.control:
            return proposal.program
        if candidate == proposal.slot:
            return _child_program(proposal)
    raise KeyError(candidate)


def _child_program(proposal: Proposal) -> tuple[Step, ...]:
    """Return the program of the gate with what is proposed."""
    if proposal.extended:
        return proposal.extended
    return replace_implementation(proposal.program, proposal.operator, proposal.implementation)


def awaited_evaluations(state: RunState) -> Iterator[tuple[int, EvaluationKey]]:
    """Yield what the gate still has to evaluate, each once, with the event that asks for it."""
    generation = open_basis(state)[0]
    seen: set[EvaluationKey] = set()
    first: dict[int, int] = {}  # by control arm: the proposal that asked for it first
    proposals = sorted(_all_proposals(generation), key=lambda p: p.seq)
    for proposal in proposals:
        first.setdefault(proposal.control, proposal.seq)
    for proposal in proposals:
        if proposal.slot in generation.implementation_verdicts:
            continue
        if proposal.extended and generation.operator_verdict:
            continue
        for key in _missing(state, proposal):
            if key not in seen:
                seen.add(key)
                yield first.get(key[0], proposal.seq), key


def evidence(state: RunState) -> Mapping[tuple[Step, ...], tuple[float, ...]]:
    """Return what joined in the open generation and was measured inside the incumbent: the program with it,
    and its gains by instance. Nothing without `race_evidence`."""
    found: dict[tuple[Step, ...], tuple[float, ...]] = {}
    if not state.settings.race_evidence:
        return found
    program = incumbent(state)
    for proposal in _all_proposals(open_basis(state)[0]):
        is_member = proposal.implementation in state.pools.get(proposal.operator, ())
        if is_member and proposal.program == program and is_measured(state, proposal):
            gains = gate_result(state, proposal).gains
            found[_child_program(proposal)] = tuple(gain for gain in gains if gain is not None)
    return found


def is_measured(state: RunState, proposal: Proposal) -> bool:
    """Return whether the gate has seen enough of a proposal."""
    return next(_missing(state, proposal), None) is None


def _missing(state: RunState, proposal: Proposal) -> Iterator[EvaluationKey]:
    outcomes = open_basis(state)[0].gate_outcomes
    for part in _parts(proposal.instances):
        keys = [(arm, key) for key in part for arm in (proposal.control, proposal.slot)]
        missing = [key for key in keys if key not in outcomes]
        yield from missing
        if missing or _result(state, proposal, part).loses:
            return


def _parts(instances: Sequence[InstanceKey]) -> tuple[Sequence[InstanceKey], ...]:
    half = (len(instances) + 1) // 2
    return tuple(part for part in (instances[:half], instances) if part)


# ---------------------------------------------------------------- what follows from it


def gate_result(state: RunState, proposal: Proposal) -> GateResult:
    """Return what the measurement of a proposal came to; it must be measured."""
    first, *rest = _parts(proposal.instances)
    result = _result(state, proposal, first)
    return result if result.loses or not rest else _result(state, proposal, rest[0])


def _result(state: RunState, proposal: Proposal, instances: Sequence[InstanceKey]) -> GateResult:
    outcomes, worst = open_basis(state)[0].gate_outcomes, -state.settings.failure_reward

    def gap(arm: int, key: InstanceKey) -> float | None:
        objective = outcomes[arm, key].objective
        if objective is None:
            return None
        entry = state.entry(key)
        return min(normalised_gap(objective, entry.reference, state.header.sense, entry.scale), worst)

    gains: list[float | None] = []
    for key in instances:
        before, after = gap(proposal.control, key), gap(proposal.slot, key)
        gains.append(None if after is None else (worst if before is None else before) - after)
    result = GateResult(tuple(gains), False)
    is_half = len(instances) < len(proposal.instances)
    slack = state.settings.gate_patience * _standard_error(gains) if is_half else 0.0
    return result._replace(loses=result.mean is None or result.mean < -slack)


def _standard_error(gains: Sequence[float | None]) -> float:
    """Return that of the mean of the gains that are known; 0 where one alone is."""
    known = [gain for gain in gains if gain is not None]
    return statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else 0.0


def loss(result: GateResult, best: Proposal | None) -> str:
    """Return why measured code does not join."""
    if result.mean is None:
        return "it failed on an instance that it was measured on"
    gains = ", ".join("failed" if gain is None else f"{100 * gain:+.3f}" for gain in result.gains)
    told = f"{100 * result.mean:+.3f} points against its parent ({gains})"
    if result.loses or best is None:
        return f"it lost: {told}"
    return f"{best.implementation} of the same generation gained more; this one {told}"


def tried_before(state: RunState, operator: OperatorId) -> tuple[TriedCode, ...]:
    """Return what earlier generations measured for an operator, the oldest first."""
    number = open_basis(state)[0].number
    return tuple(t for t in state.tried.get(operator, ()) if t.generation < number)


def best_rival(state: RunState, proposal: Proposal) -> Proposal | None:
    """Return the proposal of this generation that gained most among a proposal and its rivals; ``None`` if
    all lose.

    Of equal ones that of the smaller slot.
    """
    ranked = []
    for rival in _rivals(state, proposal):
        result = gate_result(state, rival)
        if result.mean is not None and not result.loses:
            ranked.append((-result.mean, rival.slot, rival))
    return min(ranked, key=lambda row: row[:2])[2] if ranked else None


def _rivals(state: RunState, proposal: Proposal) -> list[Proposal]:
    """Return the proposals of this generation of which at most one joins, the given one among them."""
    generation, basis = open_basis(state)
    rivals = [other for other in generation.proposals.values() if other.operator == proposal.operator]
    if state.settings.gate_rivals == "operator":
        return rivals
    width = basis.slots_per_edit
    return [other for other in rivals if other.slot // width == proposal.slot // width]


def gate_credits(state: RunState, proposal: Proposal, result: GateResult) -> tuple[TransitionCredit, ...]:
    """Return the credits with which measured code begins: those of its parent in the program of the gate,
    each updated once with the standardised mean gain as the reward."""
    reward = _reward(state, result)
    rate, table = state.settings.credit_rate, open_basis(state)[1].credits
    new = replace_implementation(proposal.program, proposal.operator, proposal.implementation)
    found: dict[tuple[ImplementationId, ImplementationId], TransitionRecord] = {}
    for place, (old_step, new_step) in enumerate(zip(proposal.program, new, strict=True)):
        target = new_step.implementation
        source = table.source_after([step.implementation for step in new[:place]])
        parent = table.source_after([step.implementation for step in proposal.program[:place]])
        if (source, target) != (parent, old_step.implementation):
            before = table.credit(parent, old_step.implementation)
            found[source, target] = TransitionRecord((1.0 - rate) * before + rate * reward, 1)
    return _as_credits(found)


def operator_credits(
    state: RunState, proposed: OperatorProposed, result: GateResult
) -> tuple[TransitionCredit, ...]:
    """Return the credits with which a new operator begins: of the transitions that it brought to the
    incumbent, each updated once with the standardised mean gain as the reward."""
    reward, rate, table = _reward(state, result), state.settings.credit_rate, state.credits
    names = [step.implementation for step in proposed.program]
    before = {(table.source_after(names[:i]), name) for i, name in enumerate(names)}
    found: dict[tuple[ImplementationId, ImplementationId], TransitionRecord] = {}
    names = [step.implementation for step in proposed.extended]
    for place, target in enumerate(names):
        source = table.source_after(names[:place])
        if (source, target) not in before:
            old = table.credit(source, target)
            found[source, target] = TransitionRecord((1.0 - rate) * old + rate * reward, 1)
    return _as_credits(found)


def _reward(state: RunState, result: GateResult) -> float:
    """Return the standardised mean gain, which must be known."""
    assert result.mean is not None
    return min(MOST_REWARD, result.mean / (_standard_error(result.gains) + state.settings.epsilon))


def _as_credits(
    found: Mapping[tuple[ImplementationId, ImplementationId], TransitionRecord],
) -> tuple[TransitionCredit, ...]:
    return tuple(
        TransitionCredit(source=s, target=t, credit=r.credit, activations=r.activations)
        for (s, t), r in sorted(found.items())
    )
