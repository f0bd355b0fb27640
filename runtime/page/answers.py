"""What all addresses of the page share: numbers in an address, answers in HTML, errors in words, and event
streams that end with the server.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import anyio
from jinja2 import Environment
from sse_starlette import EventSourceResponse
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from dga2d.events import Dga2dError, RunId
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.render import environment
from dga2d.store import EventStore, UnknownRunError

HAVE_HEADER = "x-dga2d-have"
"""Digests of the parts that a browser shows, with blanks between them."""
BREAK = "<!--part-->"
"""Stands between the parts of a panel; escaped text cannot contain it."""


class RunTimelines:
    """Timelines of the runs that were looked at."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._timelines: dict[str, Timeline] = {}

    async def timeline(self, run: str) -> Timeline:
        """Return the timeline of a run, with all that its log holds now."""
        timeline = self._timelines.setdefault(run, Timeline(self._store, RunId(run)))
        try:
            with answering():
                await timeline.catch_up()
        except HTTPException:
            if not timeline.length:
                self._timelines.pop(run, None)  # another request may have done so
            raise
        if not timeline.length:
            raise HTTPException(404, f"run {run} has no events yet")
        return timeline

    def events_read(self, run: str) -> int:
        """Return how far the log of a run has been read, checked and folded."""
        found = self._timelines.get(run)
        return 0 if found is None else found.length


def templates() -> Environment:
    """Return the templates of the page."""
    return environment(escapes=True, package="dga2d.runtime.page")


def html_answer(template: str, **context: Any) -> Response:
    """Return a page or a piece of one."""
    return HTMLResponse(templates().get_template(template).render(**context))


def piece_answer(name: str, context: dict[str, Any]) -> Response:
    """Return what a browser puts into a panel when it is opened."""
    return html_answer("panel.html.j2", panel=name, **context)


def panel_answer(
    request: Request, name: str, context: dict[str, Any], afterwards: BackgroundTask | None = None
) -> Response:
    """Return a panel in parts; those that the browser says it shows are left empty."""
    text = templates().get_template("panel.html.j2").render(panel=name, **context)
    known = frozenset(request.headers.get(HAVE_HEADER, "").split())
    return HTMLResponse(in_parts(text, known), background=afterwards)


def in_parts(text: str, known: frozenset[str]) -> str:
    """Return each part of a panel in an element that names the digest of its place and contents; the contents
    of those `known` are left out."""
    parts = []
    for place, part in enumerate(text.split(BREAK)):
        digest = blake2b(f"{place} {part}".encode(), digest_size=8).hexdigest()
        parts.append(f'<div data-part="{digest}">{"" if digest in known else part}</div>')
    return "".join(parts)


@contextmanager
def answering() -> Iterator[None]:
    """Answer what the log does not give in words."""
    try:
        yield
    except UnknownRunError as error:
        raise HTTPException(404, str(error)) from error
    except Dga2dError as error:
        raise HTTPException(500, str(error)) from error


def attachment(text: str, name: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}  # names of runs need no quoting
    return Response(text, media_type=media_type, headers=headers)


def seq_of(request: Request, length: int) -> int:
    seq = number(request.query_params.get("seq", str(length)))
    if seq is None or not 1 <= seq <= length:
        raise HTTPException(400, f"expected seq in 1..{length}")
    return seq


def number_in_path(request: Request, name: str) -> int:
    """Return the number called `name` in the address; one that no log can hold is answered with 404."""
    text = request.path_params[name]
    found = number(text)
    if found is None:
        raise HTTPException(404, f"expected a number of at most 18 digits, got {text[:24]!r}")
    return found


def number(text: str) -> int | None:
    """Return a number of an event as the page writes it; ``None`` for anything else."""
    return int(text) if re.fullmatch("0|[1-9][0-9]{0,17}", text) else None


def wanted_event(text: str) -> int:
    """Return the number of an event in a query; anything else is refused."""
    found = number(text)
    if found is None:
        raise HTTPException(400, f"expected numbers of events, got {text[:24]!r}")
    return found


async def error_answer(request: Request, error: Exception) -> Response:
    """Answer an error in words: a page for a reader, JSON for a script."""
    status, text = 500, str(error)
    if isinstance(error, HTTPException):
        status, text = error.status_code, error.detail
        if text == "Not Found":  # Starlette's own words, where no route fits
            text = f"this page has no address {request.url.path}"
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": text}, status_code=status)
    template = templates().get_template("error.html.j2")
    return HTMLResponse(template.render(status=status, text=text), status_code=status)


Message = dict[str, str]
"""Fields of a server-sent event."""


class Streams:
    """The open event streams of a server.

    A stream has no end of its own: browsers keep it open, and a server that goes away in the middle of one
    leaves an answer without its last part. So the server closes all of them first, and each ends as an answer
    ends.
    """

    def __init__(self) -> None:
        self._closing = anyio.Event()

    def close(self) -> None:
        """End all streams, and those that are still asked for."""
        self._closing.set()

    def answer(self, messages: AsyncIterator[Message]) -> EventSourceResponse:
        """Return a stream of `messages` as an answer; it ends when they do, or with the server."""
        return EventSourceResponse(self._until_closed(messages))

    async def _until_closed(self, messages: AsyncIterator[Message]) -> AsyncIterator[Message]:
        while (message := await self._next(messages)) is not None:
            yield message

    async def _next(self, messages: AsyncIterator[Message]) -> Message | None:
        """Return the next of `messages`; ``None`` after the last one, or when the server closes."""
        message = None
        async with anyio.create_task_group() as waiting:

            async def give_up() -> None:
                await self._closing.wait()
                waiting.cancel_scope.cancel()

            waiting.start_soon(give_up)
            message = await anext(messages, None)
            waiting.cancel_scope.cancel()
        return message
