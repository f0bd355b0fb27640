"""Strict reading of text files whose data lines hold integers separated by spaces or tabs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dga2d.domains.core.errors import InstanceFormatError

UNUSUAL_BLANKS = frozenset(chr(code) for code in range(0x3001) if chr(code).isspace()) - {" ", "\t"}
"""Characters at which Python would split a line of numbers, though the formats know only space and tab."""


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    InstanceFormatError
        The file is missing or is not text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as text: {error}") from error


def json_object(text: str, path: Path | str, *keys: str) -> dict[str, Any]:
    """Return the object that a JSON text holds, which has these two or more keys and no others.

    Raises
    ------
    InstanceFormatError
        It is something else; `path` names the file.
    """
    try:
        table: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as JSON: {error}") from error
    if not isinstance(table, dict) or set(table) != set(keys):
        names = " and ".join(f"'{key}'" for key in keys)
        raise InstanceFormatError(path, None, f"expected an object with the keys {names}")
    return table


def integer_lines(text: str, path: Path | str) -> Iterator[tuple[int, list[int]]]:
    """Yield line number (from 1) and integers of each line that is neither blank nor a ``#`` comment.

    Raises
    ------
    InstanceFormatError
        Something else than an integer, or blanks of another kind; `path` names the file.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if set(line.rstrip("\r")) & UNUSUAL_BLANKS:
            raise InstanceFormatError(
                path, number, "numbers are separated by other blanks than space and tab"
            )
        yield number, [integer(path, number, token) for token in line.split()]


def integer(path: Path | str, line: int, token: str) -> int:
    """Return the integer a token stands for; at most 12 digits, an InstanceFormatError otherwise."""
    digits = token[1:] if token.startswith("-") else token
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
        raise InstanceFormatError(path, line, f"expected an integer, got {token[:40]!r}")
    return int(token)
