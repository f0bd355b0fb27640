"""Gathers from a run's log, in one pass, everything a report tells."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

from dga2d.events import BlobDigest, ImplementationId, RecordedEvent, RunId
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.views import calls_view, state_view
from dga2d.store import open_store, verified


class BlobReader(Protocol):
    """Where texts are read from."""

    async def get_blob(self, digest: BlobDigest) -> bytes: ...


ProgramKey = tuple[str, int, int]
"""Split, generation (or test attempt) and candidate."""


@dataclass(frozen=True)
class Edit:
    """A change of the pools or of the graph."""

    seq: int
    generation: int
    what: str
    call: int | None
    code: str = ""
    """Difference to the code it came from (unified diff), or the code itself; empty for edges."""


@dataclass(frozen=True)
class Incident:
    """Something that kept calls of the language model from being made."""

    seq: int
    at: int
    """Microseconds since 1970, UTC."""
    what: str


@dataclass(frozen=True)
class PositionShare:
    """What one position of the reported algorithm did, on average over its evaluations."""

    operator: str
    implementation: str
    source: str
    time_percent: float | None
    """Share of the evaluation's time; ``None`` where it was never evaluated successfully."""
    improvement_percent: float | None
    """Mean reduction of the objective, in percent of its value on entry; ``None`` for the first position."""


@dataclass(frozen=True)
class RunStory:
    """Everything a report tells; plain values, texts not yet escaped."""

    view: dict[str, Any]
    """The folded state as ``dga2d show --json`` prints it."""
    begun_at: int
    """Microseconds since 1970, UTC."""
    ended_at: int
    """Time of the last event, the same unit."""
    head_hash: str
    splits: dict[str, int]
    changed_settings: dict[str, Any]
    """Settings that are not the defaults."""
    sandbox: dict[str, str]
    policy_name: str
    baseline: tuple[str, ...]
    evaluations: dict[str, Counter[str]]
    """Split → outcome (``ok`` or the kind of failure) → count."""
    policy: tuple[p.PolicyUpdated, ...]
    edits: tuple[Edit, ...]
    algorithm: tuple[PositionShare, ...]
    """The checkpoint, or the best on the training batch where nothing was validated; may be empty."""
    edges: tuple[tuple[str, str, float], ...]
    """Edges of the present graph with their aggregated credit."""
    calls: tuple[dict[str, Any], ...]
    """As in ``dga2d audit --json``, with the texts of ``prompt_text`` and ``response_text``."""
    incidents: tuple[Incident, ...]
    """Outages of the endpoint and calls that a limit did not allow."""


@dataclass
class Notes:
    """What a pass over the log writes down; feed it every event with the state before."""

    begun_at: int = 0
    ended_at: int = 0
    programs: dict[ProgramKey, tuple[p.Step, ...]] = field(default_factory=dict)
    evaluations: list[p.EvaluationRecorded] = field(default_factory=list)
    policy: list[p.PolicyUpdated] = field(default_factory=list)
    edits: list[tuple[RecordedEvent, tuple[ImplementationId, ...]]] = field(default_factory=list)
    """With the pool an implementation was written for, as it was before."""
    incidents: list[Incident] = field(default_factory=list)


async def read_story(url: str, run_id: str) -> RunStory:
    """Read, check and fold the log of a run.

    Raises
    ------
    UnknownRunError, RunStateError
        There is no such run, or it never began.
    CorruptEventError, InvariantError
        The log does not hold; there is nothing to report of it but that (``dga2d audit``).
    """
    async with open_store(url, create=False, read_only=True) as store:
        state, notes = RunState(), Notes()
        async for event in verified(store.read(RunId(run_id))):
            note(notes, state, event)
            state = fold(state, event)
        if state.started is None:
            raise RunStateError(f"run {run_id} has no events; it was killed before it began")
        head = (await store.head(RunId(run_id))).hash.hex()
        return await tell(store, run_id, state, notes, head)


def note(notes: Notes, before: RunState, event: RecordedEvent) -> None:
    """Add `event` to `notes`; `before` is the state it was appended to."""
    payload = event.payload
    notes.begun_at = notes.begun_at or event.recorded_at
    notes.ended_at = event.recorded_at
    if isinstance(payload, p.EvaluationRecorded):
        notes.evaluations.append(payload)
    elif isinstance(payload, p.PipelineSampled):
        notes.programs["train", payload.generation, payload.candidate] = payload.steps
    elif isinstance(payload, p.PipelinesDecoded):
        for index, steps in enumerate(payload.pipelines):
            notes.programs["validation", payload.generation, index] = steps
    elif isinstance(payload, p.TestStarted):
        for index, candidate in enumerate(payload.candidates):
            notes.programs["test", payload.attempt, index] = candidate.pipeline
    elif isinstance(payload, p.PolicyUpdated):
        notes.policy.append(payload)
    elif isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced | p.ImplementationDeleted):
        notes.edits.append((event, before.pools.get(payload.operator, ())))
    elif isinstance(payload, p.EdgeReplaced):
        notes.edits.append((event, ()))
    elif isinstance(payload, p.CallsSuspended | p.CallsResumed | p.LLMCallRefused):
        notes.incidents.append(Incident(event.seq, event.recorded_at, _incident(payload)))


