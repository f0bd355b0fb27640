"""The data of a report, gathered from a run's log in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from anyio import to_thread

from dga2d.events import RunId
from dga2d.events import payloads as p
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.call_views import calls_view
from dga2d.runtime.inspection.measures import Measure, measure_of
from dga2d.runtime.inspection.validations import ValidationRecord
from dga2d.runtime.inspection.verdict import GapEstimate, achievement_of
from dga2d.runtime.inspection.views import run_view
from dga2d.runtime.report.code import CodeLine, trace_lines
from dga2d.runtime.report.evaluations import (
    EvaluationTable,
    FailureGroup,
    HeatMap,
    PositionMeans,
    Utilisation,
    credit_map,
    evaluations_of,
    group_failures,
    improvement_map,
    make_tables,
    position_means,
    utilisation_of,
)
from dga2d.runtime.report.lineage import (
    BlobReader,
    CallOutcome,
    Descent,
    FamilyNode,
    ReportedEdit,
    call_outcomes,
    describe_edit,
    draw_descent,
    edit_text,
    family_trees,
    restored_lines,
)
from dga2d.runtime.report.milestones import EditMark, Milestones, code_brought, gather_milestones
from dga2d.runtime.report.notes import Change, Closing, Evaluation, Incident, Noted, Notes, note
from dga2d.runtime.report.solution_pictures import Incumbent, SolutionPicture, embedded_picture, incumbents
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.states import recall_problem, refuse_training
from dga2d.store import EventStore, open_store, verify_events

ReportPart = Literal[
    "edges",
    "edits",
    "algorithm",
    "evaluations",
    "credit",
    "utilisation",
    "call texts",
    "picture",
    "milestones",
    "calls",
    "outcomes",
    "incumbents",
]
"""Parts of the data that take long to gather."""
PARTS: frozenset[ReportPart] = frozenset(get_args(ReportPart))


@dataclass
class Described:
    """What was described of one run before: going through its time, most of it is shown again."""

    edits: dict[int, ReportedEdit] = field(default_factory=dict)
    """By event: finding the parent of one compares many texts."""
    marks: dict[int, EditMark] = field(default_factory=dict)
    """By event."""
    traced: dict[tuple[str, bool], tuple[CodeLine, ...]] = field(default_factory=dict)
    """By implementation, and whether its lines name the edits that brought them."""
    validations: dict[tuple[int, int, int], GapEstimate] = field(default_factory=dict)
    """By generation, candidate, and how many instances were evaluated."""

    def mark(self, change: Change, measure: Measure) -> EditMark:
        """Return an edit as a mark, which is made once."""
        if change.seq not in self.marks:
            brings_code = isinstance(
                change.payload, p.ImplementationAdded | p.ImplementationReplaced | p.OperatorAdded
            )
            text = edit_text(change, measure)
            self.marks[change.seq] = EditMark(change.payload.generation, change.seq, text, brings_code)
        return self.marks[change.seq]

    def edit_marks(self, state: RunState, notes: Notes) -> tuple[EditMark, ...]:
        """Return the marks of all changes, in their order."""
        measure = measure_of(state.header)
        return tuple(self.mark(change, measure) for change in notes.changes)

    async def add_edit(self, store: BlobReader, state: RunState, change: Change) -> ReportedEdit:
        """Return the description of an edit, which is made once; `state` is any after it."""
        if change.seq not in self.edits:
            self.edits[change.seq] = await describe_edit(store, state, change)
        return self.edits[change.seq]


@dataclass(frozen=True)
class PositionShare:
    """One position of the reported algorithm with its code."""

    operator: str
    implementation: str
    means: PositionMeans
    source: str
    lines: tuple[CodeLine, ...]
    """The same, highlighted, with the edits that brought its lines where edits were asked for."""
    origin: EditMark | None
    """The edit that brought its code; ``None`` where it is the library's."""
    has_other_constants: bool = False
    """Whether a race gave that code other constants."""


@dataclass(frozen=True)
class EvaluationTables:
    """The evaluations as tables and maps."""

    tables: tuple[EvaluationTable, ...]
    failures: tuple[FailureGroup, ...]
    improvement: HeatMap


