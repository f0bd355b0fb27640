"""The addresses of one run: its frame, its panels at any event, what is told of an operator, downloads, and
its live tail.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError, OperatorId, RunId
from dga2d.events import payloads as p
from dga2d.replay.state.fold import fold_all
from dga2d.runtime.inspection.log_reading import export_to
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.page import answers
from dga2d.runtime.page.dashboard import Dashboard
from dga2d.runtime.page.panels import GROUPS, LISTS, PARTS, TAB_WORDS, context_for
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report import read_report_data, render_html
from dga2d.runtime.report.data import ReportPart, call_texts
from dga2d.runtime.report.graph_drawing import categories
from dga2d.runtime.report.lineage import edit_text
from dga2d.runtime.report.milestones import EditMark
from dga2d.runtime.report.notes import Change
from dga2d.runtime.runs.states import refuse_training
from dga2d.runtime.solver_export import export_solver
from dga2d.store import EventStore, verify_events


@dataclass(frozen=True)
class PooledCode:
    """An implementation in a pool."""

    name: str
    credit: float
    is_incumbent: bool
    seq: int
    """Event that brought it; 0 for the library's."""
    source: str


@dataclass(frozen=True)
class ToldOperator:
    """An operator at one event."""

    name: str
    category: str
    credit: float
    pool: tuple[PooledCode, ...]
    """Highest credit first."""
    edits: tuple[EditMark, ...]
    """Latest first."""


async def tell_operator(timeline: Timeline, seq: int, name: str) -> ToldOperator | None:
    """Return an operator after event `seq`; ``None`` where there is none of that name."""
    state = await timeline.state_at(seq)
    operator = OperatorId(name)
    if operator not in state.pools:
        return None
    epsilon, program = state.settings.epsilon, state.champion or state.best
    steps = () if program is None else program.steps
    used = {state.successor(step.implementation) for step in steps}
    changes = [change for change in timeline.notes.until(seq).changes if operator in _concerned(change)]
    brought = {
        change.payload.implementation: change.seq
        for change in changes
        if isinstance(change.payload, p.ImplementationAdded | p.ImplementationReplaced)
    }
    brought |= {
        host.implementation: change.seq
        for change in changes
        if isinstance(change.payload, p.KernelReplaced)
        for host in change.payload.replaced
    }
    pool = [
        PooledCode(
            one,
            state.credits.implementation_credit(one, epsilon),
            one in used,
            brought.get(one, 0),
            (await timeline.get_blob(state.sources[one])).decode(),
        )
        for one in state.pools[operator]
    ]
    measure = measure_of(state.header)
    return ToldOperator(
        name,
        categories(state.header, state)[operator],
        state.credits.operator_credit(state.pools[operator], epsilon),
        tuple(sorted(pool, key=lambda one: (-one.credit, one.name))),
        tuple(
            EditMark(change.payload.generation, change.seq, edit_text(change, measure))
            for change in reversed(changes)
        ),
    )


def _concerned(change: Change) -> set[OperatorId]:
    """Return the operators whose pools a change is about."""
    match change.payload:
        case p.EdgeReplaced():
            return set()
        case p.KernelReplaced(replaced=hosts):
            return {host.operator for host in hosts}
        case payload:
            return {payload.operator}


