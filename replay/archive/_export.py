"""Export: write a run into one file, verifying it on the way."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from anyio.to_thread import run_sync

from dga2d.events import BlobDigest, RunId, referenced_blobs
from dga2d.replay.archive import _format
from dga2d.store import EMPTY_LOG, DigestSet, EventStore, Head, check_page

BLOBS_AT_ONCE = 200
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of all members: equal runs give equal files."""


class _Member:
    """A member of the file while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._lines = 0
        self._bytes = 0

    def write(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._file.write(line)
            self._sha256.update(line)
            self._bytes += len(line)
            self._lines += 1

    def entry(self) -> _format.FileEntry:
        return _format.FileEntry(lines=self._lines, bytes=self._bytes, sha256=self._sha256.hexdigest())


async def export_run(store: EventStore, run_id: RunId, path: Path) -> _format.Manifest:
    """Write run `run_id` and all blobs it names to `path`; the file appears when it is complete.

    Raises
    ------
    UnknownRunError, CorruptEventError, EventError, BlobMissingError, CorruptBlobError
        There is no such run, or it does not hold together.
    ArchiveError
        The file cannot be written, or the run has no events.
    """
    if not (await store.head(run_id)).seq:
        raise _format.ArchiveError(path, run_id, "the run has no events")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as file, DigestSet() as digests:
            manifest = await _write(store, run_id, file, digests)
        _flush(partial)
        partial.replace(path)
    except OSError as error:
        raise _format.ArchiveError(path, "writing", error.strerror or str(error)) from error
    finally:
        partial.unlink(missing_ok=True)
    return manifest


async def _write(
    store: EventStore, run_id: RunId, file: zipfile.ZipFile, digests: DigestSet
) -> _format.Manifest:
    lineage, hashes = await store.lineage(run_id), {}
    ends = {until: ancestor for ancestor, until in lineage}
    head: Head = EMPTY_LOG
    with _member(file, _format.EVENTS) as events:
        async for page in store.pages(run_id, until=(await store.head(run_id)).seq):
            head = check_page(page, head)
            hashes.update({ends[e.seq]: e.hash.hex() for e in page if e.seq in ends})
            await run_sync(events.write, [_format.event_line(event) for event in page])
            digests.add(digest for event in page for digest in referenced_blobs(event))
    with _member(file, _format.BLOBS) as blobs:
        for many in _batches(digests):
            found = await store.get_blobs(many)
            lines = [_format.blob_line(digest, data) for digest, data in zip(many, found, strict=True)]
            await run_sync(blobs.write, lines)
    manifest = _format.Manifest(
        run=run_id,
        head=head.hash.hex(),
        lineage=tuple(_format.SegmentEntry(run=a, until=until, hash=hashes[a]) for a, until in lineage),
        quotas=await store.quotas(run_id),
        events=events.entry(),
        blobs=blobs.entry(),
    )
    with _member(file, _format.MANIFEST) as member:
        member.write([manifest.model_dump_json(indent=2).encode() + b"\n"])
    return manifest


@contextmanager
def _member(file: zipfile.ZipFile, name: str) -> Iterator[_Member]:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    with file.open(info, "w", force_zip64=True) as opened:
        yield _Member(opened)


def _batches(digests: Iterable[BlobDigest]) -> Iterator[list[BlobDigest]]:
    rest = iter(digests)
    take: Callable[[], list[BlobDigest]] = lambda: list(islice(rest, BLOBS_AT_ONCE))  # noqa: E731
    return iter(take, [])


def _flush(path: Path) -> None:
    """Wait until the file is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