@dataclass(frozen=True)
class ReportData:
    """Everything a report shows: plain values, texts not yet escaped. A part not asked for is empty."""

    view: dict[str, Any]
    """The folded state as ``dga2d show --json`` prints it, without ``diagnostics``."""
    begun_at: int
    """Microseconds since 1970, UTC."""
    ended_at: int
    """Time of the last event, the same unit."""
    head_hash: str
    splits: dict[str, int]
    changed_settings: dict[str, Any]
    """Settings that are not those of the preset."""
    sandbox: dict[str, str]
    policy_name: str
    evaluations: dict[str, Counter[str]]
    """Split → outcome (``ok`` or the kind of failure) → count."""
    policy: dict[int, p.PolicyUpdated]
    """Update of the policy by generation."""
    closings: tuple[Closing, ...]
    credit: HeatMap
    calls: tuple[dict[str, Any], ...]
    """As in ``dga2d audit --json``, with ``prompt_text`` and ``response_text`` where texts were asked for."""
    became: dict[int, tuple[CallOutcome, ...]]
    """By call what its answer brought."""
    incidents: tuple[Incident, ...]
    """Outages of the endpoint and calls that a limit did not allow."""
    utilisation: Utilisation | None
    """How busy evaluators and models were; ``None`` where nothing took any time, or where not asked for."""
    milestones: Milestones
    """Validations with their intervals, the baseline's and the held-out figures, and accepted edits."""
    incumbents: tuple[Incumbent, ...]
    """Solutions of the best program on the training batch."""
    start: tuple[str, ...]
    """Operators of the safe baseline that the run began with."""
    picture: SolutionPicture | None = None
    """The first of the incumbents."""
    evaluated: EvaluationTables | None = None
    first_edges: tuple[tuple[str, str], ...] = ()
    """Edges of the graph with which the run began."""
    edges: tuple[tuple[str, str, float], ...] = ()
    """Edges of the present graph with their aggregated credit."""
    edits: tuple[ReportedEdit, ...] = ()
    descent: Descent | None = None
    families: tuple[FamilyNode, ...] = ()
    """Who descends from whom."""
    """Drawing of the edits; ``None`` while there is no new implementation."""
    algorithm: tuple[PositionShare, ...] = ()
    """The checkpoint, or the best on the training batch where nothing was validated; may be empty."""

    @cached_property
    def restored(self) -> dict[int, int]:
        """Lines deleted before and brought back, by the event of the edit."""
        return restored_lines(self.edits)


