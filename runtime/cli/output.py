"""Results to stdout, progress to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click


def print_json(value: Any) -> None:
    """One JSON document, indented, keys in their given order."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A plain table; columns of numbers are aligned to the right."""
    text = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(head), *(len(row[i]) for row in text)]) for i, head in enumerate(header)]
    right = [bool(text) and all(_is_number(row[i]) for row in text) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(aligned).rstrip()

    click.echo(line(header))
    for row in text:
        click.echo(line(row))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdigit()


def gap_text(gap_percent: float | None) -> str:
    """A gap for people."""
    return "failed" if gap_percent is None else f"{gap_percent:.2f} %"
