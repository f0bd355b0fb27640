"""Limits on what calls use: held by the database, whatever a program asks of it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dga2d.events import BlobDigest, Draft, RunId
from dga2d.events.payloads import LLMCallAbandoned, LLMCallReserved, LLMCallSettled, microusd
from dga2d.store import (
    LLM_CALLS,
    LLM_MICROUSD,
    LLM_TOKENS,
    EventWriter,
    QuotaExceededError,
    StoreError,
    _maintenance,
    open_store,
)

RUN = RunId("run")
ANY_CALLS = {LLM_CALLS: 1000}
DIGEST = BlobDigest("0" * 64)


def reserved(call: int, tokens: int, micro: int = 0) -> Draft:
    payload = LLMCallReserved(
        call=call,
        purpose="initialize",
        subject="initialize",
        attempt=call,
        prompt=DIGEST,
        template="t@1",
        model="m",
        reserved_tokens=tokens,
        reserved_microusd=micro,
    )
    return Draft("initializer", payload)


def settled(call: int, tokens: int, usd: float = 0.0) -> Draft:
    payload = LLMCallSettled(
        call=call,
        response=DIGEST,
        prompt_tokens=tokens,
        completion_tokens=0,
        is_estimated=False,
        cost_usd=usd,
        elapsed_s=0.0,
    )
    return Draft("initializer", payload)


def url_in(folder: str | Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/log.db"


STEPS = st.lists(st.tuples(st.integers(0, 60), st.one_of(st.none(), st.floats(0.0, 1.0))), max_size=10)
"""Tokens a call may use, and which part of them it does use; ``None`` if that never becomes known."""


@given(STEPS, st.integers(0, 150), st.sampled_from([LLM_TOKENS, LLM_MICROUSD]))
@hypothesis_settings(max_examples=12, deadline=None)
def test_a_reservation_is_taken_if_and_only_if_it_surely_fits(
    steps: list[tuple[int, float | None]], limit: int, kind: str
) -> None:
    async def spend(folder: str) -> None:
        charged, call = 0, 0
        async with (
            open_store(url_in(folder)) as store,
            store.write(RUN, create=True, quotas={**ANY_CALLS, kind: limit}) as writer,
        ):
            for most, part in steps:
                claim = (most, 0) if kind == LLM_TOKENS else (0, most)
                if charged + most > limit:
                    with pytest.raises(QuotaExceededError) as caught:
                        await writer.append([reserved(call + 1, *claim)])
                    error = caught.value
                    assert (error.kind, error.amount) == (kind, limit)
                    assert (error.claimed, error.left) == (most, limit - charged)
                    continue
                call += 1
                await writer.append([reserved(call, *claim)])
                used = most if part is None else int(most * part)
                if part is not None:
                    actual = (used, 0.0) if kind == LLM_TOKENS else (0, used / 1e6)
                    await writer.append([settled(call, *actual)])
                charged += used
        with closing(sqlite3.connect(f"{folder}/log.db")) as plain:
            [(total,)] = plain.execute(
                "SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) FROM charges c "
                "LEFT JOIN settlements s USING (run_id, kind, number) WHERE kind = ?",
                (kind,),
            )
        assert total == charged <= limit

    with tempfile.TemporaryDirectory() as folder:
        anyio.run(spend, folder)


async def test_reservations_made_at_once_never_exceed_a_limit_together(tmp_path: Path) -> None:
    async with (
        open_store(url_in(tmp_path)) as store,
        store.write(RUN, create=True, quotas={**ANY_CALLS, LLM_TOKENS: 100}) as writer,
    ):
        taken: list[int] = []

        async def claim(call: int) -> None:
            try:
                await writer.append([reserved(call, 30)])
            except QuotaExceededError:
                return
            taken.append(call)

        async with anyio.create_task_group() as tasks:
            for call in range(1, 9):
                tasks.start_soon(claim, call)
        assert len(taken) == 3


@pytest.mark.parametrize("draft", [settled(1, 31), settled(1, 30, 0.000006), settled(2, 0)])
async def test_nothing_settles_above_its_reservation_or_without_one(tmp_path: Path, draft: Draft) -> None:
    async with (
        open_store(url_in(tmp_path)) as store,
        store.write(RUN, create=True, quotas=ANY_CALLS) as writer,
    ):
        await writer.append([reserved(1, 30, 5)])
        with pytest.raises(StoreError, match="against its own rules"):
            await writer.append([draft])
        await writer.append([settled(1, 30, 0.000005)])


async def test_an_abandoned_call_keeps_its_reservation(tmp_path: Path) -> None:
    async with open_store(url_in(tmp_path)) as store:
        quotas = {**ANY_CALLS, LLM_TOKENS: 50}
        async with store.write(RUN, create=True, quotas=quotas) as writer:
            await writer.append([reserved(1, 30)])
            await writer.append([Draft("initializer", LLMCallAbandoned(call=1, reason="lost"))])
            await refused(writer, reserved(2, 21))
        async with store.write(RUN) as writer:  # a later process is granted what the run was granted
            await refused(writer, reserved(2, 21))
            await writer.append([reserved(2, 20)])


async def refused(writer: EventWriter, draft: Draft) -> None:
    with pytest.raises(QuotaExceededError):
        await writer.append([draft])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE charges SET amount = 0",
        "DELETE FROM charges",
        "UPDATE settlements SET amount = 0",
        "DELETE FROM settlements",
        "REPLACE INTO charges SELECT run_id, kind, number, 0, quota, seq FROM charges",
        "REPLACE INTO settlements SELECT run_id, kind, number, 0, seq FROM settlements",
        "INSERT INTO charges SELECT run_id, kind, 9, 100, quota, seq FROM charges WHERE kind = 'llm-token'",
        "INSERT INTO charges SELECT run_id, kind, 9, 1, 1000, seq FROM charges",
    ],
)
async def test_another_program_cannot_exceed_or_rewrite_them_either(tmp_path: Path, statement: str) -> None:
    async with (
        open_store(url_in(tmp_path)) as store,
        store.write(RUN, create=True, quotas={**ANY_CALLS, LLM_TOKENS: 100}) as writer,
    ):
        await writer.append([reserved(1, 30)])
        await writer.append([settled(1, 20)])
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as plain:
        plain.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(statement)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_money_is_rounded_up_and_in_order(a: float, b: float) -> None:
    assert microusd(a) >= a * 1e6 - 0.001
    assert (a <= b) <= (microusd(a) <= microusd(b))
    assert microusd(0.000003) == 3


async def test_what_is_written_during_a_check_is_no_discrepancy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = _maintenance._SideRows.compare
    async with (
        open_store(url_in(tmp_path)) as store,
        store.write(RUN, create=True, quotas={**ANY_CALLS, LLM_TOKENS: 100}) as writer,
    ):
        await writer.append([reserved(1, 30)])

        async def append_and_compare(side: Any, connection: Any, run_id: RunId) -> list[str]:
            await writer.append([settled(1, 20), reserved(2, 30)])
            return await compare(side, connection, run_id)

        with monkeypatch.context() as patch:
            patch.setattr(_maintenance._SideRows, "compare", append_and_compare)
            assert await store.discrepancies(RUN) == []
        assert await store.discrepancies(RUN) == await store.findings() == []
