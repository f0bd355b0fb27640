"""Import: store the run of a file, verifying everything; a file that does not hold changes nothing."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO, cast

from anyio.to_thread import run_sync
from pydantic import ValidationError

from dga2d.events import BlobDigest, EventError, RecordedEvent, RunId, check_owner, referenced_blobs
from dga2d.replay.archive._format import (
    BLOBS,
    EVENTS,
    LONGEST_LINE,
    MANIFEST,
    ArchiveError,
    FileEntry,
    Manifest,
    blob_of,
    event_of,
)
from dga2d.replay.errors import ReplayError
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, DigestSet, EventStore, Head, RunImport, StoreError

EVENTS_AT_ONCE = 500
BLOBS_AT_ONCE = 100
BYTES_AT_ONCE = 2**24
"""Bytes of lines after which no further one is read before these are checked."""
LONGEST_MANIFEST = 2**24
LONGEST_TABLE = 2**17
"""Bytes read at once while a file is opened; the comment at the end of a zip file may have 2^16."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions that are read; each of the others has errors of its own for damaged data."""
ENCRYPTED = 0x1
"""The flag bit of an encrypted member (APPNOTE.TXT 6.3.10, section 4.4.4)."""


async def import_run(store: EventStore, path: Path) -> Manifest:
    """Store the run of the file at `path`.

    Every line is checked against its hash, every event against the one before and against all that must
    hold of it (ownership, types, invariants, recorded state digests), every blob against its digest and
    against the events that name it, and all of it against the manifest.

    Raises
    ------
    ArchiveError
        The file is not a run, damaged or incomplete; names the place.
    RunExistsError
        The run is here already.
    StoreError
        The database refused it.
    """
    if path.is_fifo() or path.is_char_device() or path.is_socket():
        raise ArchiveError(path, "opening", "is not a file")  # a pipe would keep us waiting for ever
    with ExitStack() as stack:
        with _damage_named(path, "table of contents"):
            data = _OpenedFile(stack.enter_context(path.open("rb")))
            file = zipfile.ZipFile(cast(IO[bytes], data))
            data.is_table_read = True
        _check_table(file, path)
        manifest = _manifest(file, path)
        lineage = tuple((entry.run, entry.until) for entry in manifest.lineage)
        hashes = {entry.run: bytes.fromhex(entry.hash) for entry in manifest.lineage}
        async with store.open_import(manifest.run, lineage, hashes, manifest.quotas) as target:
            with DigestSet() as named:
                await _take_events(file, path, manifest, target, named)
                await _take_blobs(file, path, manifest, target, named)
    return manifest


