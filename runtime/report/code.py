"""Code as code: highlighted, differences side by side, and which edit brought each line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from dga2d.runtime.report.lineage import BlobReader, ReportedEdit
from dga2d.runtime.terminal.output import shown_lines

TEXTS_KEPT = 256
"""Highlighted texts in memory: through time the same code is shown again and again."""


class Origin(NamedTuple):
    """The edit that brought a line."""

    seq: int
    generation: int
    call: int | None
    text: str


class CodeLine(NamedTuple):
    """A line of code; `origin` is ``None`` for what came with the library."""

    number: int
    code: Markup
    origin: Origin | None


class DiffRow(NamedTuple):
    """Two lines that stand beside each other; a number is ``None`` where there is no line on that side."""

    kind: str
    """``same``, ``changed`` or ``gap``, which stands for lines left out."""
    left_number: int | None
    left: Markup
    right_number: int | None
    right: Markup


@lru_cache(maxsize=TEXTS_KEPT)
def highlight_lines(text: str) -> tuple[Markup, ...]:
    """Return the lines of Python code as HTML: escaped, with classes of Pygments, hidden characters shown."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    shown = shown_lines(text)
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    lines = highlight(shown, lexer, HtmlFormatter(nowrap=True)).split("\n")
    return tuple(Markup(line) for line in lines[: shown.count("\n") + 1])  # it ends the last line, too


def side_by_side(diff: str) -> list[DiffRow]:
    """Return a unified diff as rows of two columns."""
    lines = diff.splitlines()[2:]
    rows: list[DiffRow] = []
    numbers = [0, 0]
    sides: tuple[list[Markup], list[Markup]] = ([], [])

    def flush() -> None:
        for index in range(max(map(len, sides))):
            cells: list[tuple[int | None, Markup]] = [(None, Markup("")), (None, Markup(""))]
            for side, found in enumerate(sides):
                if index < len(found):
                    cells[side] = (numbers[side], found[index])
                    numbers[side] += 1
            rows.append(DiffRow("changed", *cells[0], *cells[1]))
        for found in sides:
            found.clear()

    for line, (old, new) in zip(lines, _highlighted_sides(lines), strict=True):
        if hunk := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line):
            flush()
            numbers = [int(hunk[1]), int(hunk[2])]
            rows.append(DiffRow("gap", None, Markup(""), None, Markup("")))
        elif line[:1] in ("-", "+"):
            sides[line[0] == "+"].append(new if line[0] == "+" else old)
        else:
            flush()
            rows.append(DiffRow("same", numbers[0], old, numbers[1], new))
            numbers = [numbers[0] + 1, numbers[1] + 1]
    flush()
    return rows


def _highlighted_sides(lines: Sequence[str]) -> list[tuple[Markup, Markup]]:
    """Return each line of a diff as part of the old and of the new text, empty where it is in neither.

    The texts are told apart, so that what opens a docstring in one does not close it in the other, and so are
    hunks, between which lines are missing.
    """
    begins = [place for place, line in enumerate(lines) if line.startswith("@@")]
    found = [(Markup(""), Markup(""))] * len(lines)
    for first, last in pairwise([*begins, len(lines)]):
        for side, other in enumerate("+-"):
            places = [i for i in range(first + 1, last) if lines[i][:1] != other]
            for i, shown in zip(
                places, highlight_lines("\n".join(lines[i][1:] for i in places)), strict=False
            ):
                old, new = found[i]
                found[i] = (old, shown) if side else (shown, new)
    return found


async def trace_lines(
    store: BlobReader,
    sources: dict[str, str],
    name: str,
    edits: Sequence[ReportedEdit],
    configured: Mapping[str, str] | None = None,
) -> list[CodeLine]:
    """Return the code of an implementation, each line with the edit that brought it.

    A line is traced through the parents of `edits`, from the library on: it belongs to the first
    implementation of that chain that has it. `sources` are digests of the texts by implementation;
    `configured` says of which implementation one is a configuration.
    """
    made = {edit.implementation: edit for edit in edits if edit.code}
    parents = dict(configured or {}) | {one: edit.parent for one, edit in made.items()}
    chain = [name]
    while (parent := parents.get(chain[-1])) and parent not in chain:
        chain.append(parent)
    lines: list[str] = []
    origins: list[Origin | None] = []
    for one in reversed(chain):
        text = (await store.get_blob(sources[one])).decode().split("\n")  # type: ignore[arg-type]
        edit = made.get(one)
        own = None if edit is None else Origin(edit.seq, edit.generation, edit.call, edit.what)
        kept: list[Origin | None] = [own] * len(text)
        for block in difflib.SequenceMatcher(None, lines, text, autojunk=False).get_matching_blocks():
            kept[block.b : block.b + block.size] = origins[block.a : block.a + block.size]
        lines, origins = text, kept
    shown = highlight_lines("\n".join(lines))
    return [
        CodeLine(i, code, origin) for i, (code, origin) in enumerate(zip(shown, origins, strict=False), 1)
    ]
