"""Code is highlighted and inert, differences stand side by side, and every line knows its edit."""

from __future__ import annotations

import difflib

import pytest

from dga2d.events import BlobDigest
from dga2d.runtime.report.code import highlight_lines, side_by_side, trace_lines
from dga2d.runtime.report.lineage import ReportedEdit


def test_highlighted_code_is_escaped_and_hides_nothing() -> None:
    (line,) = highlight_lines("x = '<script>alert(1)</script>' # \u202e")
    assert "<script" not in line
    assert "&lt;script&gt;" in line
    assert "\\u202e" in line
    assert 'class="c1"' in line
    assert len(highlight_lines("a\n\nb\n")) == 4


def test_changed_lines_stand_beside_each_other() -> None:
    before, after = ["a", "b", "c", "d"], ["a", "B", "B2", "c", "d"]
    rows = side_by_side("\n".join(difflib.unified_diff(before, after, "x", "new", lineterm="", n=1)))
    assert [(row.kind, row.left_number, row.right_number) for row in rows] == [
        ("gap", None, None),
        ("same", 1, 1),
        ("changed", 2, 2),
        ("changed", None, 3),
        ("same", 3, 4),
    ]


def test_a_docstring_of_one_side_does_not_reach_into_the_other() -> None:
    before = ['"""Old and', "rest.", '"""', "x = 1"]
    after = ['"""New and', "rest or more.", '"""', "x = 2"]
    rows = side_by_side("\n".join(difflib.unified_diff(before, after, "x", "new", lineterm="")))
    told = [(row.left, row.right) for row in rows[1:]]
    assert all('class="sd"' in cell for pair in told[:3] for cell in pair)
    assert all('class="mi"' in cell for cell in told[3])


class Texts:
    """Texts by digest."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    async def get_blob(self, digest: BlobDigest) -> bytes:
        return self.texts[digest].encode()


@pytest.mark.asyncio
async def test_each_line_is_traced_to_the_edit_that_brought_it() -> None:
    store = Texts(old="a\nb\nc", mid="a\nX\nc", new="a\nX\nc\nY")
    sources = {f"climb.{name}": name for name in store.texts}
    edits = [
        ReportedEdit(7, 1, "mid", 3, "climb", "climb.mid", "", "climb.old", "diff"),
        ReportedEdit(9, 2, "new", 5, "climb", "climb.new", "", "climb.mid", "diff"),
    ]
    lines = await trace_lines(store, sources, "climb.new", edits)
    assert [line.origin and (line.origin.seq, line.origin.call) for line in lines] == [
        None,
        (7, 3),
        None,
        (9, 5),
    ]
    assert [line.origin for line in await trace_lines(store, sources, "climb.old", edits)] == [None] * 3


@pytest.mark.asyncio
async def test_a_configuration_keeps_the_edits_of_the_code_that_it_configures() -> None:
    store = Texts(old="RATE = 1\nb", new="RATE = 1\nX", tuned="RATE = 7\nX")
    sources = {f"climb.{name}": name for name in store.texts}
    edits = [ReportedEdit(7, 1, "new", 3, "climb", "climb.new", "", "climb.old", "diff")]
    lines = await trace_lines(store, sources, "climb.tuned", edits, {"climb.tuned": "climb.new"})
    assert [line.origin and line.origin.seq for line in lines] == [None, 7]
