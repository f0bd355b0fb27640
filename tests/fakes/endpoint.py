"""A language-model endpoint on the loopback interface that behaves as badly as asked, and counts.

The first part of a path chooses the behaviour: ``http://127.0.0.1:PORT/half/v1``. The server's own counts are
the judge of how often a program has asked: `taken` are requests that may have been charged for.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request for a completion."""

    protocol: str
    """``openai`` or ``anthropic``."""
    number: int
    """1, 2, … among those to the same behaviour."""
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        text: str = self.body["messages"][0]["content"]
        return text

    @property
    def is_stream(self) -> bool:
        return bool(self.body.get("stream"))


class RefusedError(Exception):
    """The behaviour does not take the request: `status` and headers go out, nothing is charged."""

    def __init__(self, status: int, **headers: str) -> None:
        self.status = status
        self.headers = headers


Behaviour = Callable[["Exchange", Asked], None]


@dataclass
class Ledger:
    """What the server saw, by behaviour."""

    taken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    probes: Counter[str] = field(default_factory=Counter)
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Exchange(BaseHTTPRequestHandler):
    """One connection; behaviours write to it."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        name = self.path.split("/")[1]
        with self.server.ledger.lock:
            self.server.ledger.probes[name] += 1
        is_up = self.server.is_up.get(name, True)
        self.send_whole(200 if is_up else 502, json.dumps({"data": []}).encode())

    def do_POST(self) -> None:
        name = self.path.split("/")[1]
        protocol = "anthropic" if self.path.endswith("/messages") else "openai"
        data = self.rfile.read(int(self.headers["Content-Length"]))
        ledger = self.server.ledger
        with ledger.lock:
            ledger.taken[name] += 1
            number = ledger.taken[name] + ledger.refused[name]
            asked = Asked(protocol, number, dict(self.headers), json.loads(data))
            ledger.asked.append(asked)
        try:
            self.server.behaviours[name](self, asked)
        except RefusedError as refusal:
            with ledger.lock:
                ledger.taken[name] -= 1
                ledger.refused[name] += 1
            self.send_whole(refusal.status, b"", **refusal.headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the program did not wait for the end; the request stays counted
        self.close_connection = True

    def send_whole(
        self, status: int, data: bytes, content_type: str = "application/json", **headers: str
    ) -> None:
        """A complete response."""
        self.begin(status, content_type, **{"Content-Length": str(len(data)), **headers})
        self.wfile.write(data)

    def begin(self, status: int, content_type: str, **headers: str) -> None:
        """Status and headers; names are written with ``_`` for ``-``."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the program's own stderr is what tests read."""


class Server(ThreadingHTTPServer):
    """The listening socket with its counts."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, behaviours: dict[str, Behaviour], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Exchange)
        self.behaviours = behaviours
        self.ledger = Ledger()
        self.is_up: dict[str, bool] = {}
        """What probes are told, by behaviour."""

    def url(self, behaviour: str) -> str:
        """Base URL of a behaviour."""
        return f"http://127.0.0.1:{self.server_port}/{behaviour}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: connections end as they may."""


@contextmanager
def serving(behaviours: dict[str, Behaviour], port: int = 0) -> Iterator[Server]:
    """The server, in a thread of its own, for the length of the block; on any free port if none is named."""
    server = Server(behaviours, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def wait_until(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    """Poll until `condition` holds; raises TimeoutError."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)
