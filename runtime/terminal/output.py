"""Results on stdout and in files, with text from outside made harmless."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dga2d.runtime.errors import OutputFileError

Announce = Callable[[str], None]
"""Shows a line of progress."""


def print_json(value: Any) -> None:
    """Print one JSON document, indented, with the keys in their given order."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print `csv_text` of rows."""
    click.echo(csv_text(rows), nl=False)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the same keys as CSV (RFC 4180); a missing value is an empty cell."""
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a plain table; columns of numbers are aligned to the right.

    On a terminal lines end at its width (or ``COLUMNS``); elsewhere they are whole.
    """
    text = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(head), *(len(row[i]) for row in text)]) for i, head in enumerate(header)]
    right = [bool(text) and all(_is_number(row[i]) for row in text) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        text = "  ".join(aligned).rstrip()
        return text if len(text) <= room else f"{text[: room - 1]}…"

    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    click.echo(line(header))
    for row in text:
        click.echo(line(row))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdigit()


def status_line() -> Announce:
    """Return a function that shows a text in place on stderr if that is a terminal; ``""`` clears it."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: click.echo(f"\r\x1b[K{text}\r", nl=False, err=True)


def check_writable(path: Path) -> None:
    """Raise :class:`OutputFileError` where `path` could not be written, before any work is done."""
    folder = path.parent
    if path.is_dir():
        raise OutputFileError(path, "it is a directory")
    if not folder.is_dir():
        raise OutputFileError(path, f"there is no directory {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise OutputFileError(path, "permission denied")


def write_file(path: Path, text: str) -> None:
    """Write a whole file, or nothing.

    Raises
    ------
    OutputFileError
        The system refused.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OutputFileError(path, error.strerror or str(error)) from error


def printable(text: str) -> str:
    """Return `text` on one line, what is not printable as Python escapes (``\\x1b``, ``\\u202e``).

    Control characters, escape sequences, line ends, and marks that reverse the direction of writing are not
    printable (Unicode categories "Other" and "Separator", but for the space).
    """
    return _escape(text, "")


def shown_lines(text: str) -> str:
    """Return the same for text of several lines: line feeds and tabs stay."""
    return _escape(text, "\n\t")


def _escape(text: str, kept: str) -> str:
    rest = text
    for character in kept:
        rest = rest.replace(character, "")
    if rest.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii") for c in text
    )
