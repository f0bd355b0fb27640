"""A run in a file is the run: what comes back is what went in, and a file that was changed is refused."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.agents.golden.record_run import DIALOGUE, KERNEL, LAGGING, SCORES

from dga2d.agents.decision_replay import DecisionVerifier
from dga2d.events import RunId, referenced_blobs
from dga2d.replay.archive import BLOBS, EVENTS, MANIFEST, ArchiveError, export_run, import_run
from dga2d.replay.snapshots import load_state
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import BlobMissingError, EventStore, RunExistsError, StoreError, open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

WHOLE, FORK = RunId("whole"), RunId("fork")


async def play(simulation: Simulation, store: EventStore, run_id: RunId, **how: object) -> None:
    async with store.write(run_id, **how) as writer:  # type: ignore[arg-type]
        events = [event async for event in store.read(run_id)]
        await replace(simulation, run_id=run_id).process(writer, store, events)


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


@pytest.fixture(scope="module")
def original(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a finished run and a fork of it."""
    small = simulation.changed(generations=2, pipelines=2, batch_size=1, validation_interval=1)
    path = tmp_path_factory.mktemp("original") / "log.db"

    async def write() -> None:
        async with open_store(url_of(path)) as store:
            await play(small, store, WHOLE, create=True, quotas={"llm-call": 50})
            closed = [e.seq async for e in store.read(WHOLE) if e.type == "GenerationCompleted"]
            await play(small, store, FORK, create=True, fork_of=(WHOLE, closed[0]))

    anyio.run(write)
    return path


@pytest.fixture
async def store(original: Path, tmp_path: Path) -> AsyncIterator[EventStore]:
    """A copy of it."""
    shutil.copy(original, tmp_path / "log.db")
    async with open_store(url_of(tmp_path / "log.db")) as store:
        yield store


async def contents(store: EventStore, run_id: RunId) -> tuple[object, ...]:
    events = [event async for event in store.read(run_id)]
    digests = {digest for event in events for digest in referenced_blobs(event)}
    blobs = {digest: await store.get_blob(digest) for digest in digests}
    return (
        await store.verify(run_id),
        list(events),
        blobs,
        await store.quotas(run_id),
        await store.lineage(run_id),
    )


@pytest.mark.parametrize("run_id", [WHOLE, FORK])
async def test_what_is_imported_is_what_was_exported(
    store: EventStore, tmp_path: Path, run_id: RunId
) -> None:
    manifest = await export_run(store, run_id, tmp_path / "run.zip")
    async with open_store(url_of(tmp_path / "other.db")) as other:
        assert await import_run(other, tmp_path / "run.zip") == manifest
        assert await contents(other, run_id) == await contents(store, run_id)
        assert state_digest(await load_state(other, run_id)) == state_digest(await load_state(store, run_id))
        await export_run(other, run_id, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "run.zip").read_bytes()


async def test_an_imported_fork_shares_its_parent_if_that_is_there(store: EventStore, tmp_path: Path) -> None:
    for run_id in (WHOLE, FORK):
        await export_run(store, run_id, tmp_path / f"{run_id}.zip")
    async with open_store(url_of(tmp_path / "other.db")) as other:
        for run_id in (WHOLE, FORK):
            await import_run(other, tmp_path / f"{run_id}.zip")
            assert await contents(other, run_id) == await contents(store, run_id)
    with (
        closing(sqlite3.connect(tmp_path / "other.db")) as there,
        closing(sqlite3.connect(tmp_path / "log.db")) as here,
    ):
        count = "SELECT run_id, count(*) FROM events GROUP BY run_id"
        assert there.execute(count).fetchall() == here.execute(count).fetchall()
    async with open_store(url_of(tmp_path / "reversed.db")) as other:
        await import_run(other, tmp_path / "fork.zip")
        with pytest.raises(RunExistsError, match="whole"):  # only its first part is there
            await import_run(other, tmp_path / "whole.zip")


async def test_an_imported_run_can_be_gone_on_with(
    store: EventStore, simulation: Simulation, tmp_path: Path
) -> None:
    closed = [e.seq async for e in store.read(WHOLE) if e.type == "GenerationCompleted"]
    async with store.write(RunId("stopped"), create=True, fork_of=(WHOLE, closed[0] + 1)):
        pass
    await export_run(store, RunId("stopped"), tmp_path / "run.zip")
    small = simulation.changed(generations=2, pipelines=2, batch_size=1, validation_interval=1)
    async with open_store(url_of(tmp_path / "other.db")) as other:
        await import_run(other, tmp_path / "run.zip")
        await play(small, other, RunId("stopped"))
        assert state_digest(await load_state(other, RunId("stopped"))) == state_digest(
            await load_state(store, WHOLE)
        )


