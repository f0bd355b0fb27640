"""The page over the log: what it shows, and what it refuses."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn, cast

import anyio
import httpx
import pytest

from dga2d.domains.core.errors import UnknownDomainError
from dga2d.events import BlobDigest, RecordedEvent, RunId
from dga2d.runtime.page.application import make_application
from dga2d.runtime.page.panels import PARTS
from dga2d.runtime.page.timeline import Timeline
from dga2d.store import EventStore, open_store

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
async def browser(finished: Any) -> AsyncIterator[httpx.AsyncClient]:
    url = f"sqlite+aiosqlite:///{finished.database}"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def test_runs_are_listed_with_a_link(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.status_code == 200
    assert 'href="/runs/done"' in page.text


async def test_page_of_a_run_knows_its_length_and_generations(
    browser: httpx.AsyncClient, finished: Any
) -> None:
    rows = finished.rows("done")
    facts = (await browser.get("/runs/done/facts")).json()
    assert facts["length"] == len(rows)
    assert facts["marks"] == [row.seq for row in rows if row.type == "GenerationCompleted"]
    page = (await browser.get("/runs/done")).text
    assert f'data-length="{len(rows)}"' in page
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts[-1] == '<script type="module" src="/static/page.js">'
    assert all(re.fullmatch(r'<script (defer|type="module") src="/static/[\w.-]+">', s) for s in scripts)


class BlockedStore:
    """A store whose logs are read beyond their first event only once it is let go."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.asked, self.let_go = anyio.Event(), anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[RecordedEvent]:
        if until != 1:
            self.asked.set()
            await self.let_go.wait()
        async for event in self._store.read(run_id, after, until):
            yield event


