"""Puts a candidate's text into a function of its own, so that several can stand in one file."""

from __future__ import annotations

import ast
import io
import tokenize

INDENT = "    "


def as_function(name: str, source: str) -> str:
    """``def name():`` around `source`, returning its ``run``; text inside strings is not indented.

    Imports stay inside: every implementation brings its own.
    """
    fixed = _continued_strings(source)
    body = [
        line if number in fixed or not line.strip() else INDENT + line
        for number, line in enumerate(source.rstrip().splitlines(), start=1)
    ]
    return "\n".join([f"def {name}():", *_docstring_first(body), "", f"{INDENT}return run"])


def _continued_strings(source: str) -> set[int]:
    """Numbers of the lines that begin inside a string, where an indent would change its value.

    A module's docstring is text for people only and is indented like the code around it.
    """
    doc = ast.parse(source).body[:1]
    is_doc = bool(doc) and isinstance(doc[0], ast.Expr) and isinstance(doc[0].value, ast.Constant)
    doc_end = (doc[0].end_lineno or 0) if is_doc else 0
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING or token.type in _FSTRING_PARTS:
            lines.update(range(token.start[0] + 1, token.end[0] + 1))
    return {line for line in lines if line > doc_end}


_FSTRING_PARTS = {
    getattr(tokenize, name)
    for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if hasattr(tokenize, name)
}


def _docstring_first(body: list[str]) -> list[str]:
    return [line for index, line in enumerate(body) if line.strip() or index]
