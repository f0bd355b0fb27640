"""Reader of the "standard" job-shop format and of the table of best-known values.

Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job of
``machine time`` pairs in technological order, machines counted from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.contract import InstanceRef, Reference
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.jsp.card import INVALID_SCORE

UNUSUAL_BLANKS = frozenset(chr(code) for code in range(0x3001) if chr(code).isspace()) - {" ", "\t"}
"""Characters at which Python would split a line of numbers, though the format knows only space and tab."""
SUFFIXES = ("", ".txt", ".jsp")
"""Names an instance file may end in."""


@dataclass(frozen=True)
class JobShopData:
    """Machines and times of all operations: two read-only int32 `(jobs, machines)` arrays."""

    machines: NDArray[np.int32]
    times: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.machines.setflags(write=False)
        self.times.setflags(write=False)


def read_instance(path: Path) -> JobShopData:
    """Read one file of the standard format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is
        truncated, repeats a machine in a job, names a machine out of range, has a negative time or goes
        on after the last job.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as text: {error}") from error
    return parse_instance(text, path)


def parse_instance(text: str, path: Path | str) -> JobShopData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    lines = list(_data_lines(text, path))
    if not lines:
        raise InstanceFormatError(path, None, "no data line")
    n_jobs, n_machines = _header(path, *lines[0])
    if len(lines) - 1 < n_jobs:
        raise InstanceFormatError(path, lines[-1][0], f"expected {n_jobs} job lines, found {len(lines) - 1}")
    if len(lines) - 1 > n_jobs:
        raise InstanceFormatError(path, lines[n_jobs + 1][0], f"data after the last of {n_jobs} jobs")
    rows = [_job(path, line, values, n_machines) for line, values in lines[1:]]
    table = np.array(rows, dtype=np.int64).reshape(n_jobs, n_machines, 2)
    if int(table[:, :, 1].sum()) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return JobShopData(table[:, :, 0].astype(np.int32), table[:, :, 1].astype(np.int32))


def _data_lines(text: str, path: Path | str) -> Iterator[tuple[int, list[int]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if set(line.rstrip("\r")) & UNUSUAL_BLANKS:
            raise InstanceFormatError(
                path, number, "numbers are separated by other blanks than space and tab"
            )
        yield number, [_integer(path, number, token) for token in line.split()]


def _integer(path: Path | str, line: int, token: str) -> int:
    digits = token[1:] if token.startswith("-") else token
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
        raise InstanceFormatError(path, line, f"expected an integer, got {token[:40]!r}")
    return int(token)


def _header(path: Path | str, line: int, values: list[int]) -> tuple[int, int]:
    if len(values) != 2:
        raise InstanceFormatError(path, line, f"expected 'jobs machines', got {len(values)} numbers")
    if min(values) < 1:
        raise InstanceFormatError(path, line, "expected at least one job and one machine")
    return values[0], values[1]


def _job(path: Path | str, line: int, values: list[int], n_machines: int) -> list[int]:
    if len(values) != 2 * n_machines:
        raise InstanceFormatError(path, line, f"expected {2 * n_machines} numbers, got {len(values)}")
    seen: set[int] = set()
    for machine, time in zip(values[::2], values[1::2], strict=True):
        if not 0 <= machine < n_machines:
            raise InstanceFormatError(path, line, f"machine {machine} is not in 0..{n_machines - 1}")
        if machine in seen:
            raise InstanceFormatError(path, line, f"machine {machine} occurs twice in one job")
        if time < 0:
            raise InstanceFormatError(path, line, f"negative time {time}")
        seen.add(machine)
    return values


def list_instances(domain: str, folder: Path) -> tuple[InstanceRef, ...]:
    """Instances ``folder/<group>/<file>`` with the references of ``folder/bks.json``, sorted by key.

    No folder means no instances; a file without an entry in the table has no reference.

    Raises
    ------
    InstanceFormatError
        The folder has instances but its table is missing or malformed, or two files share group and stem.
    """
    files = sorted(path for path in folder.glob("*/*") if path.is_file() and _is_instance(path))
    if not files:
        return ()
    references = read_references(folder / "bks.json")
    refs = {}
    for path in files:
        key = f"{path.parent.name}/{path.stem}"
        if key in refs:
            raise InstanceFormatError(path, None, f"a second file of the instance {key}")
        refs[key] = InstanceRef(domain, path.parent.name, path.stem, path, references.get(key))
    return tuple(ref for _, ref in sorted(refs.items()))


def _is_instance(path: Path) -> bool:
    return path.suffix in SUFFIXES and not path.name.startswith(".")


def read_references(path: Path) -> dict[str, Reference]:
    """Read ``{"<group>/<stem>": {"best": number, "optimal": true|false|null, "source": text}}``.

    Raises
    ------
    InstanceFormatError
        The file is missing or not of that shape.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as JSON: {error}") from error
    if not isinstance(table, dict):
        raise InstanceFormatError(path, None, "expected an object of best-known values")
    return {key: reference_of(path, key, entry) for key, entry in table.items()}


def reference_of(path: Path | str, key: str, entry: Any) -> Reference:
    """The reference an entry of the table stands for; InstanceFormatError if it is malformed."""
    match entry:
        case {
            "best": int() | float() as best,
            "optimal": True | False | None as optimal,
            "source": str(source),
        } if not isinstance(best, bool) and 0 <= best < float("inf"):
            return Reference(float(best), "optimal" if optimal else "best_known", source)
    raise InstanceFormatError(path, None, f"malformed best-known value of {key!r}")
