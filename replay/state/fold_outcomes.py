"""Many training evaluations in one step: they are most of a log, and stand in it one behind the other."""

from __future__ import annotations

from dga2d.events import RecordedEvent, decode_payload
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.state.replacing import replace
from dga2d.replay.state.run_state import Outcome, RunState


def fold_outcomes(state: RunState, page: list[RecordedEvent]) -> RunState:
    """State after the training evaluations at the end of `page`, which are taken from it, last one first.

    Stops before the first event that is anything else or that may not follow: what is wrong with that one
    is for `fold` to say.

    Raises
    ------
    PayloadError, UnknownEventTypeError
        An event cannot be decoded.
    """
    generation = state.generation
    if generation is None or state.status != "running":
        return state
    sampled, number = generation.pipelines, generation.number
    batch = {instance: instance for instance in state.header.batch}  # one text for all keys, not one for each
    outcomes = generation.outcomes.mutate()
    seq = state.seq
    while page:
        _, at, _, type_name, version, _, _, cause, _, data, _, _ = page[-1]
        if type_name != "EvaluationRecorded":
            break
        payload = decode_payload(type_name, version, data)
        if (
            not isinstance(payload, EvaluationRecorded)
            or at != seq + 1
            or (cause is not None and not 0 < cause < at)
            or payload.split != "train"
            or payload.generation != number
            or (payload.objective is None) == (payload.failure is None)
            or payload.candidate not in sampled
            or (instance := batch.get(payload.instance)) is None
            or (key := (payload.candidate, instance)) in outcomes
        ):
            break
        outcomes[key] = Outcome(payload.objective, payload.failure, payload.trace)
        seq = at
        page.pop()
    if seq == state.seq:
        return state
    generation = replace(generation, outcomes=outcomes.finish(), outcomes_seq=seq)
    return replace(state, seq=seq, generation=generation)
