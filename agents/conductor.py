"""Conductor: opens and closes generations and ends the run.

`GENERATION` is the whole loop on one page: who writes what after what. Each agent knows its own rows alone; a
test holds the table against the logs of simulated runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dga2d.agents.agent import Decision, Duty, GenerationDuty, present_graph
from dga2d.agents.comparison import calls_between_validations
from dga2d.agents.methods import method_end
from dga2d.agents.ports import EventAppender
from dga2d.agents.spreading import spread, spread_copies
from dga2d.agents.work_calibration import seconds_of_work
from dga2d.events import AgentName, Draft, InstanceKey, Payload
from dga2d.events import payloads as p
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import stream

LEAST_PAIRS = 33
"""Pairs of a validation whose size is not set, where validations are pooled."""


class Turn(NamedTuple):
    """A kind of event in a generation: whose turn it is, and after what."""

    event: str
    """Type; of evaluations with the split."""
    writer: AgentName
    after: tuple[str, ...]
    """What the event may answer (``caused_by``)."""
    number: str
    """How many of them there are."""


TRAINED, VALIDATED = "EvaluationRecorded (train)", "EvaluationRecorded (validation)"
RACED, GATED = "EvaluationRecorded (race)", "EvaluationRecorded (gate)"
IMPLEMENTATION_VERDICTS = (
    "ImplementationAdded",
    "ImplementationReplaced",
    "ImplementationDeleted",
    "ImplementationsKept",
    "ImplementationRejected",
)
GATE = ("ImplementationProposed", "ImplementationMeasured")
EDGE_VERDICTS = ("EdgeReplaced", "EdgesKept", "EdgeRejected")
OPERATOR_VERDICTS = ("OperatorAdded", "OperatorsKept", "OperatorRejected")
_VERDICTS = (*IMPLEMENTATION_VERDICTS, *EDGE_VERDICTS)
# What asks for a call: the credits, at first; then the answer refused before or the call lost before. Edges
# are treated one slot after the other, so the verdict on the slot before comes in as well.
_IMPLEMENT = ("CreditsUpdated", "ImplementationRejected", "LLMCallAbandoned", "ImplementationProposed")
_CONNECT = ("CreditsUpdated", *EDGE_VERDICTS, "LLMCallAbandoned", "LLMCallReserved")
_CALLED, _ENDED = ("LLMCallReserved",), ("LLMCallSettled",)
_PROPOSED = ("ImplementationProposed",)
_SETTLED = (*_ENDED, *_PROPOSED)
_OPERATOR = ("CreditsUpdated", "PolicyUpdated", *_VERDICTS, "OperatorRejected", "LLMCallAbandoned", *_CALLED)
_OPERATOR_PROPOSED = ("OperatorProposed",)
_OPERATOR_SETTLED = (*_ENDED, *_OPERATOR_PROPOSED)
KERNEL_VERDICTS = ("KernelReplaced", "KernelsKept", "KernelRejected")
_BEFORE_KERNEL = ("CreditsUpdated", "PolicyUpdated", *_VERDICTS, *OPERATOR_VERDICTS, *_CALLED)
_KERNEL = ("KernelChosen", "KernelRejected", "LLMCallAbandoned")
_RESUMED = ("RunResumed", "RunForked")
# Under `edit_lag` a slot is done when its answer is asked for; the next slot of edges comes after that.
_EDITED = (*_BEFORE_KERNEL, *KERNEL_VERDICTS)

GENERATION: tuple[Turn, ...] = (
    Turn("GenerationStarted", "conductor", ("GraphInitialized", "GenerationCompleted", *_RESUMED), "1"),
    # The policy walks the graph; implementations are drawn by credit. All candidates meet the same instances.
    Turn("PipelineSampled", "pipeline_sampler", ("GenerationStarted",), "1 per candidate"),
    # Under a work budget, what a unit of an implementation is worth is measured before its first evaluation.
    Turn("WorkRateMeasured", "evaluator_pool", ("RunStarted", *_RESUMED), "1 per new implementation"),
    Turn(TRAINED, "evaluator_pool", ("PipelineSampled",), "1 per candidate and instance of the batch"),
    Turn("CandidateScored", "credit_keeper", (TRAINED,), "1 per candidate, after the last evaluation"),
    Turn("GenerationScored", "credit_keeper", (TRAINED,), "1: scores standardised as rewards"),
    Turn("CreditsUpdated", "credit_keeper", (TRAINED,), "1: the three are appended together"),
    # Three agents go on at the same time. The policy learns from the rewards.
    Turn("PolicyUpdated", "pipeline_sampler", ("GenerationScored",), "1"),
    Turn("PolicyCheckpointed", "pipeline_sampler", ("GenerationScored",), "1, if it is saved to files"),
    # Implementations: slots for operators of lowest credit and of the incumbent, all at once.
    Turn("ImplementationDeleted", "implementation_evolver", ("CreditsUpdated",), "≤ 1 per slot, by rule"),
    Turn("LLMCallReserved", "implementation_evolver", _IMPLEMENT, "≤ attempts_per_edit per slot"),
    Turn("LLMCallRefused", "implementation_evolver", _IMPLEMENT, "≤ 1 per slot, at a limit"),
    Turn("LLMCallSettled", "implementation_evolver", _CALLED, "≤ 1 per call"),
    Turn("LLMCallAbandoned", "implementation_evolver", (*_CALLED, *_RESUMED), "1 per call not settled"),
    # Where there is a gate, what runs is measured against its parent first.
    Turn("ImplementationProposed", "implementation_evolver", _ENDED, "≤ 1 per slot, if there is a gate"),
    Turn(GATED, "evaluator_pool", (*_PROPOSED, *_OPERATOR_PROPOSED), "≤ 1 per arm and instance"),
    Turn("ImplementationMeasured", "implementation_evolver", _PROPOSED, "1 per proposal"),
    Turn("ImplementationRejected", "implementation_evolver", _SETTLED, "1 per answer of no use"),
    Turn("ImplementationAdded", "implementation_evolver", _SETTLED, "≤ 1 per slot"),
    Turn("ImplementationReplaced", "implementation_evolver", _SETTLED, "≤ 1 per slot, if the pool is full"),
    Turn(
        "ImplementationsKept",
        "implementation_evolver",
        ("CreditsUpdated", "LLMCallRefused", *_IMPLEMENT[1:]),
        "≤ 1 per slot: nothing to edit, or no further call",
    ),
    # Edges: one slot per edge of lowest credit, one after the other.
    Turn("LLMCallReserved", "edge_evolver", _CONNECT, "≤ attempts_per_edit per slot"),
    Turn("LLMCallRefused", "edge_evolver", _CONNECT, "≤ 1 per slot, at a limit"),
    Turn("LLMCallSettled", "edge_evolver", _CALLED, "≤ 1 per call"),
    Turn("LLMCallAbandoned", "edge_evolver", (*_CALLED, *_RESUMED), "1 per call not settled"),
    Turn("EdgeRejected", "edge_evolver", _ENDED, "1 per answer of no use"),
    Turn("EdgeReplaced", "edge_evolver", _ENDED, "≤ 1 per slot"),
    Turn("EdgesKept", "edge_evolver", ("LLMCallRefused", *_CONNECT), "≤ 1 per slot"),
    # When every slot has its verdict and the policy has learned: an operator that the graph lacks, if one is
    # asked for.
    Turn("LLMCallReserved", "operator_evolver", _OPERATOR, "≤ attempts_per_edit"),
    Turn("LLMCallRefused", "operator_evolver", _OPERATOR, "≤ 1, at a limit"),
    Turn("LLMCallSettled", "operator_evolver", _CALLED, "≤ 1 per call"),
    Turn("LLMCallAbandoned", "operator_evolver", (*_CALLED, *_RESUMED), "1 per call not settled"),
    Turn("OperatorProposed", "operator_evolver", (*_ENDED, *_OPERATOR), "≤ 1; without a call: of the bank"),
    Turn("OperatorRetired", "operator_evolver", _OPERATOR_PROPOSED, "≤ 1, if the graph is full"),
    Turn("OperatorAdded", "operator_evolver", _OPERATOR_PROPOSED, "≤ 1"),
    Turn(
        "OperatorRejected",
        "operator_evolver",
        (*_OPERATOR_SETTLED, *_OPERATOR),
        "1 per answer or offer of no use",
    ),
    Turn("OperatorsKept", "operator_evolver", ("LLMCallRefused", *_OPERATOR), "≤ 1"),
    # A faster version of a function that implementations share, if one is asked for.
    Turn("KernelChosen", "kernel_evolver", _BEFORE_KERNEL, "≤ 1"),
    Turn("LLMCallReserved", "kernel_evolver", _KERNEL, "≤ attempts_per_edit"),
    Turn("LLMCallRefused", "kernel_evolver", _KERNEL, "≤ 1, at a limit"),
    Turn("LLMCallSettled", "kernel_evolver", _CALLED, "≤ 1 per call"),
    Turn("LLMCallAbandoned", "kernel_evolver", (*_CALLED, *_RESUMED), "1 per call not settled"),
    Turn("KernelMeasured", "kernel_evolver", _ENDED, "1 per answer that keeps the rules"),
    Turn("KernelRejected", "kernel_evolver", (*_ENDED, "KernelMeasured"), "1 per answer of no use"),
    Turn("KernelReplaced", "kernel_evolver", ("KernelMeasured",), "≤ 1"),
    Turn("KernelsKept", "kernel_evolver", ("LLMCallRefused", *_BEFORE_KERNEL, *_KERNEL), "≤ 1"),
    # Then programs near the incumbent race against it.
    Turn("RaceStarted", "racer", _EDITED, "1, if there are races"),
    Turn(RACED, "evaluator_pool", ("RaceStarted", "RaceRoundScored"), "1 per contender left and instance"),
    Turn("RaceRoundScored", "racer", (RACED,), "1 per round, while contenders are left"),
    Turn("IncumbentSelected", "racer", ("RaceStarted", "RaceRoundScored"), "1 per race"),
    # Every I_val generations, and at the end.
    Turn("ValidationStarted", "conductor", (*_EDITED, "IncumbentSelected"), "1, if due"),
    Turn("PipelinesDecoded", "pipeline_sampler", ("ValidationStarted",), "1 per validation"),
    Turn(VALIDATED, "evaluator_pool", ("PipelinesDecoded",), "1 per pipeline and instance"),
    Turn("ChallengersCompared", "validator", (VALIDATED,), "1 per validation, if validations are pooled"),
    Turn("CheckpointSelected", "validator", (VALIDATED,), "≤ 1 per validation"),
    Turn("ValidationScored", "validator", (VALIDATED,), "1 per validation, together with the checkpoint"),
    Turn(
        "GenerationCompleted",
        "conductor",
        ("ValidationScored", *_EDITED, "IncumbentSelected"),
        "1, with a digest of the whole state",
    ),
)
"""The events of generation t in the order in which they appear, if no two agents worked at the same time."""


class StartGeneration(GenerationDuty):
    """Open the next generation."""


class StartValidation(GenerationDuty):
    """Begin the validation of a generation in which everyone has spoken."""


class CompleteGeneration(GenerationDuty):
    """Close a generation."""


@dataclass(frozen=True)
class CompleteRun(Duty):
    """End the run."""

    reason: str


ConductorDuty = StartGeneration | StartValidation | CompleteGeneration | CompleteRun


class Conductor:
    """Owns the beginning and end of generations, validations and the run."""

    name: AgentName = "conductor"

    def __init__(self, log: EventAppender, meter: Callable[[], p.ProcessUse] | None = None) -> None:
        self._log = log
        self._meter = meter

    def duties(self, state: RunState) -> Sequence[ConductorDuty]:
        return duties(state)

    async def perform(self, duty: ConductorDuty, state: RunState) -> None:
        used = self._meter() if self._meter and isinstance(duty, CompleteGeneration) else None
        await self._log.append(*decide(state, duty, used))


def duties(state: RunState) -> tuple[ConductorDuty, ...]:
    """Return the next step of the run; nothing while others have to speak first."""
    if state.status != "running" or state.graph is None:
        return ()
    generation = state.generation
    if generation is None:
        cause = max(state.completed_seq if state.completed else state.graph_seq, state.process_seq)
        reason = end_reason(state)
        next_one = StartGeneration(cause, state.completed + 1)
        return (next_one if reason is None else CompleteRun(cause, reason),)
    closed = edits_closed(generation)
    if closed is None or race_is_due(state):
        return ()
    if generation.race is not None:
        if not generation.race.selected_seq:
            return ()
        closed = generation.race.selected_seq
    number, validation = generation.number, generation.validation
    if validation_is_due(state, number):
        if validation is None:
            return (StartValidation(closed, number),)
        if validation.scores is None:
            return ()
        closed = max(closed, validation.scored_seq)
    return (CompleteGeneration(closed, number),)


def decide(state: RunState, duty: ConductorDuty, used: p.ProcessUse | None = None) -> Decision:
    """Return the event that fulfils a duty; `used` is what was measured at the end of a generation."""
    payload: Payload
    match duty:
        case StartGeneration(number=number):
            payload = p.GenerationStarted(
                generation=number,
                graph_digest=graph_digest(present_graph(state)),
                pools_digest=pools_digest(state.pools),
            )
        case StartValidation(number=number):
            instances = validation_instances(state, is_last_validation(state, number))
            payload = p.ValidationStarted(generation=number, instances=instances)
        case CompleteGeneration(number=number):
            payload = p.GenerationCompleted(generation=number, state_digest=state_digest(state), used=used)
        case CompleteRun(reason=reason):
            payload = p.RunCompleted(reason=reason, state_digest=state_digest(state))
    generation = None if state.generation is None else state.generation.number
    return Decision((Draft("conductor", payload, generation, duty.caused_by),))


def end_reason(state: RunState) -> str | None:
    """Return why the run ends between two generations; ``None`` if it goes on."""
    if not state.settings.evolves_pipelines:
        return method_end(state)
    if state.completed >= state.settings.generations:
        return f"all {state.settings.generations} generations done"
    return evolution_end(state) if state.completed else None


def evolution_end(state: RunState) -> str | None:
    """Return why nothing can evolve any more: no call can be made, or answers with code are all rejected;
    ``None`` also while answers are still to be taken."""
    if not state.settings.evolution or state.ledger.in_flight:
        return None
    if state.ledger.spent_reason is not None and state.settings.last_edits:
        return state.ledger.spent_reason
    limit, rejections = state.settings.rejection_limit, state.ledger.rejections
    return rejections.sentence if 0 < limit <= rejections.in_a_row else None


def draw_batch(keys: Sequence[str], size: int, seed: int) -> tuple[InstanceKey, ...]:
    """Draw `size` of the training instances without replacement (Algorithm 1, line 4); sorted."""
    drawn = stream(seed, "batch").choice(len(keys), size, replace=False)
    return tuple(sorted(InstanceKey(keys[i]) for i in drawn))


def held_out_test(
    state: RunState, hand_tuned: Sequence[p.LibraryOperator] = (), *, repeats_baseline: bool = False
) -> p.TestStarted:
    """Return what a held-out test compares, on which instances; a checkpoint must have been selected.

    A checkpoint that is the safe baseline is evaluated once; with `repeats_baseline` under both names, as
    earlier versions did. `hand_tuned` is the whole library's safe baseline, if it is tested too: its
    operators, each with one implementation. Under calibrated work all are also compared in the seconds that
    it stands for.
    """
    assert state.checkpoint is not None
    pipelines: dict[p.TestLabel, tuple[p.Step, ...]] = {
        "evolved": state.checkpoint.steps,
        "baseline": state.header.baseline,
    }
    if pipelines["evolved"] == pipelines["baseline"] and not repeats_baseline:
        del pipelines["evolved"]
    if hand_tuned:
        pipelines["hand_tuned"] = tuple(
            p.Step(operator=operator.id, implementation=operator.implementations[0].id)
            for operator in hand_tuned
        )
    seconds = seconds_of_work(state) if len(pipelines) > 1 else None
    limits = (None, *(() if seconds is None else (seconds,)), *state.settings.test_limits_s)
    return p.TestStarted(
        attempt=(state.test.attempt if state.test else 0) + 1,
        forced=state.test is not None,
        candidates=tuple(
            p.TestCandidate(label=label, pipeline=pipeline, time_limit_s=limit)
            for limit in limits
            for label, pipeline in pipelines.items()
        ),
        instances=spread([entry.key for entry in state.header.splits.test], state.settings.test_instances),
        hand_tuned=tuple(hand_tuned) or None,
    )


def edits_closed(generation: GenerationState) -> int | None:
    """Return the event with which credits, policy and all edits are done; ``None`` before."""
    if generation.round is not None:
        return generation.round.updated_seq or None
    closed = operators_closed(generation)
    if closed is None or generation.basis is None or not generation.basis.kernel_slots:
        return closed
    return generation.kernel_verdict or None


def operators_closed(generation: GenerationState) -> int | None:
    """Return the event with which all but the edit of a kernel is done; ``None`` before."""
    closed = slots_closed(generation)
    if closed is None or generation.basis is None or not generation.basis.operator_slots:
        return closed
    return generation.operator_verdict or None


def slots_closed(generation: GenerationState) -> int | None:
    """Return the event with which credits, policy and the edits of all slots are done, or asked for where a
    later generation makes them; ``None`` before. New operators come after them."""
    if generation.basis is None or not generation.policy_updated_seq:
        return None
    if generation.closed_slots < generation.basis.slots:
        return None
    closing: list[int] = [
        *generation.implementation_verdicts.values(),
        *generation.edge_verdicts.values(),
        *generation.asked_implementations.values(),
        *generation.asked_edges.values(),
    ]
    return max(generation.basis.seq, generation.policy_updated_seq, *closing)


def race_is_due(state: RunState) -> bool:
    """Return whether a race is still to be started in the open generation, after its edits."""
    generation = state.generation
    return (
        state.settings.race_contenders > 0
        and state.settings.evolves_pipelines
        and generation is not None
        and generation.race is None
        and generation.validation is None
    )


def validation_is_due(state: RunState, number: int) -> bool:
    """Return whether a validation follows: every I_val generations and after the last one, if there is a
    validation split.
    """
    settings = state.settings
    if not state.header.splits.validation:
        return False
    if not settings.evolves_pipelines:
        return _round_is_validated(state)
    is_planned = settings.validation_interval > 0 and number % settings.validation_interval == 0
    return is_planned or is_last_validation(state, number)


def is_last_validation(state: RunState, number: int) -> bool:
    """Return whether no validation is planned behind that of a generation, or of a method's open round."""
    if not state.settings.evolves_pipelines:
        return method_end(state) is not None
    return number == state.settings.generations or evolution_end(state) is not None


