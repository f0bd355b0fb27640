"""What is counted along the lineage of implementations."""

from __future__ import annotations

import difflib

from dga2d.runtime.report.lineage import ReportedEdit, restored_lines


def edit(seq: int, before: str, after: str, operator: str = "climb") -> ReportedEdit:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "a", "b", lineterm="", n=2)
    name = f"{operator}.{seq}"
    return ReportedEdit(seq, seq, "", seq, operator, name, "", f"{operator}.old", "\n".join(lines))


def test_lines_deleted_before_and_brought_back_are_counted() -> None:
    edits = [
        edit(1, "x = 1\ny = 2\nz = 3", "x = 1\nw = 4"),  # y and z go
        edit(2, "x = 1\nw = 4", "x = 1\n    y = 2\nv = 5"),  # y comes back
        edit(3, "x = 1", "x = 1\nz = 3\ny = 2", operator="kick"),  # another operator's
        edit(4, "x = 1", "x = 1\nz = 3\n\nw = 4"),
    ]
    assert restored_lines(edits) == {2: 1, 4: 2}
    assert restored_lines(edits[:1]) == {}
