"""A real browser before the real program: ``dga2d serve`` over runs that are simulated in a second."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import anyio
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Route, async_playwright, expect
from tests.agents.made_up_library import made_up_operator
from tests.agents.outside_world import Answers, Fails
from tests.agents.simulation import SMALL, Simulation

from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.events import AgentName, Draft, RecordedEvent, RunId
from dga2d.events.payloads import EvaluationRecorded, LLMCallSettled, Payload
from dga2d.replay.archive import import_run
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import open_store

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
WAIT_MS = 90_000
"""Longest wait for something that must happen; a loaded machine stays far below."""
BIDI = "\u202egnol\u202c\u200b"
HOSTILE = (
    "</pre></details></section><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>"
    "<svg onload='window.hacked=3'></svg><a href='javascript:window.hacked=4'>x</a>"
    "<style>body{display:none}</style><iframe src='http://outside.example/'></iframe>"
    f"{{{{7*7}}}} {BIDI}"
)
"""What a model, an operator or a diagnostic may say."""
SHOWN = HOSTILE.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace("\u200b", "\\u200b")
"""The same as a reader must see it."""
QUOTAS = {"llm-call": 1000}
FIFTY, HOSTILE_RUN, LIVE = RunId("fifty"), RunId("hostile"), RunId("live")
SCORES = RunId("simulated")
GOLDEN_SCORES = Path(__file__).parents[1] / "agents" / "golden" / "scores.zip"
RECORDED_TOUR = Path(__file__).parents[2] / "examples" / "runs" / "tsp-basic-model-2.dga2d.zip"


@dataclass
class Recording:
    """A simulated run: its drafts with the texts they name."""

    events: list[RecordedEvent]
    blobs: Sequence[bytes]
    change: Callable[[Payload], Payload] = lambda payload: payload
    states: list[RunState] = field(default_factory=lambda: [RunState()])
    """State after each event."""

    def __post_init__(self) -> None:
        for event in self.events:
            self.states.append(fold(self.states[-1], event))

    async def append(self, url: str, run: RunId, first: int, last: int) -> None:
        """Write the events from `first` to `last` into the run of a store."""
        drafts = [
            Draft(cast(AgentName, e.agent), self.change(e.payload), e.generation, e.caused_by)
            for e in self.events[first - 1 : last]
        ]
        async with open_store(url) as store, store.write(run, create=first == 1, quotas=QUOTAS) as writer:
            await store.put_blobs(self.blobs)
            for together in _split(drafts):
                await writer.append(together)

    def digest(self, seq: int) -> str:
        """State digest after event `seq`."""
        return state_digest(self.states[seq])


def _split(drafts: list[Draft]) -> Iterator[list[Draft]]:
    """A call is settled in a later transaction than that which reserved it."""
    starts = [i for i, draft in enumerate(drafts) if isinstance(draft.payload, LLMCallSettled)]
    for first, last in pairwise([0, *(i for i in starts if i), len(drafts)]):
        yield drafts[first:last]


def record(
    simulation: Simulation, change: Callable[[Payload], Payload] = lambda payload: payload
) -> Recording:
    _, log = simulation.run()
    return Recording(log.events, list(log.blobs.values()), change)


def _with_hostile_diagnostic(payload: Payload) -> Payload:
    if isinstance(payload, EvaluationRecorded) and payload.failure is not None:
        return payload.model_copy(update={"diagnostic": HOSTILE})
    return payload


async def _import(url: str, path: Path) -> None:
    async with open_store(url) as store:
        await import_run(store, path)


class HostileModel(Answers):
    """A model whose first answer to a task is hostile text, and whose code carries such text as a comment."""

    async def complete(self, request: CompletionRequest) -> Completion:
        completion = await super().complete(request)
        commented = completion.text.replace("```python\n", f"```python\n# {HOSTILE.removesuffix(BIDI)}\n", 1)
        return replace(completion, text=commented)


def _every_fifth() -> Fails:
    count = iter(range(10**9))
    return lambda request: next(count) % 5 == 4


@pytest.fixture(scope="session")
def fifty() -> Recording:
    """Fifty generations that end with new code: the first of some seeds."""
    for seed in range(20):
        simulation = replace(Simulation(SMALL), seed=seed).changed(generations=50, llm_calls=150)
        state, log = simulation.run()
        known = {c.id for operator in state.header.library for c in operator.implementations}
        if state.checkpoint and any(step.implementation not in known for step in state.checkpoint.steps):
            return Recording(log.events, list(log.blobs.values()))
    raise AssertionError("no run has taken a checkpoint with new code")


@dataclass(frozen=True)
class Served:
    """The running program and its store."""

    address: str
    url: str


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory, fifty: Recording) -> Path:
    """A database with a long run, one that goes on, one of a domain with a score of its own, and one in which
    all text is hostile."""
    path = tmp_path_factory.mktemp("original") / "log.db"
    url = f"sqlite+aiosqlite:///{path}"
    named = made_up_operator(HOSTILE.replace("{", "(").replace("}", ")"), "local_search", "complete", 2)
    hostile = Simulation(SMALL)
    answers = HostileModel({"ImplementTask": [HOSTILE], "ConnectTask": [HOSTILE]}, name=HOSTILE)
    hostile = replace(hostile, model=answers, fails=_every_fifth(), operators=(*hostile.operators, named))
    anyio.run(fifty.append, url, FIFTY, 1, len(fifty.events))
    anyio.run(fifty.append, url, LIVE, 1, 100)
    anyio.run(_import, url, GOLDEN_SCORES)
    ill = record(hostile, _with_hostile_diagnostic)
    anyio.run(ill.append, url, HOSTILE_RUN, 1, len(ill.events))
    return path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, original: Path) -> Iterator[Served]:
    """``dga2d serve`` over a copy of it.

    Tests that suspend or count the processes below their own come before these (``tests/conftest.py``).
    """
    with serving(Path(shutil.copy(original, tmp_path_factory.mktemp("browser")))) as made:
        yield made


@pytest.fixture(scope="module")
def recorded_tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The recorded run of a tour, a real problem that can be drawn without files."""
    path = tmp_path_factory.mktemp("tour") / "log.db"
    anyio.run(_import, f"sqlite+aiosqlite:///{path}", RECORDED_TOUR)
    with serving(path) as made:
        yield made


