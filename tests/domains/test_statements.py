"""A text split into the statements of its top level."""

from __future__ import annotations

import ast

import pytest

from dga2d.domains.core.statements import Statement, split_statements

SOURCE = '''"""Text."""
import os.path, numpy as np
from a import b as c, d

# a comment
LIMIT, RATE = 3, [k for k in range(2)]

# exchangeable: step
@njit(cache=True)
def step(x, y=LIMIT):
    def inner(z):
        return z + helper(x)
    return sum(inner(v) for v in y) + step(x, RATE)
if LIMIT:
    MODE = (lambda q: q)(RATE)
'''


def statements(source: str) -> tuple[Statement, ...]:
    return split_statements(source, ast.parse(source))


def test_statements_come_with_their_lines_and_what_stands_above() -> None:
    found = statements(SOURCE)
    assert [(s.first, s.last) for s in found] == [(1, 1), (2, 2), (3, 3), (6, 6), (9, 13), (14, 15)]
    assert [s.above for s in found] == [(), (), (), ("", "# a comment"), ("", "# exchangeable: step"), ()]
    assert found[4].text.startswith("@njit(cache=True)\ndef step(")
    lines = [line for s in found for line in (*s.above, *s.text.split("\n"))]
    assert "\n".join(lines) + "\n" == SOURCE


def test_names_are_what_the_module_gets() -> None:
    names = [s.names for s in statements(SOURCE)]
    assert names == [(), ("os", "np"), ("c", "d"), ("LIMIT", "RATE"), ("step",), ("MODE",)]


def test_reads_leave_out_what_a_scope_binds_itself() -> None:
    reads = [sorted(s.reads) for s in statements(SOURCE)]
    assert reads[3] == ["range"]
    assert reads[4] == ["LIMIT", "RATE", "helper", "njit", "step", "sum"]
    assert reads[5] == ["LIMIT", "RATE"]


def test_only_docstrings_and_imports_are_called_so() -> None:
    found = statements(SOURCE)
    assert [s.is_constant_expression for s in found] == [True, *[False] * 5]
    assert [s.is_import for s in found] == [False, True, True, False, False, False]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("A = 1", "A=1  # one", True),
        ("A = 1", "A = 2", False),
        ("def f(x):\n  return x", "def f(x): return x", True),
    ],
)
def test_meaning_knows_no_layout(one: str, other: str, is_same: bool) -> None:
    assert (statements(one)[0].meaning == statements(other)[0].meaning) is is_same