async def test_a_run_that_is_there_is_not_imported_again(store: EventStore, tmp_path: Path) -> None:
    await export_run(store, WHOLE, tmp_path / "run.zip")
    before = await contents(store, WHOLE)
    with pytest.raises(RunExistsError):
        await import_run(store, tmp_path / "run.zip")
    assert await contents(store, WHOLE) == before


async def test_a_damaged_run_is_not_exported(store: EventStore, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection, connection:
        connection.execute("DELETE FROM blobs WHERE digest = (SELECT min(digest) FROM blobs)")
        connection.execute("DELETE FROM blobs WHERE digest = (SELECT max(digest) FROM blobs)")
    with pytest.raises(BlobMissingError):
        await export_run(store, WHOLE, tmp_path / "run.zip")
    assert not list(tmp_path.glob("*.zip")) + list(tmp_path.glob(".*"))


def rewritten(source: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """The same file with another content of one member; the manifest stays."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            data = old.read(member)
            new.writestr(member, change(data) if member == name else data)


def swapped(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    lines[2], lines[3] = lines[3], lines[2]
    return b"".join(lines)


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        (EVENTS, lambda d: d.replace(b'"score":-', b'"score":-1', 1), r"events.jsonl, line \d+: event \d+"),
        (EVENTS, swapped, r"events.jsonl, line 3: event 4"),
        (EVENTS, lambda d: b"".join(d.splitlines(keepends=True)[:-1]), "events.jsonl: its .* lines"),
        (EVENTS, lambda d: d[:-20], r"events.jsonl, line \d+: is cut off"),
        (EVENTS, lambda d: b"\n" + d, "events.jsonl, line 1: is not an event"),
        (
            EVENTS,
            lambda d: d.replace(b'{"agent"', b'{ "agent"', 1),
            "line 1: is not .*canonical",
        ),
        (EVENTS, lambda d: b"[1]\n" + d, "events.jsonl, line 1: is not an event"),
        (BLOBS, swapped, "blobs.jsonl, line 3: blob .* is missing"),
        (
            BLOBS,
            lambda d: d.replace(b"return state", b"return stale", 1),
            "line .*another digest",
        ),
        (BLOBS, lambda d: b"".join(d.splitlines(keepends=True)[:-1]), "blobs.jsonl: its .* lines"),
        (BLOBS, lambda d: d + d.splitlines(keepends=True)[-1], "blobs.jsonl, line .*: no event names"),
        (MANIFEST, lambda d: d.replace(b'"version": 1', b'"version": 2'), "manifest.json: version"),
        (MANIFEST, lambda d: d.replace(b'"llm-call": 50', b'"llm-call": 0'), "database refuses"),
        (MANIFEST, lambda d: d.replace(b"dga2d-run", b"another"), "manifest.json: format"),
        (MANIFEST, lambda d: d[:-5], "manifest.json: the whole"),
        (MANIFEST, lambda d: d.replace(b'"run": "whole"', b'"run": "other"'), "is of run whole"),
    ],
)
async def test_a_changed_file_is_refused_and_the_place_is_named(
    store: EventStore, tmp_path: Path, name: str, change: Callable[[bytes], bytes], place: str
) -> None:
    await export_run(store, WHOLE, tmp_path / "run.zip")
    rewritten(tmp_path / "run.zip", tmp_path / "changed.zip", name, change)
    async with open_store(url_of(tmp_path / "other.db")) as other:
        with pytest.raises(ArchiveError, match=place):
            await import_run(other, tmp_path / "changed.zip")
        assert await other.runs() == []


async def test_no_flipped_byte_and_no_truncation_gives_another_run(store: EventStore, tmp_path: Path) -> None:
    """What is not refused is a byte that means nothing: a date, a comment, a permission."""
    await export_run(store, WHOLE, tmp_path / "run.zip")
    wanted = await contents(store, WHOLE)
    whole = (tmp_path / "run.zip").read_bytes()
    rng, refused, messages = random.Random(1), 0, set()
    target, databases = tmp_path / "changed.zip", iter(range(100))
    changed = [flipped_or_cut(whole, case, rng) for case in range(100)]
    while changed:
        async with open_store(url_of(tmp_path / f"{next(databases)}.db")) as other:
            while changed:
                target.write_bytes(changed.pop(0))
                try:
                    await import_run(other, target)
                except (ArchiveError, StoreError) as error:
                    refused += 1
                    messages.add(str(error).partition(":")[0])
                    assert await other.runs() == []
                else:
                    assert await contents(other, WHOLE) == wanted
                    break  # on with an empty database
    assert messages == {str(target)}
    assert refused > 90


def flipped_or_cut(whole: bytes, case: int, rng: random.Random) -> bytes:
    """Every third time a truncation, else one bit flipped."""
    if case % 3 == 0:
        return whole[: rng.randrange(len(whole))]
    data = bytearray(whole)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def patched(data: bytes, record: bytes, offset: int, value: bytes) -> bytes:
    """`data` with `value` at `offset` of the first record that begins with the signature `record`."""
    first = data.index(record) + offset
    return data[:first] + value + data[first + len(value) :]


LOCAL, CENTRAL = b"PK\3\4", b"PK\1\2"
"""Signatures of a member's own header and of its entry in the table of contents (APPNOTE.TXT 4.3)."""
FLAGS_UTF8 = struct.pack("<H", 0x800)


def misnamed(data: bytes, record: bytes, flags_at: int, name_at: int) -> bytes:
    """A name said to be UTF-8, which it is not."""
    return patched(patched(data, record, flags_at, FLAGS_UTF8), record, name_at, b"\xff")


def end_of_table(data: bytes, offset: int, value: int) -> bytes:
    return patched(data, b"PK\5\6", offset, struct.pack("<L", value))


def beyond_all_files(data: bytes) -> bytes:
    """The first entry says, in its zip64 field, that its member lies at 2⁶⁴ - 5."""
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 5)
    data = patched(patched(data, CENTRAL, 42, b"\xff" * 4), CENTRAL, 30, struct.pack("<H", len(extra)))
    entry, end = data.index(CENTRAL), data.rindex(b"PK\5\6")
    (table_bytes,) = struct.unpack_from("<L", data, end + 12)
    data = end_of_table(data, 12, table_bytes + len(extra))
    (name_bytes,) = struct.unpack_from("<H", data, entry + 28)
    after = entry + 46 + name_bytes
    return data[:after] + extra + data[after:]


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], tuple[type[Exception], ...], str]] = {
    "no table": (lambda d: d[:-30], (zipfile.BadZipFile,), "table of contents: damaged"),
    "table elsewhere": (lambda d: end_of_table(d, 16, 100), (), "it lies outside the file"),
    "offset too large": (beyond_all_files, (), "it lies outside the file"),
    "version 25.5": (
        lambda d: patched(d, CENTRAL, 6, b"\xff"),
        (NotImplementedError,),
        "table of .* version",
    ),
    "name of an entry": (lambda d: misnamed(d, CENTRAL, 8, 46), (UnicodeDecodeError,), "table of .* decode"),
    "name of a member": (lambda d: misnamed(d, LOCAL, 6, 30), (UnicodeDecodeError,), "jsonl.* decode"),
    "encrypted": (lambda d: patched(d, CENTRAL, 8, b"\1"), (), "jsonl: is encrypted"),
    "patched data": (lambda d: patched(d, CENTRAL, 8, b"\x20"), (NotImplementedError,), "jsonl.*flag bit 5"),
    "bzip2": (lambda d: patched(d, CENTRAL, 10, b"\x0c"), (), "jsonl: is compressed by method 12"),
    "lzma": (lambda d: patched(d, CENTRAL, 10, b"\x0e"), (), "jsonl: is compressed by method 14"),
    "checksum": (lambda d: patched(d, CENTRAL, 16, bytes(4)), (zipfile.BadZipFile,), "jsonl.* CRC-32"),
    "block type": (lambda d: patched(d, LOCAL, 62, b"\xff"), (zlib.error,), "jsonl.* decompressing"),
    "long header": (
        lambda d: patched(d, LOCAL, 28, b"\xff\xff"),
        (EOFError, zipfile.BadZipFile),
        "jsonl.*damaged",
    ),
}
"""How a file is damaged → what reading it may raise (nothing: it is seen before), the message. Python looks
for members that overlap since 3.11.8, and where distributions brought that to older ones."""


