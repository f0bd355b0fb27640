"""The server of the page: where it listens, and how it ends."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable

import uvicorn

from dga2d.runtime.errors import UsageError
from dga2d.runtime.page.application import make_application, warm_up
from dga2d.store import open_store


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
    async with open_store(url, create=False, read_only=True) as store:
        listener = _listen(host, port)
        named = f"[{host}]" if ":" in host else host
        names = (host, named, "localhost", "127.0.0.1") if _is_local(host) else ("*",)
        application = make_application(store, url, token, names, acts)
        server = _Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
        shown = f"http://{named}:{listener.getsockname()[1]}/"
        warm_up()  # beside the first requests it would take the same time from them
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
