"""The file format of exported runs: names, lines and manifest.

A zip file of three members. ``events.jsonl`` has one event per line, ``blobs.jsonl`` one blob, and
``manifest.json``, written last, counts and hashes both. Version 1 is read for ever."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from dga2d.events import BlobDigest, Dga2dError, RecordedEvent, RunId, blob_digest, link_hash
from dga2d.events._envelope import header_bytes


class ArchiveError(Dga2dError):
    """The file at `path` cannot be imported; `place` is a member of it, or a line of one."""

    def __init__(self, path: Path, place: str, reason: str) -> None:
        self.path = path
        self.place = place
        self.reason = reason
        super().__init__(f"{path}: {place}: {reason}")


EVENTS = "events.jsonl"
BLOBS = "blobs.jsonl"
MANIFEST = "manifest.json"
LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line is refused instead of being read into memory."""
_BEFORE_PAYLOAD = b',"payload":'
"""Cannot occur earlier in a line: in a JSON text a quote inside a value is always escaped."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class SegmentEntry(_Model):
    """An ancestor of a forked run and the last event it gave to it."""

    run: RunId
    until: int = Field(ge=1, lt=2**63)
    hash: str = Field(pattern="^[0-9a-f]{64}$")


class FileEntry(_Model):
    """Size and hash of a member's uncompressed content."""

    lines: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Manifest(_Model):
    """Content of the file, to check the other members against."""

    format: Literal["dga2d-run"] = "dga2d-run"
    version: Literal[1] = 1
    run: RunId
    head: str = Field(pattern="^[0-9a-f]{64}$")
    """Hash of the last event."""
    lineage: tuple[SegmentEntry, ...] = Field(max_length=1000)
    """Ancestors from the first event on, if the run is a fork."""
    quotas: dict[str, Annotated[int, Field(ge=0, lt=2**63)]]
    """Amounts granted to the run, by kind."""
    events: FileEntry
    blobs: FileEntry


def event_line(event: RecordedEvent) -> bytes:
    """Return the line of an event: its envelope in canonical order, its hash, and the very bytes of its
    payload."""
    head = event.header_bytes()[:-1]
    return b'%b,"hash":"%b"%b%b}\n' % (
        head,
        event.hash.hex().encode(),
        _BEFORE_PAYLOAD,
        event.payload_bytes,
    )


def event_of(line: bytes, prev_hash: bytes) -> RecordedEvent:
    """Return the event of a line, linked to the hash before it.

    Raises
    ------
    ValueError
        The line is not one that `event_line` writes, or its content does not match its hash.
    """
    front, separator, payload = line.removesuffix(b"\n").partition(_BEFORE_PAYLOAD)
    if not separator or not payload.endswith(b"}"):
        raise ValueError("is not an event")
    fields = orjson.loads(front + b"}")
    payload_bytes = payload[:-1]
    try:
        link = bytes.fromhex(fields["hash"])
        header = header_bytes(
            fields["run_id"],
            fields["seq"],
            fields["event_id"],
            fields["type"],
            fields["version"],
            fields["agent"],
            fields["generation"],
            fields["caused_by"],
            fields["recorded_at"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"is not an event ({error!r})") from error
    if not all(isinstance(fields[name], str) for name in ("run_id", "event_id", "type", "agent")):
        raise ValueError("is not an event (a name is not a text)")
    if b'%b,"hash":"%b"' % (header[:-1], link.hex().encode()) != front:
        raise ValueError("is not written in the canonical form")
    if link_hash(prev_hash, header, payload_bytes) != link:
        raise ValueError(f"event {fields['seq']} ({fields['type']}) does not match its hash")
    del fields["hash"]
    return RecordedEvent(**fields, payload_bytes=payload_bytes, prev_hash=prev_hash, hash=link)


def blob_line(digest: BlobDigest, data: bytes) -> bytes:
    """Return the line of a blob, as text where it is text."""
    try:
        content: dict[str, Any] = {"digest": digest, "text": data.decode()}
    except UnicodeDecodeError:
        content = {"digest": digest, "base64": base64.b64encode(data).decode()}
    return orjson.dumps(content) + b"\n"


def blob_of(line: bytes) -> tuple[BlobDigest, bytes]:
    """Return digest and bytes of a line.

    Raises
    ------
    ValueError
        The line is not one that `blob_line` writes, or the bytes have another digest.
    """
    content = orjson.loads(line)
    try:
        if "text" in content:
            data = content["text"].encode()
        else:
            data = base64.b64decode(content["base64"], validate=True)
    except (KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise ValueError(f"is not a blob ({error!r})") from error
    digest = blob_digest(data)
    if blob_line(digest, data) != line:
        raise ValueError(f"the bytes of blob {content.get('digest')} have another digest or form")
    return digest, data
