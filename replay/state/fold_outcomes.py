"""Many samples, evaluations or scores in one step: they are nearly all of a log, one behind the other.

Every function here takes events of its kind from the end of a page, last one first, and stops before the
first that is anything else or that may not follow: what is wrong with that one is for `fold` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from dga2d.events import OWNERS, ImplementationId, OperatorId, StoredEvent
from dga2d.events._frequent import NOT_DECODED, decode_evaluation, decode_sample, decode_score
from dga2d.events.payloads import CandidateScored, EvaluationRecorded, Payload, PipelineSampled, Step
from dga2d.replay.state.graph import walk_violation
from dga2d.replay.state.handler import replace
from dga2d.replay.state.run_state import Outcome, Row, RunState, SampledPipeline, ScoredProgram

Record = TypeVar("Record")
Stored = TypeVar("Stored", bound=StoredEvent)


def fold_samples(state: RunState, page: list[Stored]) -> RunState:
    """State after the samples at the end of `page`, which are taken from it."""
    generation, graph = state.generation, state.graph
    if generation is None or graph is None or state.status != "running":
        return state
    number, size, longest = generation.number, generation.size, state.settings.max_length
    pipelines = generation.pipelines.mutate()
    same: dict[tuple[OperatorId, ImplementationId], Step] = {}
    seq = state.seq
    for at, sample in _following(page, seq, number, PipelineSampled, decode_sample):
        if (
            sample.generation != number
            or sample.candidate in pipelines
            or not 0 <= sample.candidate < size
            or walk_violation(sample.steps, sample.policy_steps, graph, state.pools, longest)
        ):
            break
        names = [(step.operator, step.implementation) for step in sample.steps]
        for name in names:
            if name not in same:
                same[name] = Step(operator=name[0], implementation=name[1])
        pipelines[sample.candidate] = SampledPipeline(at, tuple([same[name] for name in names]))
        seq = at
    if seq == state.seq:
        return state
    return replace(state, seq=seq, generation=replace(generation, pipelines=pipelines.finish()))


def fold_outcomes(state: RunState, page: list[Stored]) -> RunState:
    """State after the training evaluations at the end of `page`, which are taken from it."""
    generation = state.generation
    if generation is None or state.status != "running":
        return state
    sampled, number = generation.pipelines, generation.number
    batch = {instance: instance for instance in state.header.batch}  # one text for all keys, not one for each
    outcomes, rows = generation.outcomes, dict[int, Row]()
    seq, [owner] = state.seq, OWNERS["EvaluationRecorded"]
    while page:  # `_following` written out: nine events of ten come here
        _, at, _, type_name, version, agent, filed, cause, _, data, _, _ = page[-1]
        if type_name != "EvaluationRecorded" or version != EvaluationRecorded.version or at != seq + 1:
            break
        if agent != owner or not (filed is None or filed == number):
            break
        try:
            found = decode_evaluation(data)
        except NOT_DECODED:
            break
        candidate, objective, failure = found.candidate, found.objective, found.failure
        if (
            not (cause is None or 0 < cause < at)
            or found.split != "train"
            or found.generation != number
            or (objective is None) == (failure is None)
            or (instance := batch.get(found.instance)) is None
        ):
            break
        row = rows.get(candidate)
        if row is None:
            if candidate not in sampled:
                break
            row = rows[candidate] = dict(outcomes.row(candidate))
        if instance in row:
            break
        row[instance] = Outcome(objective, failure, data)
        seq = at
        page.pop()
    if seq == state.seq:
        return state
    generation = replace(generation, outcomes=outcomes.with_rows(rows), outcomes_seq=seq)
    return replace(state, seq=seq, generation=generation)


def fold_scores(state: RunState, page: list[Stored]) -> RunState:
    """State after the scores of candidates at the end of `page`, which are taken from it."""
    generation = state.generation
    if generation is None or state.status != "running":
        return state
    sampled, outcomes, batch = generation.pipelines, generation.outcomes, set(state.header.batch)
    number, lowest = generation.number, state.settings.failure_reward
    scores = generation.scores.mutate()
    best, seq = state.best, state.seq
    for at, found in _following(page, seq, number, CandidateScored, decode_score):
        candidate, score = found.candidate, found.score
        if (
            found.generation != number
            or candidate not in sampled
            or candidate in scores
            or not score >= lowest
            or not outcomes.row(candidate).keys() >= batch
        ):
            break
        if best is None or score > best.score:
            best = ScoredProgram(number, candidate, score, sampled[candidate].steps)
        scores[candidate] = score
        seq = at
    if seq == state.seq:
        return state
    return replace(state, seq=seq, best=best, generation=replace(generation, scores=scores.finish()))


FOLDS_OF_MANY: dict[str, Callable[[RunState, list[Any]], RunState]] = {
    "PipelineSampled": fold_samples,
    "EvaluationRecorded": fold_outcomes,
    "CandidateScored": fold_scores,
}
"""By the type that they take."""


def _following(
    page: list[Stored], seq: int, generation: int, kind: type[Payload], decode: Callable[[bytes], Record]
) -> Iterator[tuple[int, Record]]:
    """Number and content of the events of one kind that follow number `seq`, from the end of `page`; each is
    taken from the page when the next is asked for.

    Ends before an event of another kind, version, writer or generation, out of order, with a cause that is
    not before it, or whose content only its model can judge.
    """
    [owner] = OWNERS[kind.__name__]
    wanted = kind.__name__, kind.version, owner
    while page:
        _, at, _, type_name, version, agent, filed, cause, _, data, _, _ = page[-1]
        seq += 1
        if at != seq or (type_name, version, agent) != wanted or not (cause is None or 0 < cause < at):
            return
        if filed is not None and filed != generation:
            return
        try:
            record = decode(data)
        except NOT_DECODED:
            return
        yield at, record
        page.pop()
