"""While a long log is read the page says how far it has got. The reading is halted here: nothing is timed."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
import uvicorn
from playwright.async_api import Browser, expect
from tests.browser.conftest import FIFTY, WAIT_MS, Recording, in_both

from dga2d.events import RecordedEvent, RunId
from dga2d.runtime.page.application import make_application
from dga2d.store import EventStore, open_store

pytestmark = pytest.mark.asyncio(loop_scope="session")
HALTS = (400, 900)


@dataclass
class HaltingStore:
    """A store that hands out events up to the next of `HALTS`, until it is let on."""

    store: EventStore
    let_on: dict[int, anyio.Event] = field(default_factory=lambda: {seq: anyio.Event() for seq in HALTS})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def read(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[RecordedEvent]:
        """Yield the events as the store does."""
        async for event in self.store.read(run_id, after, until):
            yield event
            if event.seq in self.let_on:
                await self.let_on[event.seq].wait()


class QuietServer(uvicorn.Server):
    """A server beside the tests, which leaves their signals alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def halting(original: Path) -> AsyncIterator[tuple[HaltingStore, str]]:
    """Serve the page over a store that halts, while the block lasts; yields that store and the address."""
    url = f"sqlite+aiosqlite:///{original}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with open_store(url, create=False, read_only=True) as opened:
            store = HaltingStore(opened)
            application = make_application(cast(EventStore, store), url)
            server = QuietServer(
                uvicorn.Config(application, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
            )
            async with anyio.create_task_group() as group:
                group.start_soon(server.serve, [listener])
                try:
                    yield store, f"http://127.0.0.1:{listener.getsockname()[1]}/"
                finally:
                    for halt in store.let_on.values():
                        halt.set()
                    server.should_exit = True


@in_both
async def test_the_bar_shows_how_much_of_a_long_log_has_been_read(
    original: Path, browser: Browser, fifty: Recording
) -> None:
    async with halting(original) as (store, address), await browser.new_context() as context:
        context.set_default_timeout(WAIT_MS)
        page = await context.new_page()
        await page.goto(f"{address}runs/{FIFTY}")
        bar = page.get_by_role("progressbar", name="Events of the log that have been read")
        length = len(fifty.events)
        assert max(HALTS) < length
        await expect(bar).to_have_attribute("max", str(length))
        await expect(page.locator("#waiting").get_by_role("status")).to_have_text(
            f"Reading and checking the {length} events of the log …"
        )
        for seq in HALTS:
            await expect(bar).to_have_js_property("value", seq)
            await expect(bar).to_be_visible()
            await expect(page.locator("#panel")).to_have_attribute("aria-busy", "true")
            assert await page.locator("#panel[data-shown]").count() == 0
            store.let_on[seq].set()
        await expect(page.locator("#panel")).to_have_attribute("data-shown", f"overview?seq={length}")
        await expect(bar).to_have_count(0)
        await expect(page.locator("#waiting")).to_be_hidden()