async def test_frame_and_style_come_before_the_log_is_read(finished: Any) -> None:
    url = f"sqlite+aiosqlite:///{finished.database}"
    async with open_store(url, create=False, read_only=True) as opened:
        store = BlockedStore(opened)
        transport = httpx.ASGITransport(make_application(cast(EventStore, store), url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            panels: list[httpx.Response] = []

            async def ask() -> None:
                panels.append(await client.get("/runs/done/overview"))

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await store.asked.wait()
                for address in ("/runs/done", "/static/page.css", "/static/report.css"):
                    assert (await client.get(address)).status_code == 200
                frame = (await client.get("/runs/done")).text
                assert f"Reading and checking the {len(finished.rows('done'))} events" in frame
                assert (await client.get("/runs/done/reading")).json() == {"read": 0}
                assert not store.let_go.is_set()
                assert not panels
                store.let_go.set()
            assert panels[0].status_code == 200


async def test_the_frame_tells_what_the_list_of_runs_knows_of_the_run(browser: httpx.AsyncClient) -> None:
    before = (await browser.get("/runs/done")).text
    assert re.search(r"<p class=\"soft\">[^<]+, seed \d+; begun 20", before)
    listed = (await browser.get("/rows")).text
    (sentence,) = re.findall(r'data-label="verdict"[^>]*title="([^"]+)"', listed)
    assert sentence[1:] not in before
    assert sentence[1:] in (await browser.get("/runs/done")).text


@pytest.mark.parametrize("panel", PARTS)
async def test_every_panel_can_be_shown_at_any_event(
    browser: httpx.AsyncClient, finished: Any, panel: str
) -> None:
    length = len(finished.rows("done"))
    for seq in {1, 2, 3, length // 2, length - 1, length}:
        answer = await browser.get(f"/runs/done/{panel}", params={"seq": seq})
        assert answer.status_code == 200, answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_solver_archive_and_report_can_be_taken_away(
    browser: httpx.AsyncClient, finished: Any, tmp_path: Path
) -> None:
    solver = await browser.get("/runs/done/take/solver.py")
    assert solver.headers["content-disposition"] == 'attachment; filename="done.py"'
    compile(solver.text, "done.py", "exec")
    archive = tmp_path / "done.zip"
    archive.write_bytes((await browser.get("/runs/done/take/archive.zip")).content)
    assert finished.run("import", str(archive), "--store", str(tmp_path / "other.db"), "--json").code == 0
    assert "<title>done" in (await browser.get("/runs/done/take/report.html")).text
    early = await browser.get("/runs/done/take/solver.py?seq=1")
    assert (early.status_code, "error" in early.json()) == (409, True)
    assert (await browser.get("/runs/done/take/nothing")).status_code == 404


async def test_the_way_to_the_best_solution_is_a_row_of_pictures(
    browser: httpx.AsyncClient, finished: Any
) -> None:
    panel = (await browser.get("/runs/done/incumbent")).text
    told = re.search(r"data-films='([^']*)'", panel)
    assert told is not None
    objectives = {
        row.seq: row.fields["objective"]
        for row in finished.rows("done")
        if row.type == "EvaluationRecorded" and row.fields["split"] == "train"
    }
    for film in json.loads(told[1]):
        found = [objectives[frame["seq"]] for frame in film["frames"]]
        assert found == sorted(set(found), reverse=True)  # makespans: each frame improves on the one before
        among = ",".join(str(frame["seq"]) for frame in film["frames"])
        for frame in film["frames"]:
            assert frame["address"] == f"/runs/done/solutions/{frame['seq']}?among={among}"
        assert (await browser.get(film["frames"][0]["address"])).text.count("<svg ") == 1
    other = film["frames"][0]["address"].partition("?")[0]
    assert (await browser.get(f"{other}?among=x")).status_code == 400
    assert (await browser.get(f"{other}?among=1")).status_code == 404


async def test_runs_of_equal_settings_are_compared_as_one(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/compare?run=done&grouped")).text
    assert "all runs (1 run)" in page
    assert (await browser.get("/compare?run=nobody&grouped")).status_code == 404


async def test_slider_shows_the_state_of_show(browser: httpx.AsyncClient, finished: Any) -> None:
    seq = len(finished.rows("done")) // 2
    shown = finished.run("show", "done", "--at", str(seq), "--json").json
    panel = (await browser.get("/runs/done/checking", params={"seq": seq})).text
    assert shown["state_digest"] in panel
    assert finished.rows("done")[seq - 1].hash.hex() in panel


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/runs/nobody", 404, "nobody"),
        ("/runs/done/teapot", 404, "teapot"),
        ("/runs/done/graph?seq=0", 400, "expected seq in 1.."),
        ("/runs/done/graph?seq=99999", 400, "expected seq in 1.."),
        ("/runs/done/graph?seq=x", 400, "expected seq in 1.."),
        (f"/runs/done/graph?seq={1:018}99999", 400, "expected seq in 1.."),
        ("/runs/done/stream?after=x", 400, "number of an event"),
        *(
            (f"/runs/done/{kind}", 404, "expected a number")
            for kind in ("calls/x", "edits/-1", "solutions/x.svg")
        ),
        *((f"/runs/done/{kind}/{'9' * 5000}", 404, "at most 18 digits") for kind in ("calls", "edits")),
        (f"/runs/done/solutions/{'9' * 5000}.svg", 404, "at most 18 digits"),
        (f"/runs/done/calls/{10**18 - 1}", 404, "there is no call"),
    ],
)
async def test_wrong_addresses_say_what_is_wrong(
    browser: httpx.AsyncClient, address: str, status: int, words: str
) -> None:
    answer = await browser.get(address)
    assert answer.status_code == status
    assert words in answer.json()["error"]


async def test_nothing_can_be_written(browser: httpx.AsyncClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert (await browser.request(method, "/runs/done")).status_code == 405


async def test_other_names_of_this_machine_are_refused(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/", headers={"host": "evil.example"})
    assert answer.status_code == 400


async def test_runs_are_compared(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/compare", params={"run": ["done", "done"]})).text
    assert 'class="differs"' not in page
    assert page.count("<polyline") == 1


async def test_a_token_is_asked_for_once(finished: Any) -> None:
    url = f"sqlite+aiosqlite:///{finished.database}"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url, token="s3cret", hosts=("*",)))
        async with httpx.AsyncClient(transport=transport, base_url="http://other") as client:
            assert (await client.get("/")).status_code == 401
            assert (await client.get("/", params={"token": "wrong"})).status_code == 401
            welcome = await client.get("/", params={"token": "s3cret"})
            assert (welcome.status_code, welcome.headers["location"]) == (307, "http://other/")
            assert (await client.get("/")).status_code == 200


async def test_hostile_text_in_a_blob_stays_text(finished: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hostile(self: Timeline, digest: BlobDigest) -> bytes:
        return HOSTILE.encode()

    monkeypatch.setattr(Timeline, "get_blob", hostile)
    url = f"sqlite+aiosqlite:///{finished.database}"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for panel in ("algorithm", "calls/1"):
                text = (await client.get(f"/runs/done/{panel}")).text
                assert "&lt;script&gt;" in re.sub("</?span[^>]*>", "", text)
                assert "<script" not in text
                assert "<img" not in text


async def test_solutions_of_the_best_program_are_drawn(browser: httpx.AsyncClient) -> None:
    panel = (await browser.get("/runs/done/incumbent")).text
    addresses = re.findall(r'data-source="([^"]+/solutions/[^"]+)"', panel)
    assert len(addresses) == 2  # one per instance of the batch
    for address in addresses:
        part = await browser.get(address)
        assert '<svg xmlns="http://www.w3.org/2000/svg" class="drawn"' in part.text
        assert "style=" not in part.text
        drawn = await browser.get(f"{address}.svg")
        assert drawn.headers["content-type"] == "image/svg+xml"
        assert "tour of length" in drawn.text
        ElementTree.fromstring(drawn.text)
    for address in ("/runs/done/solutions/1.svg", "/runs/done/solutions/99999.svg"):
        assert (await browser.get(address)).status_code == 404


async def test_a_solution_that_cannot_be_drawn_says_why(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dga2d.runtime.runs.problem.get_domain", unknown_domain)
    panel = (await browser.get("/runs/done/incumbent")).text
    for address in re.findall(r'data-source="([^"]+/solutions/[^"]+)"', panel):
        part = await browser.get(address)
        assert "cannot be drawn: no domain is called &#39;tsp&#39;" in part.text
        assert part.headers["cache-control"] == "no-store"


def unknown_domain(name: str) -> NoReturn:
    raise UnknownDomainError(name, ())


async def test_evaluations_show_score_and_gaps_of_the_last_candidate(
    browser: httpx.AsyncClient, finished: Any
) -> None:
    panel = (await browser.get("/runs/done/evaluations")).text
    last = [row.fields for row in finished.rows("done") if row.type == "CandidateScored"][-1]
    assert f"{last['score']:.4f}" in panel
    assert last["gaps"]
    for gap in last["gaps"]:
        assert f"{100 * gap:.2f} %" in panel


async def test_characters_that_hide_or_turn_text_are_shown_as_escapes(
    finished: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hidden(self: Timeline, digest: BlobDigest) -> bytes:
        return "a\u202eb\u200bc\x1b[2J\n\td".encode()

    monkeypatch.setattr(Timeline, "get_blob", hidden)
    url = f"sqlite+aiosqlite:///{finished.database}"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert "a\\u202eb\\u200bc\\x1b[2J\n\td" in (await client.get("/runs/done/calls/1")).text


@pytest.mark.slow
def test_serve_announces_its_address_and_ends_cleanly(program: Any, finished: Any) -> None:
    with finished.started("serve", "--port", "0", "--json") as process:
        text = ""
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        address = json.loads(text)["address"]
        assert httpx.get(f"{address}runs/done/facts").json()["status"] == "completed"
        process.terminate()
        assert process.wait(20) is not None
    refused = program.run("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "--token" in refused.error
