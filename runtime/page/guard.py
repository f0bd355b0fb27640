"""The guard before all addresses of the page: security headers, and the token where one is set."""

from __future__ import annotations

import hmac

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
