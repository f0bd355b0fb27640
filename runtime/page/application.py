"""The page over the log: its addresses, its guard and its server. Nothing here writes."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import socket
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from jinja2 import Environment
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dga2d.events import Dga2dError, RunId
from dga2d.events.payloads import EvaluationRecorded
from dga2d.runtime.errors import UsageError
from dga2d.runtime.page.dashboard import MOST_COMPARED, Dashboard, compare_runs
from dga2d.runtime.page.operators import tell_operator
from dga2d.runtime.page.panels import GROUPS, PARTS, Pictures, context_for
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report import charts
from dga2d.runtime.report.data import ReportPart, call_texts
from dga2d.runtime.report.render import environment
from dga2d.runtime.report.solution_pictures import NoPictureError
from dga2d.store import EventStore, UnknownRunError, open_store

HEADERS = {
    b"content-security-policy": (
        b"default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
COOKIE = "dga2d-token"


class Page:
    """Timelines of the runs that were looked at, and the handlers of all addresses."""

    def __init__(self, store: EventStore, url: str) -> None:
        self._store = store
        self._url = url
        self._dashboard = Dashboard(store)
        self._timelines: dict[str, Timeline] = {}
        self._pictures = Pictures()
        self._templates: Environment = environment(escapes=True, package="dga2d.runtime.page")

    async def index(self, request: Request) -> Response:
        """All runs of the database."""
        return self._html("runs.html.j2", runs=await self._dashboard.rows(), url=self._url)

    async def rows(self, request: Request) -> Response:
        """The rows of the list of runs as they are now."""
        return self._html("run_rows.html.j2", runs=await self._dashboard.rows())

    async def changes(self, request: Request) -> Response:
        """Server-sent events, one whenever a run has changed."""

        async def heads() -> AsyncIterator[dict[str, str]]:
            async for events in self._dashboard.changes():
                yield {"data": str(events)}

        return EventSourceResponse(heads())

    async def run(self, request: Request) -> Response:
        """The frame of a run's page; its panels are fetched for a place in time."""
        timeline = await self._timeline(request.path_params["run"])
        return self._html(
            "run.html.j2",
            run=timeline.run_id,
            domain=timeline.latest.header.domain,
            length=timeline.length,
            marks=timeline.marks,
            best_seq=timeline.best_seq,
            groups=GROUPS,
        )

    async def panel(self, request: Request) -> Response:
        """One panel as it was after event ``seq``."""
        name = request.path_params["panel"]
        if name not in PARTS:
            raise HTTPException(404, f"there is no panel {name!r}")
        timeline = await self._timeline(request.path_params["run"])
        seq = _seq(request, timeline.length)
        return self._panel(name, await context_for(name, timeline, seq, self._pictures))

    async def operator(self, request: Request) -> Response:
        """The pool of an operator after event ``seq``, with its code and history."""
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
        """The code that an edit brought, by its event."""
        timeline = await self._timeline(request.path_params["run"])
        seq = _in_path(request, "seq")
        data = await timeline.report_data(timeline.length, frozenset[ReportPart]({"edits"}))
        found = [edit for edit in data.edits if edit.seq == seq]
        if not found:
            raise HTTPException(404, f"event {seq} is no edit")
        return self._panel("edit", {"edit": found[0]})

    async def solution(self, request: Request) -> Response:
        """Picture of the solution that an evaluation found, by its event."""
        timeline, payload = await self._evaluation(request)
        assert payload.solution is not None
        try:
            drawn = await self._pictures.svg(timeline, payload.instance, payload.solution)
        except NoPictureError as error:
            raise HTTPException(404, str(error)) from error
        # what an event found never changes; a step of the slider need not fetch it again
        return Response(drawn, media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})

    async def picture(self, request: Request) -> Response:
        """The same as a part of the page, or why there is none."""
        timeline, payload = await self._evaluation(request)
        assert payload.solution is not None
        fault = ""
        try:
            await self._pictures.svg(timeline, payload.instance, payload.solution)
        except NoPictureError as error:
            fault = str(error)
        drawn = {"instance": payload.instance, "address": f"{request.url.path}.svg", "fault": fault}
        return self._panel("picture", {"drawn": drawn})

    async def _evaluation(self, request: Request) -> tuple[Timeline, EvaluationRecorded]:
        """Return the evaluation with a solution that the address names by its event."""
        timeline = await self._timeline(request.path_params["run"])
        seq = _in_path(request, "seq")
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
        """Several runs side by side; what differs is marked."""
        names = list(dict.fromkeys(request.query_params.getlist("run")))
        if not 1 <= len(names) <= MOST_COMPARED:
            raise HTTPException(
                400, f"choose between one and {MOST_COMPARED} runs to compare, not {len(names)}"
            )
        timelines = [await self._timeline(name) for name in names]
        parts = frozenset[ReportPart]({"algorithm"})
        reports = [await timeline.report_data(timeline.length, parts) for timeline in timelines]
        plot = charts.comparison(
            [(data.view["run"], data.view["history"], data.milestones.levels) for data in reports]
        )
        chart = None if plot is None else charts.draw_chart(plot)
        rows = compare_runs(reports)
        return self._html("compare.html.j2", names=names, rows=rows, chart=chart, plot=charts)

    async def stylesheet(self, request: Request) -> Response:
        """The style of reports, which the page shares."""
        style = self._templates.get_template("style.css.j2").render()
        return Response(style, media_type="text/css")

    async def _timeline(self, run: str) -> Timeline:
        timeline = self._timelines.setdefault(run, Timeline(self._store, RunId(run)))
        try:
            await timeline.catch_up()
        except UnknownRunError as error:
            self._timelines.pop(run, None)  # another request may have done so
            raise HTTPException(404, str(error)) from error
        except Dga2dError as error:
            raise HTTPException(500, str(error)) from error
        if not timeline.length:
            raise HTTPException(404, f"run {run} has no events yet")
        return timeline

    def _panel(self, name: str, context: dict[str, Any]) -> Response:
        return self._html("panel.html.j2", panel=name, **context)

    def _html(self, template: str, **context: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(**context))


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