@dataclass(frozen=True)
class RunPage:
    """The handlers of all addresses below ``/runs/RUN`` but those of pictures."""

    store: EventStore
    url: str
    runs: answers.RunTimelines
    dashboard: Dashboard
    streams: answers.Streams
    acts: bool

    async def run(self, request: Request) -> Response:
        """Show the frame of a run's page; its panels are fetched for a place in time.

        It needs the ends of the log alone, and comes before the rest is read. What the list of runs knows of
        the run stands in it until then.
        """
        run_id = RunId(request.path_params["run"])
        with answers.answering():
            length = (await self.store.head(run_id)).seq
            first = [event async for event in verify_events(self.store.read(run_id, until=1))]
            state = fold_all(first)
            refuse_training(run_id, state)
        if state.started is None:
            raise HTTPException(404, f"run {run_id} has no events yet")
        return answers.html_answer(
            "run.html.j2",
            run=run_id,
            header=state.header,
            begun_at=first[0].recorded_at,
            known=self.dashboard.find_row(run_id, length),
            length=length,
            groups=GROUPS,
            tab_words=TAB_WORDS,
            acts=self.acts,
        )

    async def reading(self, request: Request) -> Response:
        """Say how many events of the log have been read, checked and folded."""
        return JSONResponse({"read": self.runs.events_read(request.path_params["run"])})

    async def panel(self, request: Request) -> Response:
        """Show one panel as it was after event ``seq``."""
        name = request.path_params["panel"]
        if name not in PARTS | LISTS:
            raise HTTPException(404, f"there is no panel {name!r}")
        timeline = await self.runs.timeline(request.path_params["run"])
        seq = answers.seq_of(request, timeline.length)
        context = await context_for(name, timeline, seq)
        if name in LISTS:
            return answers.piece_answer(name, context)
        return answers.panel_answer(request, name, context, BackgroundTask(timeline.prepare))

    async def operator(self, request: Request) -> Response:
        """Show the pool of an operator after event ``seq``, with its code and history."""
        timeline = await self.runs.timeline(request.path_params["run"])
        seq = answers.seq_of(request, timeline.length)
        told = await tell_operator(timeline, seq, request.query_params.get("name", ""))
        if told is None:
            raise HTTPException(404, f"there is no such operator after event {seq}")
        return answers.piece_answer("operator", {"operator": told})

    async def call(self, request: Request) -> Response:
        """Show the prompt and answer of one model call."""
        timeline = await self.runs.timeline(request.path_params["run"])
        number = answers.number_in_path(request, "number")
        call = timeline.latest.ledger.calls.get(number)
        if call is None:
            raise HTTPException(404, f"there is no call {number}")
        row = {"prompt": call.prompt, "response": call.response}
        return answers.piece_answer("call", {"call": await call_texts(timeline, row)})

    async def edit(self, request: Request) -> Response:
        """Show the code that an edit brought, looked up by its event."""
        timeline = await self.runs.timeline(request.path_params["run"])
        seq = answers.number_in_path(request, "seq")
        data = await timeline.report_data(timeline.length, frozenset[ReportPart]({"edits"}))
        found = [edit for edit in data.edits if edit.seq == seq]
        if not found:
            raise HTTPException(404, f"event {seq} is no edit")
        return answers.piece_answer("edit", {"edit": found[0]})

    async def facts(self, request: Request) -> Response:
        """Return the length of the log and its marks, for the slider."""
        timeline = await self.runs.timeline(request.path_params["run"])
        return JSONResponse(
            {
                "length": timeline.length,
                "marks": timeline.marks,
                "best_seq": timeline.best_seq,
                "status": timeline.latest.status,
            }
        )

    async def stream(self, request: Request) -> Response:
        """Send events as they come, each with its number in the log as id: a reconnect misses nothing."""
        run_id = RunId(request.path_params["run"])
        await self.runs.timeline(run_id)
        after = answers.number(
            request.headers.get("last-event-id") or request.query_params.get("after") or "0"
        )
        if after is None:
            raise HTTPException(400, "expected the number of an event")

        async def tail() -> AsyncIterator[dict[str, str]]:
            async for event in self.store.subscribe(run_id, after):
                yield {"id": str(event.seq), "data": json.dumps({"seq": event.seq, "type": event.type})}

        return self.streams.answer(tail())

    async def download(self, request: Request) -> Response:
        """Return a file to keep: the solver as of event ``seq``, the run's archive, or its report."""
        timeline = await self.runs.timeline(request.path_params["run"])
        run, kind = timeline.run_id, request.path_params["kind"]
        if kind == "solver.py":
            seq = answers.seq_of(request, timeline.length)
            generation = None if seq == timeline.length else bisect_right(timeline.marks, seq)
            try:
                exported = await export_solver(self.url, run, datetime.now(UTC), None, generation)
            except (Dga2dError, DomainError) as error:
                raise HTTPException(409, str(error)) from error
            return answers.attachment(exported.text, f"{run}.py", "text/x-python")
        if kind == "report.html":
            return answers.attachment(
                render_html(await read_report_data(self.url, run)), f"{run}.html", "text/html"
            )
        if kind == "archive.zip":
            folder = TemporaryDirectory(prefix="dga2d-")
            path = Path(folder.name) / f"{run}.dga2d.zip"
            await export_to(self.url, run, path)
            return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
        raise HTTPException(404, f"there is no download {kind!r}")