@contextmanager
def serving(path: Path, *options: str) -> Iterator[Served]:
    """Serve the page over a database while the block lasts."""
    url = f"sqlite+aiosqlite:///{path}"
    command = [
        sys.executable,
        "-P",
        "-m",
        "dga2d",
        "serve",
        "--port",
        "0",
        "--json",
        "--store",
        url,
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = process.stdout.readline()
            assert line, "the program ended"
            text += line
        try:
            yield Served(json.loads(text)["address"], url)
        finally:
            process.terminate()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser of all tests; where there is none they are skipped, unless DGA2D_NEEDS_CHROMIUM is set."""
    path = _installed("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def firefox() -> AsyncIterator[Browser]:
    """A second browser for the tests ``in_both``, as Debian ships it: it is driven by WebDriver BiDi."""
    path = _installed("firefox-esr", "firefox")
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(executable_path=path, channel="moz-firefox")
        yield browser
        await browser.close()


def _installed(*names: str) -> str:
    """Return the path of a browser; where there is none the test is skipped, unless DGA2D_NEEDS_… is set."""
    expect.set_options(timeout=WAIT_MS)
    package = names[0]
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        needed = f"DGA2D_NEEDS_{names[-1].upper()}"
        assert not os.environ.get(needed), f"no {package} on the path"
        pytest.skip(f"there is no {package} on the path (Debian: apt-get install {package})")
    return path


in_both = pytest.mark.parametrize(
    "browser_name", ["chromium", pytest.param("firefox", marks=pytest.mark.slow)]
)
"""A test that Firefox has to pass as Chromium does."""
panel_in_both = pytest.mark.parametrize(
    "browser_name", ["chromium", pytest.param("firefox", marks=pytest.mark.long)]
)
"""One of a single panel, which it has to pass in the full counts."""


@pytest.fixture
def browser_name() -> str:
    """The browser of a test that names none."""
    return "chromium"


@pytest.fixture
def browser(browser_name: str, request: pytest.FixtureRequest) -> Browser:
    """The browser of a test."""
    found: Browser = request.getfixturevalue(browser_name)
    return found


@dataclass
class Tab:
    """A page of its own with everything it complained of or asked other machines for."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    async def open(self, path: str) -> Page:
        """Load an address of the program afresh, and wait until a run's panel is drawn and its
        generations are known."""
        await self.page.goto("about:blank")
        await self.page.goto(self.base + path.lstrip("/"))
        if path.startswith("/runs/"):
            await expect(self.page.locator("#panel[data-shown]")).to_be_attached()
            await expect(self.page.locator("#run[data-marks]")).to_be_attached()
        return self.page

    async def shows(self, panel: str, seq: int) -> None:
        """Wait until the panel of a place in time is drawn."""
        await expect(self.page.locator("#panel")).to_have_attribute("data-shown", f"{panel}?seq={seq}")


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, served: Served, request: pytest.FixtureRequest) -> AsyncIterator[Tab]:
    """A fresh tab; the test fails if the page logged an error or warning, or asked for anything outside.

    Options of the context, such as its colours and size, are given by ``@pytest.mark.parametrize`` with
    ``indirect``.
    """
    options = {"viewport": {"width": 1280, "height": 900}, **getattr(request, "param", {})}
    context: BrowserContext = await browser.new_context(**options)
    context.set_default_timeout(WAIT_MS)
    made = Tab(await context.new_page(), served.address)

    async def only_inside(route: Route) -> None:
        url = route.request.url
        if url.startswith((served.address, "data:", "about:", "file:")):
            await route.continue_()
        else:
            made.outside.append(url)
            await route.abort()

    await context.route("**/*", only_inside)
    made.page.on("console", lambda m: made.complaints.append(f"{m.type}: {m.text}"))
    made.page.on("pageerror", lambda error: made.complaints.append(f"error: {error}"))
    yield made
    await context.close()
    assert made.complaints == []
    assert made.outside == []