async def read_report_data(url: str, run_id: str) -> ReportData:
    """Read, check and fold the log of a run, and gather all its data.

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
        return await gather_report_data(store, run_id, state, notes, head)


async def read_run(store: EventStore, run_id: str) -> tuple[RunState, Notes]:
    """Return the state of a run and the notes of its whole log. Raises as `read_report_data`."""
    state, notes = RunState(), Notes()
    async for event in verify_events(store.read(RunId(run_id))):
        note(notes, state, event)
        state = fold(state, event)
    refuse_training(run_id, state)
    if state.started is None:
        raise RunStateError(f"run {run_id} has no events; it was killed before it began")
    recall_problem(state)
    return state, notes


async def gather_report_data(
    store: BlobReader,
    run_id: str,
    state: RunState,
    notes: Notes,
    head_hash: str,
    parts: frozenset[ReportPart] = PARTS,
    known: Described | None = None,
) -> ReportData:
    """Gather the data of a run up to `state`, which has begun; of the parts that take long, only `parts`.

    `known` keeps what was described of this run from one call to the next.
    """
    known = Described() if known is None else known
    header = state.header
    defaults = make_settings({}, {"preset": state.settings.preset}).model_dump()
    found = incumbents(state, notes) if parts & {"incumbents", "picture"} else ()
    record = _validations(state, notes)
    achievement = achievement_of(state, record)
    changes = notes.changes if "edits" in parts else ()
    edits = tuple([await known.add_edit(store, state, change) for change in changes])
    return ReportData(
        view=run_view(run_id, state, achievement),
        begun_at=notes.times[0],
        ended_at=notes.times[-1],
        head_hash=head_hash,
        splits={name: len(getattr(header.splits, name)) for name in ("train", "validation", "test")},
        changed_settings={
            key: value for key, value in state.settings.model_dump().items() if value != defaults[key]
        },
        sandbox=dict(header.sandbox),
        policy_name=header.policy,
        evaluations=_outcomes(notes.evaluations if "outcomes" in parts else ()),
        policy={update.generation: update for _, update in notes.policy},
        closings=tuple(notes.closings),
        credit=credit_map(notes.closings if "credit" in parts else ()),
        calls=await _calls(store, state, "call texts" in parts) if "calls" in parts else (),
        became=call_outcomes(state, notes.changes, known.edit_marks(state, notes))
        if "calls" in parts
        else {},
        incidents=tuple(notes.incidents),
        utilisation=utilisation_of(state, notes) if "utilisation" in parts else None,
        milestones=(
            gather_milestones(
                state,
                notes,
                record,
                achievement.test or {},
                known.edit_marks(state, notes),
                known.validations,
            )
            if "milestones" in parts
            else Milestones()
        ),
        incumbents=found,
        start=tuple(str(step.operator) for step in header.baseline),
        picture=await _picture(store, state, found) if "picture" in parts else None,
        evaluated=_evaluation_tables(state, notes) if "evaluations" in parts else None,
        first_edges=notes.first_edges,
        edges=_edges(state) if "edges" in parts else (),
        edits=edits,
        descent=draw_descent(state, edits),
        families=family_trees(state, edits),
        algorithm=(await _algorithm(store, state, notes, edits, known) if "algorithm" in parts else ()),
    )


def _validations(state: RunState, notes: Notes) -> ValidationRecord:
    record = ValidationRecord(notes.decoded)
    for _, evaluation in notes.validations if state.checkpoint is not None else ():
        record.record_evaluation(
            evaluation.generation, evaluation.candidate, evaluation.instance, evaluation.objective
        )
    return record


async def _picture(store: BlobReader, state: RunState, found: Sequence[Incumbent]) -> SolutionPicture | None:
    if not found:
        return None
    solution = await store.get_blob(found[0].solution)
    return await to_thread.run_sync(embedded_picture, state.header, found[0], solution)


def _outcomes(evaluations: Sequence[Noted[Evaluation]]) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    counts = Counter((evaluation.split, evaluation.failure or "ok") for _, evaluation in evaluations)
    for (split, outcome), count in counts.items():
        table.setdefault(split, Counter())[outcome] = count
    return table


def _evaluation_tables(state: RunState, notes: Notes) -> EvaluationTables:
    return EvaluationTables(make_tables(state, notes), group_failures(notes), improvement_map(notes))


def _edges(state: RunState) -> tuple[tuple[str, str, float], ...]:
    edges = sorted(state.graph.edges) if state.graph is not None else []
    epsilon = state.settings.epsilon
    return tuple((a, b, state.credits.edge_credit((a, b), state.pools, epsilon)) for a, b in edges)


async def _algorithm(
    store: BlobReader, state: RunState, notes: Notes, edits: Sequence[ReportedEdit], known: Described
) -> tuple[PositionShare, ...]:
    program = state.checkpoint or state.best
    if program is None:
        return ()
    means = position_means(program.steps, evaluations_of(notes, program.steps))
    digests = {str(name): str(digest) for name, digest in state.sources.items()}
    brought = code_brought(notes.changes, known.edit_marks(state, notes))
    configured = {str(name): str(parent) for name, parent in state.configured.items()}
    found = []
    for step, mean in zip(program.steps, means, strict=True):
        name, key = step.implementation, (str(step.implementation), bool(edits))
        source = (await store.get_blob(state.sources[name])).decode()
        if key not in known.traced:
            known.traced[key] = tuple(await trace_lines(store, digests, name, edits, configured))
        written = state.unconfigured(name)
        origin, has_others = brought.get(written), written != name
        found.append(PositionShare(step.operator, name, mean, source, known.traced[key], origin, has_others))
    return tuple(found)


async def _calls(store: BlobReader, state: RunState, has_texts: bool) -> tuple[dict[str, Any], ...]:
    rows = calls_view(state.ledger)
    if has_texts:
        for row in rows:
            row.update(await call_texts(store, row))
    return tuple(rows)


async def call_texts(store: BlobReader, call: dict[str, Any]) -> dict[str, str]:
    """Return ``prompt_text`` and ``response_text`` of a call, each empty where there is none."""
    texts = {}
    for key in ("prompt", "response"):
        digest = call[key]
        data = b"" if digest is None else await store.get_blob(digest)
        texts[f"{key}_text"] = data.decode("utf-8", "replace")
    return texts
