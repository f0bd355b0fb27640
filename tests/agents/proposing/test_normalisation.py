from __future__ import annotations

import pytest

from dga2d.agents.proposing.answers import normalised_ast_digest
from dga2d.agents.proposing.errors import ProposalError

BASE = """
import numpy as np
LIMIT = 3

def helper(a, b=2):
    c = a + b
    return [c * x for x in range(LIMIT)]

def run(env_data, state, calc_makespan_fn):
    total = 0
    for value in helper(1):
        total += value
    def inner(z):
        held = total
        return z + held
    return inner(total)
"""
SAME = {
    "comments and layout": BASE.replace("total = 0", "total = (0)  # start").replace("\n\n", "\n\n\n"),
    "docstrings": '"""Module."""' + BASE.replace("    c = a", '    """Adds."""\n    c = a'),
    "local names": BASE.replace("value", "item")
    .replace("total", "acc")
    .replace("c = a", "q = a")
    .replace("[c *", "[q *"),
    "argument names": BASE.replace("helper(a,", "helper(first,").replace("c = a ", "c = first "),
    "comprehension names": BASE.replace("* x for x", "* y for y"),
    "number format": BASE.replace("LIMIT = 3", "LIMIT = 0x3"),
}
OTHER = {
    "constant": BASE.replace("LIMIT = 3", "LIMIT = 4"),
    "default": BASE.replace("b=2", "b=3"),
    "operator": BASE.replace("a + b", "a - b"),
    "swapped names": BASE.replace("a + b", "b + a"),
    "other global": BASE.replace("range(LIMIT)", "range(OTHER)"),
    "global name": BASE.replace("LIMIT", "BOUND"),
    "decorator": BASE.replace("def helper", "@cache\ndef helper"),
    "order of statements": BASE.replace("    total = 0\n", "").replace(
        "    def inner", "    total = 0\n    def inner"
    ),
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_code_that_differs_in_writing_only_has_the_same_digest(source: str) -> None:
    assert source != BASE
    assert normalised_ast_digest(source) == normalised_ast_digest(BASE)


@pytest.mark.parametrize("source", OTHER.values(), ids=OTHER)
def test_code_that_does_something_else_has_another_digest(source: str) -> None:
    assert source != BASE
    assert normalised_ast_digest(source) != normalised_ast_digest(BASE)


def test_names_used_as_keywords_keep_their_meaning() -> None:
    one = "def f(x, y):\n    return x - y\nf(x=1, y=2)\n"
    other = "def f(y, x):\n    return y - x\nf(x=1, y=2)\n"
    assert normalised_ast_digest(one) != normalised_ast_digest(other)


@pytest.mark.parametrize(
    "source",
    ["def run(:", "x = 'unclosed", "x = " + "(" * 500, "x = " + "-" * 50_000 + "1", "x = 1" + "+1" * 50_000],
    ids=["broken", "unclosed", "brackets", "signs", "sum"],
)
def test_code_that_cannot_be_read_is_refused(source: str) -> None:
    with pytest.raises(ProposalError) as refusal:
        normalised_ast_digest(source)
    assert refusal.value.stage == "syntax"


def test_odd_escapes_in_foreign_code_do_not_warn() -> None:
    assert normalised_ast_digest("x = '\\d'\n") == normalised_ast_digest("x = '\\\\d'\n")
