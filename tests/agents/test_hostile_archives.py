"""Files made to harm whoever imports them are refused with a reason, and change nothing."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dga2d.events import link_hash
from dga2d.events._envelope import header_bytes
from dga2d.replay.archive import BLOBS, EVENTS, MANIFEST, ArchiveError, import_run
from dga2d.store import EMPTY_LOG, EventStore, open_store

GOLDEN = Path(__file__).parent / "golden" / "run-v1.zip"
MOST_MEMORY = 400 * 2**20
Members = dict[str, bytes]


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


RUN = members_of(GOLDEN)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EventStore]:
    async with open_store(f"sqlite+aiosqlite:///{tmp_path / 'log.db'}") as store:
        yield store


async def refusal(store: EventStore, path: Path) -> str:
    """Why `path` is not imported; afterwards the database holds nothing of it, and the run itself goes in."""
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError) as refused:
            await import_run(store, path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert await store.runs() == []
    manifest = await import_run(store, GOLDEN)
    assert [summary.run_id for summary in await store.runs()] == [manifest.run]
    return f"{refused.value.place}: {refused.value.reason}"


def packed(path: Path, members: Members, *more: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in (*members.items(), *more):
            file.writestr(name, data)
    return path


def symlink(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target.encode()


NAMES: dict[str, tuple[str | zipfile.ZipInfo, bytes]] = {
    "a path upwards": ("../../evil.pth", b"import os"),
    "a path from the root": ("/etc/cron.d/evil", b"* * * * * root id"),
    "a path of Windows": ("C:\\evil.bat", b""),
    "a path that ends up here": ("x/../events.jsonl", RUN[EVENTS]),
    "a folder": ("events.jsonl/", b""),
    "another spelling": ("EVENTS.JSONL", RUN[EVENTS]),
    "a null byte": ("events.jsonl\0.txt", RUN[EVENTS]),
    "a symbolic link": symlink("link", "/etc/passwd"),
    "a right-to-left name": ("\u202elnosj.stneve", b""),
}


@pytest.mark.parametrize("case", NAMES)
async def test_a_member_of_another_name_is_refused(store: EventStore, tmp_path: Path, case: str) -> None:
    with pytest.warns(UserWarning, match="Duplicate") if case == "a null byte" else _nothing():
        path = packed(tmp_path / "run.zip", RUN, NAMES[case])
    assert "is not that of a run" in await refusal(store, path)
    assert not list(tmp_path.glob("**/evil*"))


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize("name", [EVENTS, BLOBS, MANIFEST])
async def test_a_member_that_is_there_twice_is_refused(store: EventStore, tmp_path: Path, name: str) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = packed(tmp_path / "run.zip", RUN, (name, RUN[name]))
    assert "is not that of a run" in await refusal(store, path)


@pytest.mark.parametrize("name", [EVENTS, BLOBS, MANIFEST])
async def test_a_member_that_is_a_symbolic_link_is_only_data(
    store: EventStore, tmp_path: Path, name: str
) -> None:
    rest = {other: data for other, data in RUN.items() if other != name}
    path = packed(tmp_path / "run.zip", rest, symlink(name, "/etc/passwd"))
    assert name in await refusal(store, path)


async def test_a_name_that_is_no_text_is_refused(store: EventStore, tmp_path: Path) -> None:
    path = packed(tmp_path / "run.zip", {**RUN, "naïve": b""})
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xff\xfeve"))
    assert "table of contents" in await refusal(store, path)


@pytest.mark.parametrize("n_entries", [10**5, 10**6])
async def test_a_table_of_a_million_entries_is_not_even_read(
    store: EventStore, tmp_path: Path, n_entries: int
) -> None:
    entry = (
        struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, *([0] * 4), *([0] * 3), 1, *([0] * 4), 0, 0)
        + b"a"
    )
    table = entry * n_entries
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(table), 0, 0)
    path = tmp_path / "run.zip"
    path.write_bytes(table + end)
    assert "too many entries" in await refusal(store, path)


@pytest.mark.skipif("sys.platform == 'win32'", reason="no pipes with a name")
@pytest.mark.parametrize("name", ["pipe.zip", "/dev/zero"])
async def test_what_is_no_file_is_refused_at_once(store: EventStore, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert "is not a file" in await refusal(store, tmp_path / name)


def with_manifest(**changes: Any) -> Members:
    fields = json.loads(RUN[MANIFEST])
    return {**RUN, MANIFEST: json.dumps({**fields, **changes}, indent=2).encode() + b"\n"}


MANIFEST_TEXT = RUN[MANIFEST].decode()
ENTRY = json.loads(MANIFEST_TEXT)["events"]
SEGMENT = {"run": "a", "until": 1, "hash": "0" * 64}
CONTENTS: dict[str, Callable[[], Members]] = {
    "one endless line of events": lambda: {**RUN, EVENTS: b"x" * (2 * 2**20)},
    "one endless line of blobs": lambda: {**RUN, BLOBS: b"x" * (2 * 2**20)},
    "an endless manifest": lambda: {**RUN, MANIFEST: b" " * (17 * 2**20)},
    "a million empty lines": lambda: {**RUN, EVENTS: b"\n" * 10**6},
    "500 long lines": lambda: {**RUN, EVENTS: (b"x" * (2**20 - 2) + b"\n") * 500},
    "a million blobs nobody names": lambda: {**RUN, BLOBS: b'{"digest":"","text":""}\n' * 10**6},
    "a deep manifest": lambda: {**RUN, MANIFEST: b'{"lineage":' + b"[" * 10**6},
    "a deep payload": lambda: {**RUN, EVENTS: first_event(b'{"x":' + b"[" * 10**5 + b"]" * 10**5 + b"}")},
    "a deep payload of a frequent kind": lambda: {
        **RUN,
        EVENTS: first_event(b'{"trace":' + b"[" * 10**5 + b"]" * 10**5 + b"}", "EvaluationRecorded"),
    },
    "a payload that is no object": lambda: {**RUN, EVENTS: first_event(b"1")},
    "a payload with a number of 5,000 digits": lambda: {
        **RUN,
        EVENTS: first_event(b'{"x":%b}' % (b"9" * 5000)),
    },
    "an event that is a list": lambda: {**RUN, EVENTS: b'[],"payload":{}}\n'},
    "a blob that is a list": lambda: {**RUN, BLOBS: b"[]\n"},
    "a blob that is a number": lambda: {**RUN, BLOBS: b"1\n"},
    "a blob of half a surrogate": lambda: {**RUN, BLOBS: b'{"digest":"0","text":"\\ud800"}\n'},
    "a blob that is no base64": lambda: {**RUN, BLOBS: b'{"digest":"0","base64":"*"}\n'},
    "bytes that are no text": lambda: {**RUN, EVENTS: b"\xff\xfe\n", BLOBS: b"\xff\n"},
    "more lines than there are": lambda: with_manifest(events={**ENTRY, "lines": 10**30}),
    "more bytes than there are": lambda: with_manifest(events={**ENTRY, "bytes": 2**63}),
    "a negative count": lambda: with_manifest(events={**ENTRY, "lines": -1}),
    "another digest": lambda: with_manifest(events={**ENTRY, "sha256": "0" * 64}),
    "another head": lambda: with_manifest(head="0" * 64),
    "another run": lambda: with_manifest(run="other"),
    "a run without a name": lambda: with_manifest(run=""),
    "a run with a path for a name": lambda: with_manifest(run="../../etc/passwd"),
    "a quota of 5,000 digits": lambda: {
        **RUN,
        MANIFEST: MANIFEST_TEXT.replace('"quotas": {', '"quotas": {"x": ' + "9" * 5000 + ", ").encode(),
    },
    "a quota that no database holds": lambda: with_manifest(quotas={"llm-call": 2**70}),
    "a negative quota": lambda: with_manifest(quotas={"llm-call": -5}),
    "an ancestor nobody knows": lambda: with_manifest(lineage=[SEGMENT]),
    "ten thousand ancestors": lambda: with_manifest(lineage=[SEGMENT] * 10**4),
    "an ancestor beyond the end": lambda: with_manifest(lineage=[{**SEGMENT, "until": 10**15}]),
    "another version": lambda: with_manifest(version=2),
    "an unknown field": lambda: with_manifest(surprise=1),
}


def first_event(payload: bytes, event_type: str | None = None) -> bytes:
    """A line whose hash is right, whatever `payload` is."""
    fields = orjson.loads(RUN[EVENTS].partition(b',"payload":')[0] + b"}")
    names = (
        "run_id",
        "seq",
        "event_id",
        "type",
        "version",
        "agent",
        "generation",
        "caused_by",
        "recorded_at",
    )
    values = [fields[name] for name in names]
    if event_type is not None:
        values[3], values[5] = event_type, "evaluator_pool"
    header = header_bytes(*values)
    link = link_hash(EMPTY_LOG.hash, header, payload)
    return b'%b,"hash":"%b","payload":%b}\n' % (header[:-1], link.hex().encode(), payload)


@pytest.mark.parametrize("case", CONTENTS)
async def test_hostile_contents_are_refused(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr("dga2d.replay.archive._import.LONGEST_LINE", 2**20)
    reason = await refusal(store, packed(tmp_path / "run.zip", CONTENTS[case]()))
    assert any(name in reason for name in (EVENTS, BLOBS, MANIFEST, "lineage"))
    assert len(reason) < 2000


def signed_again(members: Members) -> Members:
    """`members` with a manifest that counts and hashes them as they are now."""
    fields = json.loads(RUN[MANIFEST])
    for key, name in (("events", EVENTS), ("blobs", BLOBS)):
        data = members[name]
        digest = hashlib.sha256(data).hexdigest()
        fields[key] = {"lines": data.count(b"\n"), "bytes": len(data), "sha256": digest}
    return {**members, MANIFEST: json.dumps(fields, indent=2).encode() + b"\n"}


def damaged(data: bytes, choose: random.Random) -> bytes:
    """`data` with a line dropped, repeated or moved, or with bytes changed, inserted or cut out."""
    lines = data.splitlines(keepends=True)
    i, j = choose.randrange(len(lines)), choose.randrange(len(lines))
    kind = choose.randrange(6)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        line, at = lines[i], choose.randrange(len(lines[i]))
        new = choose.choice(
            (b"\0", b"9" * choose.choice((1, 5000)), b"null", b'"', b"\xff", b"{", b"\\ud800")
        )
        lines[i] = line[:at] + new + line[at + (kind == 4) * choose.randrange(40) :]
    return b"".join(lines)


async def test_no_damage_is_taken_for_a_run_though_the_manifest_agrees(
    store: EventStore, tmp_path: Path
) -> None:
    choose = random.Random(20)
    n_changed = 0
    for _ in range(60):
        name = choose.choice((EVENTS, BLOBS))
        members = {**RUN, name: damaged(RUN[name], choose)}
        if members[name] == RUN[name]:
            continue
        n_changed += 1
        with pytest.raises(ArchiveError):
            await import_run(store, packed(tmp_path / "run.zip", signed_again(members)))
        assert await store.runs() == []
    assert n_changed > 50
    await import_run(store, GOLDEN)
