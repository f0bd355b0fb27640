"""The page over the log: its addresses, what they answer, and the guard before all of them.

It reads only. Where actions are allowed, they are commands in processes of their own (`actions`).
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.inspection.pairs import interval
from dga2d.runtime.page.actions import Actions
from dga2d.runtime.page.answers import RunTimelines, Streams, error_answer, html_answer, templates
from dga2d.runtime.page.chart_values import compared_values
from dga2d.runtime.page.dashboard import MOST_COMPARED, Dashboard, compare_runs
from dga2d.runtime.page.groups import compare_groups, group_plot, read_groups
from dga2d.runtime.page.run_page import RunPage
from dga2d.runtime.page.solution_page import SolutionPage
from dga2d.runtime.report import charts
from dga2d.runtime.report.code import highlight_lines
from dga2d.runtime.report.data import ReportPart
from dga2d.store import EventStore, UnknownRunError, shown_url

HEADERS = {
    b"content-security-policy": (
        b"default-src 'self'; img-src 'self' data:; "  # a chart becomes PNG by way of an image of its own
        b"style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
COOKIE = "dga2d-token"


class Guard:
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


ACT_HEADER = "x-dga2d-act"
LIST_STATE = frozenset({"run", "filter", "sort", "order"})
"""What the address of the list of runs keeps."""
MOST_GROUPED = 400
"""Runs in one comparison of groups; each log is read."""


@dataclass(frozen=True)
class Page:
    """The handlers of the addresses that are of no single run."""

    store: EventStore
    url: str
    runs: RunTimelines
    actions: Actions | None
    dashboard: Dashboard
    streams: Streams

    async def index(self, request: Request) -> Response:
        """Show all runs of the database."""
        domains = None if self.actions is None else self.actions.domains()
        return html_answer(
            "runs.html.j2", runs=await self.dashboard.rows(), url=shown_url(self.url), domains=domains
        )

    async def rows(self, request: Request) -> Response:
        """Return the current rows of the list of runs."""
        return html_answer("run_rows.html.j2", runs=await self.dashboard.rows())

    async def changes(self, request: Request) -> Response:
        """Send an event whenever a run has changed."""

        async def heads() -> AsyncIterator[dict[str, str]]:
            async for events in self.dashboard.changes():
                yield {"data": str(events)}

        return self.streams.answer(heads())

    async def compare(self, request: Request) -> Response:
        """Show several runs side by side, with their differences marked.

        Many runs, and any on request, are shown in groups of equal settings.
        """
        names = list(dict.fromkeys(request.query_params.getlist("run")))
        if not 1 <= len(names) <= MOST_GROUPED:
            raise HTTPException(
                400, f"choose between one and {MOST_GROUPED} runs to compare, not {len(names)}"
            )
        if len(names) > MOST_COMPARED or "grouped" in request.query_params:
            return await self._compare_groups(names, _list_query(request))
        timelines = [await self.runs.timeline(name) for name in names]
        parts = frozenset[ReportPart]({"algorithm", "milestones"})
        reports = [await timeline.report_data(timeline.length, parts) for timeline in timelines]
        measure = measure_in(reports[0].view)  # a chart has one scale
        alike = [data for data in reports if measure_in(data.view) is measure]
        plot = charts.comparison(
            [(data.view["run"], data.view["history"], data.milestones.levels) for data in alike],
            measure,
        )
        rows = compare_runs(reports)
        query = _list_query(request)
        return html_answer(
            "compare.html.j2",
            names=names,
            columns=None,
            rows=rows,
            all=names,
            query=query,
            **_draw_comparison(plot),
        )

    async def _compare_groups(self, names: list[str], query: str) -> Response:
        try:
            groups = await read_groups(self.store, names)
        except UnknownRunError as error:
            raise HTTPException(404, str(error)) from error
        if len(groups) > MOST_COMPARED:
            raise HTTPException(
                400,
                f"these {len(names)} runs have {len(groups)} different settings; "
                f"at most {MOST_COMPARED} can be told apart",
            )
        plot = group_plot(groups)
        return html_answer(
            "compare.html.j2",
            names=[f"{len(names)} runs"],
            columns=[group.name for group in groups],
            rows=compare_groups(groups) if groups else [],
            all=names,
            query=query,
            **_draw_comparison(plot),
        )

    async def act(self, request: Request) -> Response:
        """Propose a command, or begin the one that was confirmed."""
        if self.actions is None:
            raise HTTPException(403, "this page only reads; `dga2d serve --act` lets it begin commands")
        if request.headers.get(ACT_HEADER) != "1":  # no other site can send it unasked
            raise HTTPException(403, f"an action needs the header {ACT_HEADER}: 1")
        try:
            asked = _Asked.model_validate_json(await request.body())
            told = await self.actions.act(request.path_params["action"], asked.fields, asked.confirmed)
        except ValidationError as error:
            raise HTTPException(400, f"expected fields and confirmed: {error.errors()[0]['msg']}") from error
        except (Dga2dError, DomainError) as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse(told)

    async def activity(self, request: Request) -> Response:
        """Show the commands started from the page, and how far each has got."""
        begun = [] if self.actions is None else self.actions.processes.latest()
        return html_answer("activity.html.j2", begun=begun)

    async def stylesheet(self, request: Request) -> Response:
        """Return the style sheet that the page shares with reports."""
        style = templates().get_template("style.css.j2").render()
        return Response(style, media_type="text/css")


class _Asked(BaseModel):
    """Body of a request to act."""

    fields: dict[str, str]
    confirmed: str = ""


def _list_query(request: Request) -> str:
    """Return the query by which the list of runs shows the chosen runs as it was: filtered and sorted."""
    kept = [(key, value) for key, value in request.query_params.multi_items() if key in LIST_STATE]
    return urlencode(kept)


def _draw_comparison(plot: charts.GapPlot | None) -> dict[str, Any]:
    """Return a comparison's chart as the browser draws it, and as it is without JavaScript."""
    if plot is None:
        return {"chart": None, "plot": charts}
    return {"chart": charts.draw_chart(plot), "told": compared_values(plot), "plot": charts}


