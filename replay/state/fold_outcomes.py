"""Many training evaluations in one step: they are most of a log, and stand in it one behind the other."""

from __future__ import annotations

from dga2d.events import RecordedEvent
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
    batch, sampled, number = frozenset(state.header.batch), generation.pipelines, generation.number
    outcomes = generation.outcomes.mutate()
    seq = state.seq
    while page and (event := page[-1]).type == "EvaluationRecorded":
        payload = event.payload
        cause = event.caused_by
        if (
            not isinstance(payload, EvaluationRecorded)
            or event.seq != seq + 1
            or (cause is not None and not 0 < cause < event.seq)
            or payload.split != "train"
            or payload.generation != number
            or (payload.objective is None) == (payload.failure is None)
            or payload.candidate not in sampled
            or payload.instance not in batch
            or (key := (payload.candidate, payload.instance)) in outcomes
        ):
            break
        outcomes[key] = Outcome(payload.objective, payload.failure, payload.trace)
        seq += 1
        page.pop()
    if seq == state.seq:
        return state
    generation = replace(generation, outcomes=outcomes.finish(), outcomes_seq=seq)
    return replace(state, seq=seq, generation=generation)
