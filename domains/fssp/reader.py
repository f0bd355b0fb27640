"""Reader of flow-shop instances: the "standard" job-shop format in which every job visits 0, 1, …, m − 1.

Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job of
``machine time`` pairs, machines counted from 0 and in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.fssp.card import INVALID_SCORE

UNUSUAL_BLANKS = frozenset(chr(code) for code in range(0x3001) if chr(code).isspace()) - {" ", "\t"}
"""Characters at which Python would split a line of numbers, though the format knows only space and tab."""


@dataclass(frozen=True)
class FlowShopData:
    """Processing times: a read-only int32 `(jobs, machines)` array."""

    times: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.times.setflags(write=False)


def read_instance(path: Path) -> FlowShopData:
    """Read one file of the format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is
        truncated, lets a job visit the machines in another order, has a negative time or goes on after the
        last job.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as text: {error}") from error
    return parse_instance(text, path)


def parse_instance(text: str, path: Path | str) -> FlowShopData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    lines = list(_data_lines(text, path))
    if not lines:
        raise InstanceFormatError(path, None, "no data line")
    n_jobs, n_machines = _header(path, *lines[0])
    if len(lines) - 1 < n_jobs:
        raise InstanceFormatError(path, lines[-1][0], f"expected {n_jobs} job lines, found {len(lines) - 1}")
    if len(lines) - 1 > n_jobs:
        raise InstanceFormatError(path, lines[n_jobs + 1][0], f"data after the last of {n_jobs} jobs")
    times = np.array([_job(path, line, values, n_machines) for line, values in lines[1:]], dtype=np.int64)
    if int(times.sum()) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return FlowShopData(times.astype(np.int32))


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
    """Times of a job by machine."""
    if len(values) != 2 * n_machines:
        raise InstanceFormatError(path, line, f"expected {2 * n_machines} numbers, got {len(values)}")
    for place, (machine, time) in enumerate(zip(values[::2], values[1::2], strict=True)):
        if machine != place:
            raise InstanceFormatError(
                path, line, f"expected machine {place}, got {machine}: all jobs visit the machines in order"
            )
        if time < 0:
            raise InstanceFormatError(path, line, f"negative time {time}")
    return values[1::2]
