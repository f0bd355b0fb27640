"""The file format of a bank: lines of JSON, one entry each, named by the SHA-256 of their source texts.

The first line says what the file is. The others are sorted by domain, operator and digest, each in the one
form that `entry_line` gives it, so that equal banks are equal files and two can be compared line by line.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from dga2d.events import blob_digest
from dga2d.runtime.errors import UsageError
from dga2d.runtime.terminal.output import check_writable, write_file

HEADER = '{"format":"dga2d-bank","version":1}'
SHIPPED = "shipped"
"""Names the bank that comes with the program."""
NO_BANK = "none"
MOST_BYTES = 64 * 2**20
MOST_LINE_CHARS = 2**20
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:+/@ -]{0,199}$")]
_Operator = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Line = Annotated[str, Field(max_length=500)]
_Kind = Literal["none", "partial", "complete"]
Library = Literal["full", "basic", ""]
How = Literal["gate", "validation", "training"]
"""What a gain was measured by. ``gate``: against its parent in the same program. ``validation``: the best
validated pipeline that it was part of, against the safe baseline. ``training``: candidates with it, against
those without."""
TRUST: tuple[How, ...] = ("gate", "validation", "training")
"""Which measurement speaks for an entry: the first that there is."""


class BankError(UsageError):
    """The bank at `path` cannot be used; `place` says where it is wrong."""

    def __init__(self, path: Path | str, place: str, reason: str) -> None:
        self.path = path
        self.place = place
        self.reason = reason
        super().__init__(f"bank {path}: {place}: {reason}")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Measurement(_Model):
    """What an entry gained in a run."""

    run: _Name
    library: Library = ""
    """That the run began from; empty where a bank does not say."""
    how: How
    gain: float
    """Mean, a fraction of the reference; above 0 is better."""
    spread: float | None = Field(ge=0.0)
    """Standard deviation of a single comparison; ``None`` for fewer than two."""
    pairs: int = Field(ge=1)
    """Comparisons."""

    @model_serializer(mode="wrap")
    def _without_what_is_unknown(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a library that is not known, as in banks from before it was written down."""
        plain: dict[str, Any] = handler(self)
        return plain if self.library else {key: plain[key] for key in plain if key != "library"}

    @property
    def least(self) -> float:
        """The mean less its standard error; for a single comparison the mean."""
        return self.gain - (self.spread or 0.0) / math.sqrt(self.pairs)


class Entry(_Model):
    """An implementation with its origin."""

    domain: _Name
    operator: _Operator
    digest: _Digest
    """SHA-256 of the source text."""
    category: _Operator
    requires: _Kind
    provides: _Kind
    idea: _Line
    """First sentence of its docstring; may be empty."""
    run: _Name
    """The run that accepted it first."""
    log: _Digest
    """Hash of the last event of that run's log when it was added."""
    seq: int = Field(ge=1)
    """Event that accepted it."""
    model: _Name
    """Who wrote it, as the ledger of the run has it."""
    licence: _Line
    measurements: tuple[Measurement, ...] = Field(max_length=1000)
    source: str = Field(max_length=200_000)

    @property
    def key(self) -> tuple[str, str, str]:
        """What an entry is known by in a bank, and sorted by."""
        return self.domain, self.operator, self.digest

    @property
    def evidence(self) -> Measurement | None:
        """The measurement that speaks for it: of the kind trusted most the best; ``None`` without one."""
        return _most_trusted(self.measurements)

    def evidence_from(self, library: str) -> Measurement | None:
        """Return what speaks for it in runs that began from a library: gains on simple operators say little
        of what is left to gain on the whole library."""
        return _most_trusted([m for m in self.measurements if m.library == library])


def _most_trusted(measurements: Sequence[Measurement]) -> Measurement | None:
    for how in TRUST:
        found = [m for m in measurements if m.how == how]
        if found:
            return max(found, key=lambda m: (m.least, m.run))
    return None


Bank = tuple[Entry, ...]


def entry_line(entry: Entry) -> str:
    """Return an entry as its line, without the end of the line."""
    return json.dumps(entry.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))


def bank_text(entries: Iterable[Entry]) -> str:
    """Return a bank as the text of its file."""
    lines = [entry_line(entry) for entry in sorted(entries, key=lambda entry: entry.key)]
    return "\n".join([HEADER, *lines]) + "\n"


def read_bank(name: str) -> Bank:
    """Return the bank called ``shipped``, or that of a file.

    Raises
    ------
    BankError
        It cannot be read, or a line of it is not what `bank_text` writes; nothing of it is used then.
    """
    if name == SHIPPED:
        return parse_bank((files("dga2d.runtime.bank") / "shipped.jsonl").read_bytes(), name)
    path = Path(name).expanduser()
    try:
        if not path.is_file():
            reason = (
                "is not a file" if path.exists() else "there is no such file; `dga2d bank add RUN` writes one"
            )
            raise BankError(path, "opening", reason)
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BankError(path, "opening", error.strerror or str(error)) from error
    return parse_bank(data, path)


def parse_bank(data: bytes, name: Path | str) -> Bank:
    """Return the bank of a file's content. Raises BankError as `read_bank`; `name` is for messages."""
    if len(data) > MOST_BYTES:
        raise BankError(name, "the whole", f"is longer than {MOST_BYTES} bytes")
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BankError(name, f"byte {error.start}", "is not UTF-8 text") from error
    if lines[0] != HEADER:
        raise BankError(name, "line 1", f"expected {HEADER}")
    if lines.pop() or not lines:
        raise BankError(name, f"line {len(lines) + 1}", "is cut off")
    entries = [_entry(name, number, line) for number, line in enumerate(lines[1:], start=2)]
    for number, (before, after) in enumerate(pairwise(entries), start=3):
        if before.key >= after.key:
            raise BankError(name, f"line {number}", "is a second time there, or out of order")
    return tuple(entries)


def _entry(name: Path | str, number: int, line: str) -> Entry:
    place = f"line {number}"
    if len(line) > MOST_LINE_CHARS:
        raise BankError(name, place, "is too long")
    try:
        entry = Entry.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise BankError(name, place, f"{where}: {first['msg']}") from error
    if entry_line(entry) != line:
        raise BankError(name, place, "is not written in the canonical form")
    for text in (entry.source.replace("\n", "").replace("\t", ""), entry.idea, entry.licence):
        if hidden := next((c for c in text if unicodedata.category(c) in _HIDDEN), None):
            raise BankError(name, place, f"holds the invisible character U+{ord(hidden):04X}")
    if blob_digest(entry.source.encode()) != entry.digest:
        raise BankError(name, place, "the source text has another digest")
    if entry.source.strip("\n") + "\n" != entry.source:
        raise BankError(name, place, "the source text does not end in one line end")
    return entry


def write_bank(path: Path, entries: Iterable[Entry]) -> None:
    """Write a bank; the file appears when it is complete.

    Raises
    ------
    OutputFileError
        It cannot be written.
    """
    check_writable(path)
    write_file(path, bank_text(entries))


def merge(old: Iterable[Entry], new: Iterable[Entry]) -> Bank:
    """Return both: what is in both keeps its first origin, and has the measurements of both."""
    found = {entry.key: entry for entry in old}
    for entry in new:
        before = found.get(entry.key)
        if before is None:
            found[entry.key] = entry
            continue
        measured: dict[tuple[Any, ...], Measurement] = {
            (m.run, m.how): m for m in (*before.measurements, *entry.measurements)
        }
        rows = tuple(measured[key] for key in sorted(measured))
        found[entry.key] = before.model_copy(update={"measurements": rows})
    return tuple(found[key] for key in sorted(found))
