"""Conductor: opens and closes generations and ends the run. Its decisions are pure like all others."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.ports import EventAppender
from dga2d.events import AgentName, Draft, InstanceKey
from dga2d.events.payloads import (
    GenerationCompleted,
    GenerationStarted,
    Payload,
    RunCompleted,
    TestCandidate,
    TestStarted,
    ValidationStarted,
)
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.run_state import GenerationState, RunState
from dga2d.replay.streams import stream


class Conductor:
    """Owns the beginning and end of generations, validations and the run."""

    name: AgentName = "conductor"

    def __init__(self, log: EventAppender) -> None:
        self._log = log

    def duties(self, state: RunState) -> Sequence[Duty]:
        step = next_step(state)
        return () if step is None else (step[0],)

    async def perform(self, duty: Duty, state: RunState) -> None:
        step = next_step(state)
        assert step is not None
        number = None if state.generation is None else state.generation.number
        await self._log.append([Draft("conductor", step[1], number, duty.caused_by)])


def next_step(state: RunState) -> tuple[Duty, Payload] | None:
    """What the conductor owes now, ``None`` while others have to speak first."""
    if state.status != "running" or state.graph is None:
        return None
    generation = state.generation
    if generation is None:
        return _between_generations(state)
    closed = _closing_event(state, generation)
    if closed is None:
        return None
    number = generation.number
    if validation_is_due(state, number):
        if generation.validation is None:
            started = ValidationStarted(generation=number, instances=validation_instances(state))
            return Duty(f"validate/{number}", closed), started
        if generation.validation.scores is None:
            return None
        closed = max(closed, generation.validation.scored_seq)
    completed = GenerationCompleted(generation=number, state_digest=state_digest(state))
    return Duty(f"complete/{number}", closed), completed


def _between_generations(state: RunState) -> tuple[Duty, Payload]:
    assert state.graph is not None
    cause = max(state.graph_seq if not state.completed else state.completed_seq, state.process_seq)
    reason = end_reason(state)
    if reason is not None:
        return Duty("end", cause), RunCompleted(reason=reason, state_digest=state_digest(state))
    started = GenerationStarted(
        generation=state.completed + 1,
        graph_digest=graph_digest(state.graph),
        pools_digest=pools_digest(state.pools),
    )
    return Duty(f"start/{state.completed + 1}", cause), started


def end_reason(state: RunState) -> str | None:
    """Why the run ends between two generations, ``None`` if it goes on."""
    if state.completed >= state.settings.generations:
        return f"all {state.settings.generations} generations done"
    if state.settings.evolution and state.completed:
        return state.ledger.spent_reason
    return None


def drawn_batch(keys: Sequence[str], size: int, seed: int) -> tuple[InstanceKey, ...]:
    """`size` of the training instances, drawn without replacement (Algorithm 1, line 4), sorted."""
    drawn = stream(seed, "batch").choice(len(keys), size, replace=False)
    return tuple(sorted(InstanceKey(keys[i]) for i in drawn))


def held_out_test(state: RunState) -> TestStarted:
    """What a held-out test compares, on which instances; a checkpoint must have been selected."""
    assert state.checkpoint is not None
    return TestStarted(
        attempt=(state.test.attempt if state.test else 0) + 1,
        forced=state.test is not None,
        candidates=(
            TestCandidate(label="evolved", pipeline=state.checkpoint.steps),
            TestCandidate(label="baseline", pipeline=state.header.baseline),
        ),
        instances=spread([entry.key for entry in state.header.splits.test], state.settings.test_instances),
    )


def _closing_event(state: RunState, generation: GenerationState) -> int | None:
    """The event with which everyone has spoken about the generation; ``None`` before."""
    if generation.basis is None or not generation.policy_updated_seq:
        return None
    slots = generation.basis.edits
    if len(generation.implementation_verdicts) < slots or len(generation.edge_verdicts) < slots:
        return None
    verdicts: list[int] = [
        *generation.implementation_verdicts.values(),
        *generation.edge_verdicts.values(),
    ]
    return max(generation.basis.seq, generation.policy_updated_seq, *verdicts)


def validation_is_due(state: RunState, number: int) -> bool:
    """Every I_val generations and after the last one, if there is a validation split."""
    settings = state.settings
    if not state.header.splits.validation:
        return False
    is_last = number == settings.generations or (settings.evolution and state.ledger.spent_reason is not None)
    return is_last or (settings.validation_interval > 0 and number % settings.validation_interval == 0)


def validation_instances(state: RunState) -> tuple[InstanceKey, ...]:
    """Instances a validation uses: the split, or its evenly spaced subset of the settled size."""
    keys = [entry.key for entry in state.header.splits.validation]
    return spread(keys, state.settings.validation_instances)


def spread(keys: Sequence[InstanceKey], size: int | None) -> tuple[InstanceKey, ...]:
    """`size` keys evenly spaced over the sorted list, all of them for ``None``."""
    if size is None or size >= len(keys):
        return tuple(keys)
    return tuple(keys[(2 * i + 1) * len(keys) // (2 * size)] for i in range(size))
