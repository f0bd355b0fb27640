"""One attempt over HTTP: what was sent, what came back, and whether it may have been charged.

The distinction that matters is made here. An attempt is *refused* when the endpoint did not accept it: no
connection, 429, 503, 529. From the moment a request may have been accepted, whatever goes wrong leaves a
*lost* call.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import httpx

from dga2d import __version__
from dga2d.agents.proposing.errors import CallLostError
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.endpoint import Endpoint
from dga2d.runtime.gateway.protocols import ChatAnswer, MalformedAnswerError, StreamReader
from dga2d.runtime.gateway.retries import AttemptRefusedError, EndpointStatusError

CONNECT_S = 10.0
PROBE_S = 15.0
MAX_DOCUMENT_BYTES = 4_000_000
"""Largest answer in one piece, and largest event of a stream."""

STREAM_BYTES_PER_TOKEN = 2048
"""What a stream may use around each token, beside `MAX_DOCUMENT_BYTES`."""

MAX_ERROR_BYTES = 16_384
REFUSALS = frozenset({429, 503, 529})
LONGEST_RETRY_AFTER_S = 3600.0
JSON_HEADERS = {"Content-Type": "application/json"}


class Transport:
    """Sends requests to one endpoint; connections are not kept, so that a stale one never costs a call."""

    def __init__(self, endpoint: Endpoint, client: httpx.AsyncClient, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._client = client
        self._timeout_s = timeout_s

    async def attempt(self, body: Mapping[str, Any], max_tokens: int) -> ChatAnswer:
        """Send one request and return its whole answer.

        Raises
        ------
        AttemptRefusedError
            The endpoint did not accept the request.
        EndpointStatusError
            It answered with another status than success.
        CallLostError
            The request may have been accepted, and no usable answer came within the deadline.
        """
        place = self._endpoint.place
        try:
            with anyio.fail_after(self._timeout_s):
                return await self._exchange(body, max_tokens)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise AttemptRefusedError(f"no connection to {place}: {self._words(error)}", None) from None
        except TimeoutError:
            raise CallLostError(f"{place} gave no complete answer within {self._timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise CallLostError(f"{place} broke off: {self._words(error)}") from None
        except MalformedAnswerError as error:
            raise CallLostError(f"{place}: {error}") from None

    async def is_up(self) -> bool:
        """Return whether the endpoint answers at all; asks for its list of models, which costs nothing."""
        headers = self._endpoint.protocol.headers(self._endpoint.key)
        try:
            with anyio.fail_after(PROBE_S):
                url = f"{self._endpoint.base_url}/models"
                async with self._client.stream("GET", url, headers=headers) as response:
                    return response.status_code < 500 and response.status_code not in REFUSALS
        except (httpx.HTTPError, TimeoutError):
            return False

    async def _exchange(self, body: Mapping[str, Any], max_tokens: int) -> ChatAnswer:
        protocol, url = self._endpoint.protocol, self._endpoint.base_url + self._endpoint.protocol.path
        headers = {**JSON_HEADERS, **protocol.headers(self._endpoint.key)}
        content = json.dumps(body).encode()
        async with self._client.stream("POST", url, content=content, headers=headers) as response:
            if not response.is_success:
                await self._raise_for(response)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise MalformedAnswerError("the answer is compressed, which was not asked for")
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                limit = MAX_DOCUMENT_BYTES + STREAM_BYTES_PER_TOKEN * max_tokens
                return await _read_stream(response, StreamReader(protocol), limit)
            return protocol.read_document(_document(await _read(response, MAX_DOCUMENT_BYTES)))

    async def _raise_for(self, response: httpx.Response) -> None:
        status = response.status_code
        reason = f"{self._endpoint.place} answered {status}"
        try:
            if message := self._message(await _read(response, MAX_ERROR_BYTES)):
                reason += f": {message}"
        except (httpx.HTTPError, MalformedAnswerError):
            reason += " (its message could not be read)"
        if status in REFUSALS:
            raise AttemptRefusedError(reason, retry_after_s(response.headers))
        raise EndpointStatusError(status, reason)

    def _message(self, data: bytes) -> str:
        """Return what a provider says of an error, shortened, without the key."""
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        error = document.get("error", document) if isinstance(document, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        return ascii(self._endpoint.without_key(message))[1:201] if isinstance(message, str) else ""

    def _words(self, error: Exception) -> str:
        return ascii(self._endpoint.without_key(str(error)))[1:-1][:200] or type(error).__name__


def new_client(timeout_s: float) -> httpx.AsyncClient:
    """Return an HTTP client that asks for plain bytes and follows no redirects, which could leak the key.

    Raises
    ------
    SettingsError
        The environment names a proxy or certificates that cannot be used.
    """
    try:
        return httpx.AsyncClient(
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            headers={"Accept-Encoding": "identity", "User-Agent": f"dga2d/{__version__}"},
        )
    except OSError:
        raise SettingsError(
            "the environment variable SSL_CERT_FILE or SSL_CERT_DIR names no readable certificates"
        ) from None
    except (httpx.InvalidURL, ValueError, ImportError):  # messages could show a proxy's password
        raise SettingsError(
            "the environment variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name a proxy that "
            "cannot be used: expected http://HOST:PORT or https://HOST:PORT"
        ) from None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that ``Retry-After`` asks to wait, at most an hour; ``None`` if nothing sensible.

    References
    ----------
    RFC 9110, Section 10.2.3.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            until = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)


async def _read(response: httpx.Response, limit: int) -> bytes:
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > limit:
            raise MalformedAnswerError(f"the answer has more than {limit} bytes")
    return bytes(data)


def _document(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        raise MalformedAnswerError("the answer is not JSON") from None


async def _read_stream(response: httpx.Response, reader: StreamReader, limit: int) -> ChatAnswer:
    async for data in server_sent_data(response.aiter_raw(), limit):
        reader.feed(data)
    return reader.answer()


async def server_sent_data(pieces: AsyncIterator[bytes], limit: int) -> AsyncIterator[str]:
    """Yield the data of each server-sent event that has any, in order.

    Raises
    ------
    MalformedAnswerError
        The stream has more than `limit` bytes, or one event more than `MAX_DOCUMENT_BYTES`.

    References
    ----------
    WHATWG HTML, "Server-sent events", Section 9.2.6.
    """
    rest, total, event_bytes = bytearray(), 0, 0
    lines: list[bytes] = []
    async for piece in pieces:
        total += len(piece)
        rest += piece
        complete: list[bytes] = []
        if b"\n" in piece:
            *complete, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
        for line in complete:
            if line.startswith(b"data:"):
                lines.append(line.removeprefix(b"data:").strip(b" \r"))
                event_bytes += len(lines[-1])
            elif not line.strip(b"\r") and lines:
                yield b"\n".join(lines).decode("utf-8", errors="replace")
                lines, event_bytes = [], 0
        if total > limit or len(rest) + event_bytes > MAX_DOCUMENT_BYTES:
            raise MalformedAnswerError("the answer is too large")
    if rest.startswith(b"data:"):
        lines.append(bytes(rest).removeprefix(b"data:").strip(b" \r"))
    if lines:
        yield b"\n".join(lines).decode("utf-8", errors="replace")