def warm_up() -> None:
    """Prepare what the first page needs besides the log: templates, the colours of code, and SciPy."""
    made = templates()
    for name in (
        "run.html.j2",
        "style.css.j2",
        "panel.html.j2",
        "parts.html.j2",
        "story.html.j2",
        "runs.html.j2",
    ):
        made.get_template(name)
    highlight_lines("pass")
    interval([0.0, 1.0])


def make_application(
    store: EventStore,
    url: str,
    token: str | None = None,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost"),
    acts: bool = False,
    streams: Streams | None = None,
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
    streams
        Ends the event streams where a server ends before its clients do.
    """
    runs, dashboard, streams = RunTimelines(store), Dashboard(store), streams or Streams()
    page = Page(store, url, runs, Actions(store, url) if acts else None, dashboard, streams)
    run, solutions = RunPage(store, url, runs, dashboard, streams, acts), SolutionPage(runs)
    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/rows", page.rows),
            Route("/changes", page.changes),
            Route("/compare", page.compare),
            Route("/activity", page.activity),
            Route("/actions/{action}", page.act, methods=["POST"]),
            Route("/runs/{run}", run.run),
            Route("/runs/{run}/facts", run.facts),
            Route("/runs/{run}/reading", run.reading),
            Route("/runs/{run}/stream", run.stream),
            Route("/runs/{run}/take/{kind}", run.download),
            Route("/runs/{run}/operator", run.operator),
            Route("/runs/{run}/calls/{number}", run.call),
            Route("/runs/{run}/edits/{seq}", run.edit),
            Route("/runs/{run}/solutions/{seq}.svg", solutions.solution),
            Route("/runs/{run}/solutions/{seq}", solutions.picture),
            Route("/runs/{run}/{panel}", run.panel),
            Route("/static/report.css", page.stylesheet),
            Mount("/static", StaticFiles(directory=Path(str(files("dga2d.runtime.page"))) / "static")),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(Guard, token=token),
        ],
        exception_handlers={HTTPException: error_answer, Dga2dError: error_answer},
    )