def _incident(payload: p.CallsSuspended | p.CallsResumed | p.LLMCallRefused) -> str:
    if isinstance(payload, p.CallsSuspended):
        return f"the endpoint does not work, calls wait: {payload.reason}"
    if isinstance(payload, p.CallsResumed):
        return f"the endpoint works again after {payload.waited_s:.0f} s"
    return f"{payload.subject} was refused by the limit on {payload.limit}: {payload.reason}"


async def tell(store: BlobReader, run_id: str, state: RunState, notes: Notes, head_hash: str) -> RunStory:
    """The story of a run up to `state`, which has begun."""
    header = state.header
    epsilon = state.settings.epsilon
    defaults = RunSettings().model_dump()
    edges = sorted(state.graph.edges) if state.graph is not None else []
    return RunStory(
        view=state_view(run_id, state),
        begun_at=notes.begun_at,
        ended_at=notes.ended_at,
        head_hash=head_hash,
        splits={name: len(getattr(header.splits, name)) for name in ("train", "validation", "test")},
        changed_settings={
            key: value for key, value in state.settings.model_dump().items() if value != defaults[key]
        },
        sandbox=dict(header.sandbox),
        policy_name=header.policy,
        baseline=tuple(step.operator for step in header.baseline),
        evaluations=_outcomes(notes.evaluations),
        policy=tuple(notes.policy),
        edits=tuple([await _edit(store, state, event, pool) for event, pool in notes.edits]),
        algorithm=await _algorithm(store, state, notes),
        edges=tuple((a, b, state.credits.edge_credit((a, b), state.pools, epsilon)) for a, b in edges),
        calls=await _calls(store, state),
        incidents=tuple(notes.incidents),
    )


def _outcomes(evaluations: list[p.EvaluationRecorded]) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    for evaluation in evaluations:
        table.setdefault(evaluation.split, Counter())[evaluation.failure or "ok"] += 1
    return table


async def _edit(
    store: BlobReader, state: RunState, event: RecordedEvent, pool: tuple[ImplementationId, ...]
) -> Edit:
    payload = event.payload
    if isinstance(payload, p.EdgeReplaced):
        removed = ", ".join(" → ".join(edge) for edge in payload.removed) or "nothing"
        added = ", ".join(" → ".join(edge) for edge in payload.added) or "nothing"
        return Edit(event.seq, payload.generation, f"edge {removed} replaced by {added}", payload.call)
    if isinstance(payload, p.ImplementationDeleted):
        return Edit(event.seq, payload.generation, f"{payload.implementation} deleted", None)
    assert isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced)
    parents = (payload.removed,) if isinstance(payload, p.ImplementationReplaced) else pool
    what = f"{payload.implementation} " + (
        f"took the place of {payload.removed}" if isinstance(payload, p.ImplementationReplaced) else "added"
    )
    code = await _difference(store, state, payload.source, parents)
    return Edit(event.seq, payload.generation, what, payload.call, code)


async def _difference(
    store: BlobReader, state: RunState, source: BlobDigest, parents: tuple[ImplementationId, ...]
) -> str:
    """Unified diff to the most similar of `parents`; the text itself where there is none."""
    text = (await store.get_blob(source)).decode()
    candidates = [(c, (await store.get_blob(state.sources[c])).decode()) for c in parents]
    if not candidates:
        return text
    name, nearest = max(
        candidates,
        key=lambda item: difflib.SequenceMatcher(None, item[1].splitlines(), text.splitlines()).ratio(),
    )
    lines = difflib.unified_diff(nearest.splitlines(), text.splitlines(), name, "new", lineterm="", n=2)
    return "\n".join(lines)


async def _algorithm(store: BlobReader, state: RunState, notes: Notes) -> tuple[PositionShare, ...]:
    program = state.checkpoint or state.best
    if program is None:
        return ()
    traces = [
        evaluation.trace
        for evaluation in notes.evaluations
        if evaluation.failure is None
        and notes.programs[evaluation.split, evaluation.generation, evaluation.candidate] == program.steps
        and len(evaluation.trace) == len(program.steps)
    ]
    total = sum(position.elapsed_s for trace in traces for position in trace)
    shares = []
    for index, step in enumerate(program.steps):
        positions = [trace[index] for trace in traces]
        gains = [
            100.0 * (q.score_before - q.score_after) / abs(q.score_before)
            for q in positions
            if q.score_before
        ]
        shares.append(
            PositionShare(
                operator=step.operator,
                implementation=step.implementation,
                source=(await store.get_blob(state.sources[step.implementation])).decode(),
                time_percent=100.0 * sum(q.elapsed_s for q in positions) / total if total else None,
                improvement_percent=sum(gains) / len(gains) if gains else None,
            )
        )
    return tuple(shares)


async def _calls(store: BlobReader, state: RunState) -> tuple[dict[str, Any], ...]:
    rows = calls_view(state.ledger)
    for row in rows:
        for key in ("prompt", "response"):
            digest = row[key]
            data = b"" if digest is None else await store.get_blob(digest)
            row[f"{key}_text"] = data.decode("utf-8", "replace")
    return tuple(rows)
