"""The server of the page: where it listens, and how it ends."""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from sse_starlette.sse import AppStatus

from dga2d.runtime.errors import UsageError
from dga2d.runtime.page.answers import Streams
from dga2d.runtime.page.application import make_application, warm_up
from dga2d.store import open_store

GRACE_S = 3
"""Seconds that requests under way have to end with the server."""


async def serve(
    url: str, host: str, port: int, token: str | None, announce: Callable[[str], None], acts: bool = False
) -> None:
    """Serve the page for the database at `url`; calls `announce` with its address once it answers.

    With `acts` it may begin commands, and needs a token, which is made where none is given.

    Raises
    ------
    UsageError
        Other machines could reach `host` and there is no token, or the port is taken.
    """
    if token is None and not _is_local(host):
        raise UsageError(f"--host {host} is reachable from other machines; give --token SECRET too")
    if acts and token is None:
        token = secrets.token_urlsafe(16)
    if acts:  # the first run may be begun from the page
        async with open_store(url):
            pass
    async with open_store(url, create=False, read_only=True) as store:
        listener = _listen(host, port)
        named = f"[{host}]" if ":" in host else host
        names = (host, named, "localhost", "127.0.0.1") if _is_local(host) else ("*",)
        streams = Streams()
        # else the library cancels streams in the middle of an answer, which is an error to uvicorn
        AppStatus.enable_automatic_graceful_drain = False
        application = make_application(store, url, token, names, acts, streams)
        config = uvicorn.Config(
            application, log_level="warning", lifespan="off", timeout_graceful_shutdown=GRACE_S
        )
        server = _Server(config, streams)
        shown = f"http://{named}:{listener.getsockname()[1]}/"
        warm_up()  # beside the first requests it would take the same time from them
        announce(shown if token is None else f"{shown}?token={token}")
        ended_by = await server.serve_until_signal(listener)
    if ended_by is not None:
        signal.raise_signal(ended_by)  # who started the program learns how it ended


class _Server(uvicorn.Server):
    """Ends the event streams before it waits for requests under way: browsers would never end them.

    It leaves its own handling of signals out, which raises them once more while the store is being closed.
    """

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.close()
        await super().shutdown(sockets)

    async def serve_until_signal(self, listener: socket.socket) -> signal.Signals | None:
        """Serve until the program is told to end, and return by which signal; a second one does not wait."""
        ended_by: signal.Signals | None = None

        async def listen() -> None:
            nonlocal ended_by
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
                listening.set()
                async for number in received:
                    ended_by, self.force_exit, self.should_exit = number, self.should_exit, True

        listening = anyio.Event()
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(listen)
            await listening.wait()
            await self.serve(sockets=[listener])
            waiting.cancel_scope.cancel()
        return ended_by


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY where the protocol is named; without, a body waits 40 ms after its headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