class _Guard:
    """Adds the security headers and, where a token is set, asks for it."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in HEADERS.items() if name not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        if self._token is None or _same(request.cookies.get(COOKIE), self._token):
            return None
        if not _same(request.query_params.get("token"), self._token):
            return PlainTextResponse("This page needs the token that `dga2d serve` printed.", 401)
        response = RedirectResponse(request.url.remove_query_params("token"))
        response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
        return response


def _same(given: str | None, token: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


async def _on_error(request: Request, error: Exception) -> Response:
    """What is not there, or what the database cannot give any more, is said in words: as a page to a reader,
    as JSON to a script."""
    status, text = 500, str(error)
    if isinstance(error, HTTPException):
        status, text = error.status_code, error.detail
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": text}, status_code=status)
    template = environment(escapes=True, package="dga2d.runtime.page").get_template("error.html.j2")
    return HTMLResponse(template.render(status=status, text=text), status_code=status)


def make_application(
    store: EventStore, url: str, token: str | None = None, hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
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
    """
    page = Page(store, url)
    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/rows", page.rows),
            Route("/changes", page.changes),
            Route("/compare", page.compare),
            Route("/runs/{run}", page.run),
            Route("/runs/{run}/facts", page.facts),
            Route("/runs/{run}/stream", page.stream),
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
            Middleware(_Guard, token=token),
        ],
        exception_handlers={HTTPException: _on_error, Dga2dError: _on_error},
    )


async def serve(url: str, host: str, port: int, token: str | None, announce: Callable[[str], None]) -> None:
    """Serve the page for the database at `url`; calls `announce` with its address once it answers.

    Raises
    ------
    UsageError
        Other machines could reach `host` and there is no token, or the port is taken.
    """
    if token is None and not _is_local(host):
        raise UsageError(f"--host {host} is reachable from other machines; give --token SECRET too")
    async with open_store(url, create=False, read_only=True) as store:
        listener = _listen(host, port)
        named = f"[{host}]" if ":" in host else host
        names = (host, named, "localhost", "127.0.0.1") if _is_local(host) else ("*",)
        application = make_application(store, url, token, names)
        server = _Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
        shown = f"http://{named}:{listener.getsockname()[1]}/"
        announce(shown if token is None else f"{shown}?token={token}")
        await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Ends open event streams with the server instead of waiting for browsers to go away."""

    def handle_exit(self, sig: int, frame: object) -> None:
        self.force_exit = True
        super().handle_exit(sig, frame)  # type: ignore[arg-type]


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
        ) from error
    listener.listen(128)
    return listener