@pytest.mark.parametrize(("damage", "causes", "message"), DAMAGE.values(), ids=DAMAGE.keys())
async def test_every_kind_of_damage_is_named(
    tmp_path: Path, damage: Callable[[bytes], bytes], causes: tuple[type[Exception], ...], message: str
) -> None:
    whole = (Path(__file__).parent / "golden" / "run-v1.zip").read_bytes()
    (tmp_path / "damaged.zip").write_bytes(damage(whole))
    async with open_store(url_of(tmp_path / "log.db")) as store:
        with pytest.raises(ArchiveError, match=message) as refusal:
            await import_run(store, tmp_path / "damaged.zip")
        assert await store.runs() == []
    assert type(refusal.value.__cause__) in (causes or (type(None),))


async def test_a_folder_is_no_run(tmp_path: Path) -> None:
    async with open_store(url_of(tmp_path / "log.db")) as store:
        with pytest.raises(ArchiveError, match=r"cannot be read .*Is a directory"):
            await import_run(store, tmp_path)


async def test_what_is_no_zip_file_is_refused(store: EventStore, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as file:
        file.writestr("a", "b")
    for name, reason in (("text", "damaged"), ("foreign.zip", "not that of a run"), ("none", "no such file")):
        with pytest.raises(ArchiveError, match=reason):
            await import_run(store, tmp_path / name)


async def test_an_export_into_a_missing_folder_is_refused(store: EventStore, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="No such file"):
        await export_run(store, WHOLE, tmp_path / "none" / "run.zip")


GOLDEN = {
    "run-v1.zip": (
        "08befb1dfa472c9fa1f5d44b75bebc9eada61e3b2520550f3b4ea5ff20122757",
        "e0a620b0e1d7534851ca558f3e47605847e5a55f7abc0a1f5edf7f1c753919b0",
    ),
    "dialogue.zip": (
        "35ee19da02b1122429c3fc59e5cf3d8a8563aee461a970e9ef86effe10260f4f",
        "e8d5fb986f822d6b8a81369876d3e03332d7c19f1095be8a8eaed9cb85ce6a62",
    ),
    "lagging.zip": (
        "272e9791f4a6f9d7d5638384161b703d4e6c47b189b1cdda6516738efc2944c1",
        "9d9a9917752edc7d501061d161ea6aa0e4e82307a776001a7dedad0cf52e2b05",
    ),
    "scores.zip": (
        "52ddebb075af7359913459a7cf0151a7a6f9042af68cc2388051d8b9f67264b2",
        "fa35ae5ac172cafbfb78415abfd43ec4f0263bbcbc3b93cb8c997a8ebbe8f5ec",
    ),
    "kernels.zip": (
        "27a05e01b6a881f8892c473a9b676d5753d4d34cfa79f758d1b593006cd6cee5",
        "346830217454ea7de28550fac4ce1935a733010ec1579c15999f7fb7b289d669",
    ),
}
"""File of each version of the format, of a run with new operators and turns, of one with edits in flight,
of one of a domain with a score of its own, and of one with a faster kernel: hash of its last event, and
digest of its final state."""


@pytest.mark.parametrize("name", sorted(GOLDEN))
async def test_files_of_every_version_are_read_for_ever(tmp_path: Path, name: str) -> None:
    path = Path(__file__).parent / "golden" / name
    async with open_store(url_of(tmp_path / "log.db")) as store:
        manifest = await import_run(store, path)
        final = await load_state(store, manifest.run)
    assert (manifest.head, state_digest(final)) == GOLDEN[name]


@pytest.mark.parametrize(
    ("name", "simulation"),
    [
        ("dialogue.zip", DIALOGUE),
        ("lagging.zip", LAGGING),
        ("scores.zip", SCORES),
        ("kernels.zip", KERNEL),
    ],
    ids=["dialogue", "lagging", "scores", "kernels"],
)
async def test_prompts_and_decisions_of_old_runs_are_made_again(
    tmp_path: Path, name: str, simulation: Simulation
) -> None:
    path = Path(__file__).parent / "golden" / name
    async with open_store(url_of(tmp_path / "log.db")) as store:
        manifest = await import_run(store, path)
        verifier = DecisionVerifier(simulation.prompt_context, store)
        state = RunState()
        async for event in store.read(manifest.run):
            before, state = state, fold(state, event)
            await verifier.check(before, event)
    assert verifier.decisions > 60
    calls = state.ledger.calls.values()
    if simulation.own_score is not None:
        assert state.header.own_score == simulation.own_score
        return
    if simulation.kernels:
        assert state.successors
        return
    assert state.operators or {call.landed for call in calls if call.ticket is not None} >= {3, 4, 5}


def test_every_golden_file_is_tested() -> None:
    assert {path.name for path in (Path(__file__).parent / "golden").glob("*.zip")} == set(GOLDEN)
