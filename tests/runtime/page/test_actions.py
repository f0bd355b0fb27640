"""Acting from the page: the command is shown first, and nothing begins but what was confirmed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from tests.fakes.long_run import RUN, write_long_run

from dga2d.runtime.page.actions import Actions, Processes
from dga2d.runtime.page.application import ACT_HEADER, make_application
from dga2d.store import EventStore, open_store

SENT = {ACT_HEADER: "1"}
QUICK = {"domain": "jsp", "work": "1000", "generations": "2", "run": "made"}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of the commands that were begun, which do not run."""
    arguments: list[tuple[str, ...]] = []
    monkeypatch.setattr(Processes, "begin", lambda self, command, run, given: arguments.append(given))
    return arguments


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A browser before a page that may act, over a run of a few generations."""
    url = f"sqlite+aiosqlite:///{tmp_path}/log.db"
    await write_long_run(url, 400, 4)
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url, acts=True))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def act(browser: httpx.AsyncClient, action: str, fields: dict[str, str], confirmed: str = "") -> Any:
    body = {"fields": fields, "confirmed": confirmed}
    return await browser.post(f"/actions/{action}", json=body, headers=SENT)


async def test_a_run_begins_only_as_the_command_that_was_shown(
    browser: httpx.AsyncClient, begun: list[tuple[str, ...]]
) -> None:
    told = (await act(browser, "evolve", QUICK)).json()
    assert told["command"].startswith("dga2d evolve jsp --generations=2 --work=1000 --seed=0 --run-id=made")
    assert (told["costs_money"], told["begun"], begun) == (False, False, [])
    other = (await act(browser, "evolve", {**QUICK, "seed": "1"}, told["command"])).json()
    assert (other["begun"], begun) == (False, [])
    assert (await act(browser, "evolve", QUICK, told["command"])).json()["begun"] is True
    assert begun[0][:3] == ("evolve", "jsp", "--generations=2")


def test_a_password_is_in_no_command_that_is_shown_or_listed() -> None:
    actions = Actions(cast("EventStore", None), "postgresql+asyncpg://me:secret@host/runs")
    told = anyio.run(actions.act, "pause", {"run": "made"}, "")
    assert told["command"] == "dga2d pause made '--store=postgresql+asyncpg://me:***@host/runs'"


async def test_what_costs_money_is_said_with_its_limits(browser: httpx.AsyncClient) -> None:
    paid = {**QUICK, "llm": "openai:some-model", "llm_calls": "20", "llm_money_usd": "1.5"}
    told = (await act(browser, "evolve", paid)).json()
    assert told["costs_money"] is True
    assert "calls     20 at most" in told["estimate"]
    assert "money     1.5 US dollars at most" in told["estimate"]


async def test_fields_are_arguments_and_never_a_shells_words(
    browser: httpx.AsyncClient, begun: list[tuple[str, ...]]
) -> None:
    fields = {**QUICK, "llm": "openai:x; touch y", "settings": 'policy="uniform"'}
    told = (await act(browser, "evolve", fields)).json()
    assert "'--llm=openai:x; touch y'" in told["command"]
    await act(browser, "evolve", fields, told["command"])
    assert "--llm=openai:x; touch y" in begun[0]
    assert '--set=policy="uniform"' in begun[0]


@pytest.mark.parametrize(
    ("action", "fields", "words"),
    [
        ("evolve", {"domain": "nosuch"}, "nosuch"),
        ("evolve", {**QUICK, "generations": "many"}, "generations"),
        ("evolve", {**QUICK, "run": "--help"}, "run id '--help'"),
        ("evolve", {**QUICK, "settings": "generatoins=3"}, "did you mean 'generations'"),
        ("fork", {"of": str(RUN), "generation": "999999"}, "closed"),
        ("fork", {"of": str(RUN), "generation": "-1"}, "number of a closed generation"),
        ("resume", {"run": "nobody"}, "nobody"),
        ("explode", {}, "there is no action 'explode'"),
    ],
)
async def test_what_cannot_be_done_is_refused_in_words(
    browser: httpx.AsyncClient,
    begun: list[tuple[str, ...]],
    action: str,
    fields: dict[str, str],
    words: str,
) -> None:
    answer = await act(browser, action, fields)
    assert (answer.status_code, begun) == (400, [])
    assert words in answer.json()["error"]


async def test_a_fork_shares_a_closed_generation(browser: httpx.AsyncClient) -> None:
    fields = {"of": str(RUN), "generation": "1", "only_create": "on", "run": "again"}
    told = (await act(browser, "fork", fields)).json()
    assert told["command"].startswith(f"dga2d fork {RUN} --generation=1 --no-run --run-id=again")


async def test_other_sites_and_pages_that_only_read_begin_nothing(
    browser: httpx.AsyncClient, begun: list[tuple[str, ...]], tmp_path: Path
) -> None:
    bare = await browser.post("/actions/evolve", json={"fields": QUICK, "confirmed": ""})
    assert (bare.status_code, ACT_HEADER in bare.json()["error"]) == (403, True)
    url = f"sqlite+aiosqlite:///{tmp_path}/log.db"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as reader:
            refused = await act(reader, "evolve", QUICK)
            assert (refused.status_code, "serve --act" in refused.json()["error"]) == (403, True)
            assert "data-action" not in (await reader.get("/")).text + (await reader.get(f"/runs/{RUN}")).text
    assert begun == []