class _OpenedFile:
    """A file whose table of contents is refused when it is much longer than that of a run.

    ``zipfile`` reads the whole table and makes an object for each of its entries before anybody is asked.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.is_table_read = False
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if self.is_table_read:
            return self._file.read(size if size is not None else -1)
        data = self._file.read(
            LONGEST_TABLE + 1 if size is None or size < 0 else min(size, LONGEST_TABLE + 1)
        )
        if len(data) > LONGEST_TABLE:
            raise zipfile.BadZipFile("too many entries")
        return data


def _check_table(file: zipfile.ZipFile, path: Path) -> None:
    """Refuse a file that has not the three members, or one of them encrypted, packed in another way, or said
    to lie outside the file."""
    if sorted(file.namelist()) != sorted((BLOBS, EVENTS, MANIFEST)):
        raise ArchiveError(path, "table of contents", "is not that of a run exported by dga2d")
    file_bytes = path.stat().st_size
    for member in file.infolist():
        if member.flag_bits & ENCRYPTED:
            raise ArchiveError(path, member.filename, "is encrypted")
        if member.compress_type not in METHODS:
            reason = f"is compressed by method {member.compress_type}, not by deflate"
            raise ArchiveError(path, member.filename, reason)
        if not 0 <= member.header_offset < file_bytes:
            raise ArchiveError(path, member.filename, "damaged or cut off (it lies outside the file)")


def _manifest(file: zipfile.ZipFile, path: Path) -> Manifest:
    with _damage_named(path, MANIFEST):
        if file.getinfo(MANIFEST).file_size > LONGEST_MANIFEST:
            raise ArchiveError(path, MANIFEST, "is too long")
        text = file.read(MANIFEST)
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ArchiveError(path, MANIFEST, f"{place}: {first['msg']}") from error
    if manifest.model_dump_json(indent=2).encode() + b"\n" != text:
        raise ArchiveError(path, MANIFEST, "is not written in the canonical form")
    return manifest


async def _take_events(
    file: zipfile.ZipFile, path: Path, manifest: Manifest, target: RunImport, named: DigestSet
) -> None:
    state, head = RunState(), EMPTY_LOG
    lines = _Lines(file, path, EVENTS)
    while page := await run_sync(lines.take, EVENTS_AT_ONCE):
        events = []
        for number, line in page:
            place = f"{EVENTS}, line {number}"
            event, state = _check_line(path, place, line, head, state, manifest)
            head = Head(event.seq, event.hash)
            events.append(event)
        named.add(digest for event in events for digest in referenced_blobs(event))
        try:
            await target.add_events(events)
        except StoreError as error:
            place = f"{EVENTS}, lines {page[0][0]} to {page[-1][0]}"
            raise ArchiveError(path, place, str(error)) from error
    lines.compare(manifest.events)
    if head.hash.hex() != manifest.head:
        raise ArchiveError(path, EVENTS, "ends with another event than the manifest says")


def _check_line(
    path: Path, place: str, line: bytes, head: Head, state: RunState, manifest: Manifest
) -> tuple[RecordedEvent, RunState]:
    try:
        event = event_of(line, head.hash)
        check_owner(event.agent, event.type)
        state = fold(state, event)
    except (ValueError, ArithmeticError, EventError, ReplayError) as error:
        raise ArchiveError(path, place, str(error)) from error
    if event.run_id != _holder(manifest, event.seq):
        raise ArchiveError(path, place, f"event {event.seq} is of run {event.run_id}")
    for entry in manifest.lineage:
        if entry.until == event.seq and entry.hash != event.hash.hex():
            raise ArchiveError(path, MANIFEST, f"lineage: event {event.seq} has another hash")
    return event, state


def _holder(manifest: Manifest, seq: int) -> RunId:
    return next((entry.run for entry in manifest.lineage if entry.until >= seq), manifest.run)


async def _take_blobs(
    file: zipfile.ZipFile, path: Path, manifest: Manifest, target: RunImport, named: DigestSet
) -> None:
    expected = iter(named)
    lines = _Lines(file, path, BLOBS)
    while page := await run_sync(lines.take, BLOBS_AT_ONCE):
        await target.add_blobs([_blob(path, number, line, next(expected, None)) for number, line in page])
    lines.compare(manifest.blobs)
    missing = next(expected, None)
    if missing is not None:
        raise ArchiveError(path, BLOBS, f"blob {missing} is missing")


def _blob(path: Path, number: int, line: bytes, expected: BlobDigest | None) -> bytes:
    place = f"{BLOBS}, line {number}"
    try:
        digest, data = blob_of(line)
    except ValueError as error:
        raise ArchiveError(path, place, str(error)) from error
    if expected is None:
        raise ArchiveError(path, place, f"no event names blob {digest}")
    if digest != expected:
        raise ArchiveError(path, place, f"blob {expected} is missing")
    return data


class _Lines:
    """The lines of a member, counted and hashed as they are taken."""

    def __init__(self, file: zipfile.ZipFile, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._sha256 = hashlib.sha256()
        self._count = 0
        self._bytes = 0
        with _damage_named(path, name):
            self._member = file.open(name)

    def take(self, most: int) -> list[tuple[int, bytes]]:
        """Return the next lines with their numbers, fewer where they are long; none at the end."""
        page, room = list[tuple[int, bytes]](), BYTES_AT_ONCE
        for number, line in islice(self._all(), most):
            page.append((number, line))
            room -= len(line)
            if room <= 0:
                break
        return page

    def _all(self) -> Iterator[tuple[int, bytes]]:
        while True:
            with _damage_named(self._path, f"{self._name}, after line {self._count}"):
                line = self._member.readline(LONGEST_LINE)
            if not line:
                return
            self._count += 1
            self._bytes += len(line)
            if not line.endswith(b"\n"):
                place = f"{self._name}, line {self._count}"
                raise ArchiveError(self._path, place, "is cut off, or too long")
            self._sha256.update(line)
            yield self._count, line

    def compare(self, entry: FileEntry) -> None:
        """See whether what was taken is what the manifest says."""
        found = FileEntry(lines=self._count, bytes=self._bytes, sha256=self._sha256.hexdigest())
        if found != entry:
            reason = f"its {self._count} lines are not those the manifest counts and hashes"
            raise ArchiveError(self._path, self._name, reason)


@contextmanager
def _damage_named(path: Path, place: str) -> Iterator[None]:
    """Turn what reading a damaged zip file raises into an error that names the place.

    That is ``BadZipFile`` for what does not fit together or has another checksum, ``zlib.error`` for
    data that is no deflate stream, ``EOFError`` where it ends too early, ``NotImplementedError`` for a
    version or flag that ``zipfile`` does not know, ``UnicodeDecodeError`` for a name that is no UTF-8.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ArchiveError(path, "opening", "there is no such file") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise ArchiveError(path, place, f"damaged or cut off ({error})") from error
    except OSError as error:
        raise ArchiveError(path, place, f"cannot be read ({error})") from error