def _round_is_validated(state: RunState) -> bool:
    """Return whether a validation follows the open round of a method, which must be over: after the last
    one, and when so many calls were made since the one before as a generation's share of them says."""
    before = max((s.calls for s in state.history.values() if s.validation is not None), default=0)
    interval = calls_between_validations(state)
    is_due = interval is not None and state.ledger.used - before >= interval
    return is_due or method_end(state) is not None


def validation_instances(state: RunState, is_last: bool = False) -> tuple[InstanceKey, ...]:
    """Return the instances of a validation, or of the last one that is planned: the whole split, or an evenly
    spaced subset of the set size.

    Where validations are pooled the last can have more, and instances repeat under other random streams if
    the split is too small.
    """
    keys = [entry.key for entry in state.header.splits.validation]
    size = state.settings.validation_instances
    if not state.settings.pools_validations:
        return spread(keys, size)
    left = max(LEAST_PAIRS, len(keys)) if size is None else size
    if is_last:
        left *= state.settings.last_validation
    return spread_copies(keys, left)


def instances_to_compare_on(state: RunState, draws: np.random.Generator) -> list[InstanceKey]:
    """Return the training instances on which races and gates compare programs, in order.

    Of those known to be solved only the part that is set, evenly spaced from a drawn one on.
    """
    keys, share = [entry.key for entry in state.header.splits.train], state.settings.solved_share
    solved = [key for key in keys if key in state.solved]
    if share == 1.0 or not solved:
        return keys
    count, first = math.ceil(share * len(solved)), int(draws.integers(len(solved)))
    kept = {solved[(first + i * len(solved) // count) % len(solved)] for i in range(count)}
    return [key for key in keys if key not in state.solved or key in kept] or keys
