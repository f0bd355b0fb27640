"""The page over the log: its addresses and what they answer.

It reads only. Where actions are allowed, they are commands in processes of their own (`actions`)."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio import to_thread
from jinja2 import Environment
from pydantic import BaseModel, ValidationError
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dga2d.domains.core.errors import DomainError
from dga2d.domains.drawing import Picture
from dga2d.events import BlobDigest, Dga2dError, InstanceKey, RunId
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.state.fold import fold_all
from dga2d.runtime.inspection.log_reading import export_to
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.inspection.pairs import interval
from dga2d.runtime.page.actions import Actions
from dga2d.runtime.page.dashboard import MOST_COMPARED, Dashboard, compare_runs
from dga2d.runtime.page.groups import compare_groups, group_plot, read_groups
from dga2d.runtime.page.guard import Guard
from dga2d.runtime.page.operators import tell_operator
from dga2d.runtime.page.panels import FRAMES_SHOWN, GROUPS, PARTS, Pictures, context_for
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report import charts, read_report_data, render_html
from dga2d.runtime.report.data import ReportPart, call_texts
from dga2d.runtime.report.render import environment
from dga2d.runtime.report.solution_pictures import NoPictureError, SolutionPicture, inline_svg, picture_file
from dga2d.runtime.runs.states import refuse_training
from dga2d.runtime.solver_export import export_solver
from dga2d.store import EventStore, UnknownRunError, shown_url, verified

ACT_HEADER = "x-dga2d-act"
MOST_GROUPED = 400
"""Runs in one comparison of groups; each log is read."""


class Page:
    """Timelines of the runs that were looked at, and the handlers of all addresses."""

    def __init__(self, store: EventStore, url: str, actions: Actions | None = None) -> None:
        self._store = store
        self._url = url
        self._actions = actions
        self._dashboard = Dashboard(store)
        self._timelines: dict[str, Timeline] = {}
        self._pictures = Pictures()
        self._templates: Environment = environment(escapes=True, package="dga2d.runtime.page")

    async def index(self, request: Request) -> Response:
        """Show all runs of the database."""
        domains = None if self._actions is None else self._actions.domains()
        return self._html(
            "runs.html.j2", runs=await self._dashboard.rows(), url=shown_url(self._url), domains=domains
        )

    async def rows(self, request: Request) -> Response:
        """Return the current rows of the list of runs."""
        return self._html("run_rows.html.j2", runs=await self._dashboard.rows())

    async def changes(self, request: Request) -> Response:
        """Server-sent events, one whenever a run has changed."""

        async def heads() -> AsyncIterator[dict[str, str]]:
            async for events in self._dashboard.changes():
                yield {"data": str(events)}

        return EventSourceResponse(heads())

    async def run(self, request: Request) -> Response:
        """Show the frame of a run's page; its panels are fetched for a place in time.

        It needs the ends of the log alone, and comes before the rest is read.
        """
        run_id = RunId(request.path_params["run"])
        with _answering():
            length = (await self._store.head(run_id)).seq
            first = [event async for event in verified(self._store.read(run_id, until=1))]
            state = fold_all(first)
            refuse_training(run_id, state)
        if state.started is None:
            raise HTTPException(404, f"run {run_id} has no events yet")
        return self._html(
            "run.html.j2",
            run=run_id,
            domain=state.header.domain,
            length=length,
            groups=GROUPS,
            acts=self._actions is not None,
        )

    async def panel(self, request: Request) -> Response:
        """Show one panel as it was after event ``seq``."""
        name = request.path_params["panel"]
        if name not in PARTS:
            raise HTTPException(404, f"there is no panel {name!r}")
        timeline = await self._timeline(request.path_params["run"])
        seq = _seq(request, timeline.length)
        return self._panel(name, await context_for(name, timeline, seq))

    async def operator(self, request: Request) -> Response:
        """Show the pool of an operator after event ``seq``, with its code and history."""
        timeline = await self._timeline(request.path_params["run"])
        seq = _seq(request, timeline.length)
        told = await tell_operator(timeline, seq, request.query_params.get("name", ""))
        if told is None:
            raise HTTPException(404, f"there is no such operator after event {seq}")
        return self._panel("operator", {"operator": told})

    async def call(self, request: Request) -> Response:
        """Prompt and answer of one model call."""
        timeline = await self._timeline(request.path_params["run"])
        number = _in_path(request, "number")
        call = timeline.latest.ledger.calls.get(number)
        if call is None:
            raise HTTPException(404, f"there is no call {number}")
        row = {"prompt": call.prompt, "response": call.response}
        return self._panel("call", {"call": await call_texts(timeline, row)})

    async def edit(self, request: Request) -> Response:
        """Show the code that an edit brought, looked up by its event."""
        timeline = await self._timeline(request.path_params["run"])
        seq = _in_path(request, "seq")
        data = await timeline.report_data(timeline.length, frozenset[ReportPart]({"edits"}))
        found = [edit for edit in data.edits if edit.seq == seq]
        if not found:
            raise HTTPException(404, f"event {seq} is no edit")
        return self._panel("edit", {"edit": found[0]})

    async def solution(self, request: Request) -> Response:
        """Picture of the solution that an evaluation found, by its event, as a file."""
        try:
            _, picture = await self._drawn(request)
        except NoPictureError as error:
            raise HTTPException(404, str(error)) from error
        file = await to_thread.run_sync(picture_file, picture)
        # what an event found never changes; a step of the slider need not fetch it again
        return Response(file, media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})

    async def picture(self, request: Request) -> Response:
        """The same as a part of the page, or why there is none."""
        file = f"{request.url.path}.svg"
        try:
            instance, picture = await self._drawn(request)
            svg = await to_thread.run_sync(inline_svg, picture)
            drawn = SolutionPicture(instance, svg, image="" if svg else file, file=file)
        except NoPictureError as error:
            _, evaluation = await self._evaluation(request, _in_path(request, "seq"))
            drawn = SolutionPicture(evaluation.instance, fault=str(error))
        answer = self._panel("picture", {"drawn": drawn})
        if not drawn.fault:
            answer.headers["cache-control"] = "private, max-age=600"
        return answer

    async def _drawn(self, request: Request) -> tuple[InstanceKey, Picture]:
        """Return the picture that the address names, with the axes of all those ``among`` which it stands."""
        timeline, payload = await self._evaluation(request, _in_path(request, "seq"))
        assert payload.solution is not None
        among: list[BlobDigest] = []
        for number in filter(None, request.query_params.get("among", "").split(",")):
            _, other = await self._evaluation(request, _wanted_event(number))
            if other.instance != payload.instance or len(among) == FRAMES_SHOWN:
                raise HTTPException(400, f"expected at most {FRAMES_SHOWN} solutions of {payload.instance}")
            assert other.solution is not None
            among.append(other.solution)
        return payload.instance, await self._pictures.get(timeline, payload.instance, payload.solution, among)

    async def _evaluation(self, request: Request, seq: int) -> tuple[Timeline, EvaluationRecorded]:
        """Return the evaluation with a solution that event `seq` recorded."""
        timeline = await self._timeline(request.path_params["run"])
        payload = (await timeline.event_at(seq)).payload if 1 <= seq <= timeline.length else None
        if not isinstance(payload, EvaluationRecorded) or payload.solution is None:
            raise HTTPException(404, f"event {seq} brought no solution")
        return timeline, payload

    async def facts(self, request: Request) -> Response:
        """Length of the log and its marks, for the slider."""
        timeline = await self._timeline(request.path_params["run"])
        return JSONResponse(
            {
                "length": timeline.length,
                "marks": timeline.marks,
                "best_seq": timeline.best_seq,
                "status": timeline.latest.status,
            }
        )

    async def stream(self, request: Request) -> Response:
        """Server-sent events; the id of each is its number in the log, so a reconnect misses nothing."""
        run_id = RunId(request.path_params["run"])
        await self._timeline(run_id)
        after = _number(request.headers.get("last-event-id") or request.query_params.get("after") or "0")
        if after is None:
            raise HTTPException(400, "expected the number of an event")

        async def tail() -> AsyncIterator[dict[str, str]]:
            async for event in self._store.subscribe(run_id, after):
                yield {"id": str(event.seq), "data": json.dumps({"seq": event.seq, "type": event.type})}

        return EventSourceResponse(tail())

    async def compare(self, request: Request) -> Response:
        """Several runs side by side, or, where there are many or it is asked for, their groups of equal
        settings; what differs is marked."""
        names = list(dict.fromkeys(request.query_params.getlist("run")))
        if not 1 <= len(names) <= MOST_GROUPED:
            raise HTTPException(
                400, f"choose between one and {MOST_GROUPED} runs to compare, not {len(names)}"
            )
        if len(names) > MOST_COMPARED or "grouped" in request.query_params:
            return await self._compare_groups(names)
        timelines = [await self._timeline(name) for name in names]
        parts = frozenset[ReportPart]({"algorithm"})
        reports = [await timeline.report_data(timeline.length, parts) for timeline in timelines]
        measure = measure_in(reports[0].view)  # a chart has one scale
        alike = [data for data in reports if measure_in(data.view) is measure]
        plot = charts.comparison(
            [(data.view["run"], data.view["history"], data.milestones.levels) for data in alike],
            measure,
        )
        chart = None if plot is None else charts.draw_chart(plot)
        rows = compare_runs(reports)
        return self._html(
            "compare.html.j2", names=names, columns=None, rows=rows, chart=chart, plot=charts, all=names
        )

    async def _compare_groups(self, names: list[str]) -> Response:
        try:
            groups = await read_groups(self._store, names)
        except UnknownRunError as error:
            raise HTTPException(404, str(error)) from error
        if len(groups) > MOST_COMPARED:
            raise HTTPException(
                400,
                f"these {len(names)} runs have {len(groups)} different settings; "
                f"at most {MOST_COMPARED} can be told apart",
            )
        plot = group_plot(groups)
        return self._html(
            "compare.html.j2",
            names=[f"{len(names)} runs"],
            columns=[group.name for group in groups],
            rows=compare_groups(groups) if groups else [],
            chart=None if plot is None else charts.draw_chart(plot),
            plot=charts,
            all=names,
        )

    async def act(self, request: Request) -> Response:
        """Propose a command, or begin the one that was confirmed."""
        if self._actions is None:
            raise HTTPException(403, "this page only reads; `dga2d serve --act` lets it begin commands")
        if request.headers.get(ACT_HEADER) != "1":  # no other site can send it unasked
            raise HTTPException(403, f"an action needs the header {ACT_HEADER}: 1")
        try:
            asked = _Asked.model_validate_json(await request.body())
            told = await self._actions.act(request.path_params["action"], asked.fields, asked.confirmed)
        except ValidationError as error:
            raise HTTPException(400, f"expected fields and confirmed: {error.errors()[0]['msg']}") from error
        except (Dga2dError, DomainError) as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse(told)

    async def activity(self, request: Request) -> Response:
        """Show the commands started from the page, and how far each has got."""
        begun = [] if self._actions is None else self._actions.processes.latest()
        return self._html("activity.html.j2", begun=begun)

    async def download(self, request: Request) -> Response:
        """What a run is worth outside: its solver as it was after event ``seq``, its archive, its report."""
        timeline = await self._timeline(request.path_params["run"])
        run, kind = timeline.run_id, request.path_params["kind"]
        if kind == "solver.py":
            seq = _seq(request, timeline.length)
            generation = None if seq == timeline.length else bisect_right(timeline.marks, seq)
            try:
                exported = await export_solver(self._url, run, datetime.now(UTC), None, generation)
            except (Dga2dError, DomainError) as error:
                raise HTTPException(409, str(error)) from error
            return _attachment(exported.text, f"{run}.py", "text/x-python")
        if kind == "report.html":
            return _attachment(
                render_html(await read_report_data(self._url, run)), f"{run}.html", "text/html"
            )
        if kind == "archive.zip":
            folder = TemporaryDirectory(prefix="dga2d-")
            path = Path(folder.name) / f"{run}.dga2d.zip"
            await export_to(self._url, run, path)
            return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
        raise HTTPException(404, f"there is no download {kind!r}")

    async def stylesheet(self, request: Request) -> Response:
        """Return the style sheet that the page shares with reports."""
        style = self._templates.get_template("style.css.j2").render()
        return Response(style, media_type="text/css")

    async def _timeline(self, run: str) -> Timeline:
        timeline = self._timelines.setdefault(run, Timeline(self._store, RunId(run)))
        try:
            with _answering():
                await timeline.catch_up()
        except HTTPException:
            if not timeline.length:
                self._timelines.pop(run, None)  # another request may have done so
            raise
        if not timeline.length:
            raise HTTPException(404, f"run {run} has no events yet")
        return timeline

    def _panel(self, name: str, context: dict[str, Any]) -> Response:
        return self._html("panel.html.j2", panel=name, **context)

    def _html(self, template: str, **context: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(**context))


@contextmanager
def _answering() -> Iterator[None]:
    """Answer what the log does not give in words."""
    try:
        yield
    except UnknownRunError as error:
        raise HTTPException(404, str(error)) from error
    except Dga2dError as error:
        raise HTTPException(500, str(error)) from error


class _Asked(BaseModel):
    """Body of a request to act."""

    fields: dict[str, str]
    confirmed: str = ""


def _attachment(text: str, name: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}  # names of runs need no quoting
    return Response(text, media_type=media_type, headers=headers)


def _seq(request: Request, length: int) -> int:
    seq = _number(request.query_params.get("seq", str(length)))
    if seq is None or not 1 <= seq <= length:
        raise HTTPException(400, f"expected seq in 1..{length}")
    return seq


def _in_path(request: Request, name: str) -> int:
    """Return the number called `name` in the address; one that no log can hold is answered with 404."""
    text = request.path_params[name]
    number = _number(text)
    if number is None:
        raise HTTPException(404, f"expected a number of at most 18 digits, got {text[:24]!r}")
    return number


def _number(text: str) -> int | None:
    """Return a number of an event as the page writes it; ``None`` for anything else."""
    return int(text) if re.fullmatch("0|[1-9][0-9]{0,17}", text) else None


def _wanted_event(text: str) -> int:
    """Return the number of an event in a query; anything else is refused."""
    number = _number(text)
    if number is None:
        raise HTTPException(400, f"expected numbers of events, got {text[:24]!r}")
    return number


async def _on_error(request: Request, error: Exception) -> Response:
    """What is not there, or what the database cannot give any more, is said in words: as a page to a reader,
    as JSON to a script."""
    status, text = 500, str(error)
    if isinstance(error, HTTPException):
        status, text = error.status_code, error.detail
        if text == "Not Found":  # Starlette's own words, where no route fits
            text = f"this page has no address {request.url.path}"
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": text}, status_code=status)
    template = environment(escapes=True, package="dga2d.runtime.page").get_template("error.html.j2")
    return HTMLResponse(template.render(status=status, text=text), status_code=status)


def warm_up() -> None:
    """Prepare what the first panel needs besides the log: templates, and an import of half a second."""
    templates = environment(escapes=True, package="dga2d.runtime.page")
    for name in ("run.html.j2", "panel.html.j2", "parts.html.j2", "story.html.j2", "runs.html.j2"):
        templates.get_template(name)
    interval([0.0, 1.0])


def make_application(
    store: EventStore,
    url: str,
    token: str | None = None,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost"),
    acts: bool = False,
) -> Starlette:
    """Return the page over `store`.

    Parameters
    ----------
    url
        The same store's address, for the list of runs.
    token
        Secret that a browser must bring once; ``None`` for none.
    hosts
        Names under which the page may be asked for: other names are refused, so that a web site cannot
        reach it through a name of its own.
    acts
        Whether the page may begin commands.
    """
    page = Page(store, url, Actions(store, url) if acts else None)
    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/rows", page.rows),
            Route("/changes", page.changes),
            Route("/compare", page.compare),
            Route("/activity", page.activity),
            Route("/actions/{action}", page.act, methods=["POST"]),
            Route("/runs/{run}", page.run),
            Route("/runs/{run}/facts", page.facts),
            Route("/runs/{run}/stream", page.stream),
            Route("/runs/{run}/take/{kind}", page.download),
            Route("/runs/{run}/operator", page.operator),
            Route("/runs/{run}/calls/{number}", page.call),
            Route("/runs/{run}/edits/{seq}", page.edit),
            Route("/runs/{run}/solutions/{seq}.svg", page.solution),
            Route("/runs/{run}/solutions/{seq}", page.picture),
            Route("/runs/{run}/{panel}", page.panel),
            Route("/static/report.css", page.stylesheet),
            Mount("/static", StaticFiles(directory=Path(str(files("dga2d.runtime.page"))) / "static")),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(Guard, token=token),
        ],
        exception_handlers={HTTPException: _on_error, Dga2dError: _on_error},
    )
