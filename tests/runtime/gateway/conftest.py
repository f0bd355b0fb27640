"""One misbehaving server for all tests, and conversations with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.fakes.behaviours import BEHAVIOURS
from tests.fakes.conversation import KEY, converse, read_state
from tests.fakes.endpoint import Behaviour, Server, serving

from dga2d.events import RecordedEvent, RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.store import open_store


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving(dict(BEHAVIOURS)) as server:
        yield server


@dataclass(frozen=True)
class Conversation:
    """A database and the server; behaviours of a test of its own get a name of their own."""

    folder: Path
    server: Server

    @property
    def url(self) -> str:
        return f"sqlite+aiosqlite:///{self.folder / 'log.db'}"

    def settings(self, behaviour: str, **settings: Any) -> RunSettings:
        """Settings of a run with few calls and little patience."""
        values = {
            "llm": "openai:fake",
            "llm_base_url": self.server.url(behaviour),
            "llm_calls": 5,
            "attempts_per_edit": 4,
            "llm_timeout": 20.0,
            "llm_max_tokens": 1000,
        }
        return RunSettings.model_validate({**values, **settings})

    def hold(self, behaviour: str, run: str = "run", **settings: Any) -> RunState:
        """Hold a conversation to its end and return the state that its log folds to."""
        retry_policy = settings.pop("retry_policy", None)
        made = self.settings(behaviour, **settings)
        more = () if retry_policy is None else (retry_policy,)
        anyio.run(converse, self.url, run, made, {"DGA2D_LLM_KEY": KEY}, *more)
        return anyio.run(read_state, self.url, run)

    def behave(self, name: str, behaviour: Behaviour) -> str:
        """Add a behaviour; returns its name."""
        self.server.behaviours[name] = behaviour
        return name

    def events(self, run: str = "run") -> list[RecordedEvent]:
        """The log of a run."""

        async def read() -> list[RecordedEvent]:
            async with open_store(self.url, create=False, read_only=True) as store:
                return [event async for event in store.read(RunId(run))]

        return anyio.run(read)

    def blob(self, digest: Any) -> bytes:
        """A blob of the database."""

        async def read() -> bytes:
            async with open_store(self.url, create=False, read_only=True) as store:
                return await store.get_blob(digest)

        return anyio.run(read)

    def bytes_on_disk(self) -> bytes:
        """Everything that was written."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.iterdir()))


@pytest.fixture
def conversation(server: Server, tmp_path: Path) -> Conversation:
    return Conversation(tmp_path, server)
