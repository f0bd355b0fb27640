"""What the event log costs: appending, following, replaying; beside raw SQLite, beside parsing alone and
beside the library ``eventsourcing``, all in one run on one machine with the same durability.

Run ``python benchmarks/log.py`` (``--long 1000000`` adds the curve up to a long run and its opening with a
snapshot). The library is not a dependency of this program: ``pip install eventsourcing``; without it its
figures are left out. Every figure is the median over rounds in which all rivals take turns, so that what
else the machine does weighs on all alike; ratios are medians of the ratios within a round.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))

import synthetic_run
from log_rival import Figures, Rival, drafts

from dga2d.events import Draft, RecordedEvent, RunId, StoredEvent, encode_payload
from dga2d.replay.settings import RunSettings
from dga2d.replay.snapshots import SnapshotSeal, load_state, save_snapshot
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, EventStore, check_page, open_store

RUN = RunId("bench")
SEAL = SnapshotSeal(bytes(32), "benchmark")
SETTINGS = RunSettings(pipelines=100, batch_size=10, max_length=6, generations=10_000, evolution=True)


@contextmanager
def fresh() -> Iterator[Path]:
    """A path for a database on the disk of the temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "log.db"


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


# ---------------------------------------------------------------- appending


async def append_waiting(path: Path, tasks: int, count: int, batch: int = 1) -> Figures:
    """`tasks` appenders, each of which waits for its events to be durable before it appends the next."""
    work = iter(drafts(count))
    latencies: list[float] = []

    async def appender(writer: Any) -> None:
        while chunk := list(itertools.islice(work, batch)):
            start = time.perf_counter()
            await writer.append(chunk)
            latencies.append(time.perf_counter() - start)

    async with open_store(url_of(path)) as store, store.write(RUN, create=True) as writer:
        gc.collect()
        start, busy = time.perf_counter(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for _ in range(tasks):
                group.create_task(appender(writer))
        elapsed, busy = time.perf_counter() - start, time.process_time() - busy
    latencies.sort()
    return {
        "per_s": count / elapsed,
        "per_cpu_s": count / busy,
        "p50_ms": 1e3 * latencies[len(latencies) // 2],
        "p99_ms": 1e3 * latencies[int(len(latencies) * 0.99)],
    }


def append_raw(path: Path, count: int, batch: int) -> Figures:
    """The same bytes into a bare table through ``sqlite3``, `batch` rows per transaction."""
    rows = [
        (n + 1, f"{n:032x}", "EvaluationRecorded", encode_payload(d.payload))
        for n, d in enumerate(drafts(count))
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, type TEXT, body BLOB)")
    start = time.perf_counter()
    for first in range(0, count, batch):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows[first : first + batch])
        connection.execute("COMMIT")
    elapsed = time.perf_counter() - start
    connection.close()
    return {"per_s": count / elapsed}


# ---------------------------------------------------------------- following


async def subscription(path: Path, count: int) -> Figures:
    """Time from before an append to the event's arrival at a subscriber of the same process."""
    latencies = []
    async with open_store(url_of(path)) as store, store.write(RUN, create=True) as writer:
        arrived: asyncio.Queue[float] = asyncio.Queue()

        async def follow() -> None:
            async for _ in store.subscribe(RUN):
                arrived.put_nowait(time.perf_counter())

        task = asyncio.create_task(follow())
        for draft in drafts(count):
            start = time.perf_counter()
            await writer.append([draft])
            latencies.append(await arrived.get() - start)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    latencies.sort()
    return {"p50_ms": 1e3 * latencies[count // 2], "p99_ms": 1e3 * latencies[int(count * 0.99)]}


# ---------------------------------------------------------------- replaying


async def write_run(path: Path, count: int) -> None:
    """A valid run of at least `count` events."""
    async with open_store(url_of(path)) as store, store.write(RUN, create=True) as writer:
        state = RunState()

        async def put(many: list[Draft], state: RunState) -> RunState:
            for event in await writer.append(many):
                state = fold(state, event)
            return state

        state = await put([synthetic_run.started(SETTINGS), synthetic_run.graph()], state)
        while state.seq < count:
            state = await put(synthetic_run.generation(state), state)
            state = await put([synthetic_run.closing(state)], state)


async def long_run(path: Path, count: int) -> dict[str, Figures]:
    """Cost per event as a run grows to `count` events, and its opening with a snapshot and without."""
    found: dict[str, Figures] = {}
    async with open_store(url_of(path)) as store, store.write(RUN, create=True) as writer:
        state, mark, busy = RunState(), 0, {"append": 0.0, "fold": 0.0}

        async def put(many: list[Draft], state: RunState) -> RunState:
            start = time.process_time()
            events = await writer.append(many)
            middle = time.process_time()
            for event in events:
                state = fold(state, event)
            busy["append"] += middle - start
            busy["fold"] += time.process_time() - middle
            return state

        state = await put([synthetic_run.started(SETTINGS), synthetic_run.graph()], state)
        limits = [limit for limit in (3000, 10_000, 30_000, 100_000, 300_000, 1_000_000) if limit <= count]
        while state.seq < count:
            state = await put(synthetic_run.generation(state), state)
            state = await put([synthetic_run.closing(state)], state)
            if limits and state.seq >= limits[0]:
                spent = state.seq - mark
                found[f"up to {limits[0]} events"] = {
                    "append_cpu_us": 1e6 * busy["append"] / spent,
                    "fold_cpu_us": 1e6 * busy["fold"] / spent,
                }
                mark, busy = state.seq, {"append": 0.0, "fold": 0.0}
                limits.pop(0)
        start = time.perf_counter()
        await save_snapshot(store, RUN, state, writer.head.hash, SEAL)
        found["snapshot"] = {"save_s": time.perf_counter() - start}
        [snapshot] = await store.snapshots(RUN)
        found["snapshot"]["mb"] = len(snapshot.data) / 1e6
    for _ in range(2):
        gc.collect()
        start, cpu = time.perf_counter(), time.process_time()
        async with open_store(url_of(path), read_only=True) as store:
            again = await load_state(store, RUN, seal=SEAL)
        found["open with snapshot"] = {"s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
        assert again.seq == state.seq
    start, cpu = time.perf_counter(), time.process_time()
    async with open_store(url_of(path), read_only=True) as store:
        assert await load_state(store, RUN) == again
    whole = time.perf_counter() - start
    found["full replay"] = {"s": whole, "per_s": again.seq / whole, "cpu_s": time.process_time() - cpu}
    return found


async def _timed(step: Callable[[EventStore], Awaitable[int]], path: Path) -> tuple[float, float]:
    gc.collect()
    start, cpu = time.perf_counter(), time.process_time()
    async with open_store(url_of(path), read_only=True) as store:
        seen = await step(store)
    return seen / (time.perf_counter() - start), seen / (time.process_time() - cpu)


async def _read(store: EventStore) -> int:
    seen: list[int] = []
    await store.scan(RUN, lambda page: seen.append(len(page)))
    return sum(seen)


async def _checked(store: EventStore) -> int:
    return (await store.verify(RUN)).seq


async def _decoded(store: EventStore) -> int:
    """Every payload into the model of its type, as for whoever wants all of it."""
    head = EMPTY_LOG

    def take(page: list[StoredEvent]) -> None:
        nonlocal head
        head = check_page(page, head)
        for event in map(RecordedEvent._make, page):
            assert event.payload is not None

    await store.scan(RUN, take)
    return head.seq


async def _folded(store: EventStore) -> int:
    return (await load_state(store, RUN)).seq


async def replay(path: Path) -> Figures:
    """Events per second, and per second of processor time, of reading, and with every further step."""
    steps = {
        "read": _read,
        "read+chain": _checked,
        "read+chain+decode": _decoded,
        "read+chain+decode+fold": _folded,
    }
    figures = {}
    for name, step in steps.items():
        figures[name], figures[f"{name}, per cpu s"] = await _timed(step, path)
    return figures


def replay_raw(path: Path) -> Figures:
    """``sqlite3`` alone, and with parsing to dicts: what no replay can beat."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    figures = {}
    for name, step in (("sqlite3", lambda data: None), ("sqlite3+orjson", orjson.loads)):
        gc.collect()
        seen, start = 0, time.perf_counter()
        for (data,) in connection.execute("SELECT payload FROM events ORDER BY run_id, seq"):
            step(data)
            seen += 1
        figures[name] = seen / (time.perf_counter() - start)
    connection.close()
    return figures


# ---------------------------------------------------------------- the whole


def one_round(count: int, length: int, with_rival: bool) -> dict[str, Figures]:
    """Every measurement once; what is compared is measured one right after the other."""
    found: dict[str, Figures] = {}
    for tasks in (1, 8, 128, 32):
        with fresh() as path:
            found[f"append, {tasks} waiting"] = asyncio.run(
                append_waiting(path, tasks, count if tasks > 1 else count // 8)
            )
    if with_rival:
        with fresh() as path, Rival(path) as rival:
            found["eventsourcing, 1 per save"] = rival.append(count // 8, 1)
    with fresh() as path:
        found["append, batches of 50"] = asyncio.run(append_waiting(path, 1, count, batch=50))
    for batch in (1, 32, 50):
        with fresh() as path:
            found[f"sqlite3, {batch} per transaction"] = append_raw(
                path, count if batch > 1 else count // 8, batch
            )
    with fresh() as path:
        found["subscription"] = asyncio.run(subscription(path, 500))
    with fresh() as path, fresh() as other, ExitStack() as stack:
        asyncio.run(write_run(path, length))
        if with_rival:
            rival = stack.enter_context(Rival(other))
            found["eventsourcing, 50 per save"] = rival.append(count, 50)
        found["replay"] = replay_raw(path) | asyncio.run(replay(path))
        if with_rival:
            found["eventsourcing, read"] = rival.read()
    return found


def medians(rounds: list[dict[str, Figures]]) -> dict[str, Figures]:
    return {
        name: {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]}
        for name in rounds[0]
    }


def comparisons(rounds: list[dict[str, Figures]]) -> dict[str, Figures]:
    """Medians of the ratios within a round."""
    if "eventsourcing, read" not in rounds[0]:
        return {}

    def ratio(ours: tuple[str, str], theirs: tuple[str, str]) -> float:
        return statistics.median(r[ours[0]][ours[1]] / r[theirs[0]][theirs[1]] for r in rounds)

    one, read = "eventsourcing, 1 per save", ("eventsourcing, read", "domain events")
    replayed = "read+chain+decode+fold"
    return {
        "times eventsourcing": {
            "append, 32 waiting": ratio(("append, 32 waiting", "per_s"), (one, "per_s")),
            "append, 32 waiting, cpu": ratio(("append, 32 waiting", "per_cpu_s"), (one, "per_cpu_s")),
            "full replay to its read": ratio(("replay", replayed), read),
            "full replay to its read, cpu": ratio(
                ("replay", f"{replayed}, per cpu s"), (read[0], "domain events, per cpu s")
            ),
        }
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--appends", type=int, default=24_000, help="events, enough that the write-ahead log is used again"
    )
    parser.add_argument("--events", type=int, default=50_000, help="length of the replayed run")
    parser.add_argument("--long", type=int, help="also grow one run to so many events")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        import eventsourcing  # noqa: F401

        with_rival = True
    except ImportError:
        with_rival = False
    gc.set_threshold(100_000, 50, 100)  # as the program's own commands do, and for all rivals alike
    load = os.getloadavg()[0]
    rounds = [one_round(options.appends, options.events, with_rival) for _ in range(options.rounds)]
    table = medians(rounds) | comparisons(rounds)
    if options.long:
        with fresh() as path:
            table |= asyncio.run(long_run(path, options.long))
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    machine += f", load {load:.1f} before and {os.getloadavg()[0]:.1f} after"
    if options.json:
        print(json.dumps({"machine": machine, "figures": table}, indent=2))
        return
    print(machine)
    for name, figures in table.items():
        print(name)
        for key, value in figures.items():
            print(f"    {key:36} {value:>14,.2f}" if value < 100 else f"    {key:36} {value:>14,.0f}")


if __name__ == "__main__":
    main()
