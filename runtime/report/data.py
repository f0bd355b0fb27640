"""Everything a report tells, gathered from a run's log in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from anyio import to_thread

from dga2d.events import RunId
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.views import calls_view, told_view
from dga2d.runtime.report.evaluations import (
    Failure,
    HeatMap,
    PositionMeans,
    Table,
    credit_map,
    evaluations_of,
    failures,
    improvement_map,
    position_means,
    tables,
)
from dga2d.runtime.report.lineage import BlobReader, Descent, Edit, descent, edit_of
from dga2d.runtime.report.notes import Closing, Incident, Noted, Notes, note
from dga2d.runtime.report.solution_pictures import Incumbent, Picture, embedded_picture, incumbents
from dga2d.store import EventStore, open_store, verified

Part = Literal["edges", "edits", "algorithm", "evaluations", "call texts", "picture"]
"""What takes long to tell."""
PARTS: frozenset[Part] = frozenset(get_args(Part))


@dataclass(frozen=True)
class PositionShare:
    """One position of the reported algorithm with its code."""

    operator: str
    implementation: str
    means: PositionMeans
    source: str


@dataclass(frozen=True)
class Evaluated:
    """The evaluations as tables and maps."""

    tables: tuple[Table, ...]
    failures: tuple[Failure, ...]
    improvement: HeatMap


@dataclass(frozen=True)
class RunStory:
    """Everything a report tells; plain values, texts not yet escaped. A part not asked for is empty."""

    view: dict[str, Any]
    """The folded state as ``dga2d show --json`` prints it, without ``diagnostics``."""
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
    policy: dict[int, p.PolicyUpdated]
    """Update of the policy by generation."""
    closings: tuple[Closing, ...]
    credit: HeatMap
    calls: tuple[dict[str, Any], ...]
    """As in ``dga2d audit --json``, with ``prompt_text`` and ``response_text`` where they are told."""
    incidents: tuple[Incident, ...]
    """Outages of the endpoint and calls that a limit did not allow."""
    incumbents: tuple[Incumbent, ...]
    """Solutions of the best program on the training batch."""
    picture: Picture | None = None
    """The first of them."""
    evaluated: Evaluated | None = None
    edges: tuple[tuple[str, str, float], ...] = ()
    """Edges of the present graph with their aggregated credit."""
    edits: tuple[Edit, ...] = ()
    descent: Descent | None = None
    """Drawing of the edits; ``None`` while there is no new implementation."""
    algorithm: tuple[PositionShare, ...] = ()
    """The checkpoint, or the best on the training batch where nothing was validated; may be empty."""


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
        state, notes = await read_run(store, run_id)
        head = (await store.head(RunId(run_id))).hash.hex()
        return await tell(store, run_id, state, notes, head)


async def read_run(store: EventStore, run_id: str) -> tuple[RunState, Notes]:
    """The state of a run and the notes of its whole log. Raises as `read_story`."""
    state, notes = RunState(), Notes()
    async for event in verified(store.read(RunId(run_id))):
        note(notes, state, event)
        state = fold(state, event)
    if state.started is None:
        raise RunStateError(f"run {run_id} has no events; it was killed before it began")
    return state, notes


async def tell(
    store: BlobReader,
    run_id: str,
    state: RunState,
    notes: Notes,
    head_hash: str,
    parts: frozenset[Part] = PARTS,
    told: dict[int, Edit] | None = None,
) -> RunStory:
    """The story of a run up to `state`, which has begun; of the parts that take long, `parts` alone.

    `told` keeps edits of this run, by event, from one story to the next.
    """
    header = state.header
    defaults = RunSettings().model_dump()
    found = incumbents(state, notes)
    edits = await _edits(store, state, notes, {} if told is None else told) if "edits" in parts else ()
    return RunStory(
        view=told_view(run_id, state),
        begun_at=notes.times[0],
        ended_at=notes.times[-1],
        head_hash=head_hash,
        splits={name: len(getattr(header.splits, name)) for name in ("train", "validation", "test")},
        changed_settings={
            key: value for key, value in state.settings.model_dump().items() if value != defaults[key]
        },
        sandbox=dict(header.sandbox),
        policy_name=header.policy,
        baseline=tuple(step.operator for step in header.baseline),
        evaluations=_outcomes(notes.evaluations),
        policy={update.generation: update for _, update in notes.policy},
        closings=tuple(notes.closings),
        credit=credit_map(notes.closings),
        calls=await _calls(store, state, "call texts" in parts),
        incidents=tuple(notes.incidents),
        incumbents=found,
        picture=await _picture(store, state, found) if "picture" in parts else None,
        evaluated=_evaluated(state, notes) if "evaluations" in parts else None,
        edges=_edges(state) if "edges" in parts else (),
        edits=edits,
        descent=descent(state, edits),
        algorithm=await _algorithm(store, state, notes) if "algorithm" in parts else (),
    )


async def _picture(store: BlobReader, state: RunState, found: Sequence[Incumbent]) -> Picture | None:
    if not found:
        return None
    solution = await store.get_blob(found[0].solution)
    return await to_thread.run_sync(embedded_picture, state.header, found[0], solution)


async def _edits(store: BlobReader, state: RunState, notes: Notes, told: dict[int, Edit]) -> tuple[Edit, ...]:
    for change in notes.changes:
        if change.seq not in told:
            told[change.seq] = await edit_of(store, state, change)
    return tuple(told[change.seq] for change in notes.changes)


def _outcomes(evaluations: Sequence[Noted[p.EvaluationRecorded]]) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    for _, evaluation in evaluations:
        table.setdefault(evaluation.split, Counter())[evaluation.failure or "ok"] += 1
    return table


def _evaluated(state: RunState, notes: Notes) -> Evaluated:
    return Evaluated(tables(state, notes), failures(notes), improvement_map(notes))


def _edges(state: RunState) -> tuple[tuple[str, str, float], ...]:
    edges = sorted(state.graph.edges) if state.graph is not None else []
    epsilon = state.settings.epsilon
    return tuple((a, b, state.credits.edge_credit((a, b), state.pools, epsilon)) for a, b in edges)


async def _algorithm(store: BlobReader, state: RunState, notes: Notes) -> tuple[PositionShare, ...]:
    program = state.checkpoint or state.best
    if program is None:
        return ()
    sources = [(await store.get_blob(state.sources[step.implementation])).decode() for step in program.steps]
    means = position_means(program.steps, evaluations_of(notes, program.steps))
    return tuple(
        PositionShare(step.operator, step.implementation, mean, source)
        for step, mean, source in zip(program.steps, means, sources, strict=True)
    )


async def _calls(store: BlobReader, state: RunState, has_texts: bool) -> tuple[dict[str, Any], ...]:
    rows = calls_view(state.ledger)
    if has_texts:
        for row in rows:
            row.update(await call_texts(store, row))
    return tuple(rows)


async def call_texts(store: BlobReader, call: dict[str, Any]) -> dict[str, str]:
    """``prompt_text`` and ``response_text`` of a call; empty where there is none."""
    texts = {}
    for key in ("prompt", "response"):
        digest = call[key]
        data = b"" if digest is None else await store.get_blob(digest)
        texts[f"{key}_text"] = data.decode("utf-8", "replace")
    return texts
