"""What a PostgreSQL server costs as event log: appends per second with 1, 8 and 32 waiting and with ten runs
at once, beside a bare asyncpg loop with the same durability, on a server that this script starts for itself.

    python benchmarks/postgres.py
    python benchmarks/postgres.py --store postgresql+asyncpg://me@host/database

The bare loop inserts the same payloads, encoded before the clock starts, with a number, an id and a type into
a plain table (primary key, unique id), as many rows per transaction as appenders wait on our side; for ten
runs it takes ten connections. It has no appenders that wait, no chain, lease, quota or guard, and no names of
operations; nothing of it is read again. All rivals take turns in each round; figures are medians over rounds,
ratios medians of the ratios within a round. Both sides flush every transaction to the disk, on one server.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import URL, make_url

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from log_rival import drafts
from tests.fakes.postgres_server import running_server

from dga2d.events import RunId, encode_payload
from dga2d.store import open_store

WAITING = (1, 8, 32)
RUNS_AT_ONCE = 10
GOAL = 0.5


def started() -> float:
    """Return the time, with all that was made before it out of the garbage collector's sight."""
    gc.collect()
    gc.freeze()
    return time.perf_counter()


async def append_waiting(url: str, tasks: int, count: int, runs: int = 1) -> float:
    """Return the events per second of `tasks` appenders in each of `runs` runs, each of which waits for its
    event to be durable before it appends the next."""

    works = [iter(drafts(count // runs)) for _ in range(runs)]

    async def appender(writer: Any, work: Any) -> None:
        for draft in work:
            await writer.append([draft])

    async with open_store(url) as store, AsyncExitStack() as stack:
        writers = [
            await stack.enter_async_context(store.write(RunId(f"run-{n}"), create=True)) for n in range(runs)
        ]
        start = started()
        async with asyncio.TaskGroup() as group:
            for writer, work in zip(writers, works, strict=True):
                for _ in range(tasks):
                    group.create_task(appender(writer, work))
        return count / (time.perf_counter() - start)


async def append_bare(connect: Callable[[], Any], batch: int, count: int, connections: int = 1) -> float:
    """Return the rows per second of a loop on each of several connections, `batch` rows per transaction."""
    rows = [
        (n, uuid.uuid4().hex, type(draft.payload).__name__, encode_payload(draft.payload))
        for n, draft in enumerate(drafts(count))
    ]
    async with AsyncExitStack() as stack:
        opened = [await connect() for _ in range(connections)]
        for connection in opened:
            stack.push_async_callback(connection.close)
        await opened[0].execute("DROP TABLE IF EXISTS bare")
        await opened[0].execute(
            "CREATE TABLE bare (seq bigint PRIMARY KEY, id text UNIQUE, type text, body bytea)"
        )
        batches = iter([rows[start : start + batch] for start in range(0, count, batch)])

        async def loop(connection: Any) -> None:
            for many in batches:
                async with connection.transaction():
                    await connection.executemany("INSERT INTO bare VALUES ($1, $2, $3, $4)", many)

        start = started()
        async with asyncio.TaskGroup() as group:
            for connection in opened:
                group.create_task(loop(connection))
        return count / (time.perf_counter() - start)


def one_round(base: URL, count: int) -> dict[str, tuple[float, float]]:
    """Return ours and the bare loop's events per second of each measurement."""

    def fresh() -> str:
        query = {**base.query, "schema": f"bench_{uuid.uuid4().hex[:12]}"}
        return base.set(query=query).render_as_string(hide_password=False)

    async def connect() -> Any:
        host = base.query.get("host", base.host)
        return await asyncpg.connect(
            user=base.username, password=base.password, host=host, port=base.port, database=base.database
        )

    found = {}
    for waiting in WAITING:
        events = max(200, count * waiting // WAITING[-1])
        ours = asyncio.run(append_waiting(fresh(), waiting, events))
        found[f"{waiting} waiting"] = ours, asyncio.run(append_bare(connect, waiting, events))
    ours = asyncio.run(append_waiting(fresh(), 8, count, RUNS_AT_ONCE))
    bare = asyncio.run(append_bare(connect, 8, count, RUNS_AT_ONCE))
    found[f"{RUNS_AT_ONCE} runs at once, 8 waiting each"] = ours, bare
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", metavar="URL", help="an existing server; schemas bench_… are left behind")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--appends", type=int, default=8_000, help="events with 32 waiting")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with nullcontext() if options.store else running_server({"fsync": "on"}) as server:
        base = make_url(options.store if server is None else server.url())
        rounds = [one_round(base, options.appends) for _ in range(options.rounds)]
    table = {
        name: {
            "ours, per s": statistics.median(r[name][0] for r in rounds),
            "bare asyncpg, per s": statistics.median(r[name][1] for r in rounds),
            "ratio": statistics.median(r[name][0] / r[name][1] for r in rounds),
        }
        for name in rounds[0]
    }
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    machine += f", load {load:.1f} before and {os.getloadavg()[0]:.1f} after"
    if options.json:
        print(json.dumps({"machine": machine, "figures": table}, indent=2))
        return
    print(machine)
    print(f"{'appends':34} {'ours, per s':>12} {'bare, per s':>12} {'ratio':>7}")
    for name, row in table.items():
        ours, bare, ratio = row.values()
        print(f"{name:34} {ours:>12,.0f} {bare:>12,.0f} {ratio:>7.2f}")
    print(f"goal with 32 waiting: {GOAL} of the bare loop")


if __name__ == "__main__":
    main()
