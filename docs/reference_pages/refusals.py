"""What the fold refuses, read from its source: the reasons in `require`, `refuse` and `InvariantError`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dga2d.replay.state import (
    fold_comparisons,
    fold_credits,
    fold_edits,
    fold_evaluations,
    fold_generation,
    fold_kernels,
    fold_methods,
    fold_operators,
    fold_run,
    graph,
    handler,
)
from dga2d.replay.state.handler import RULES

REASONS_AT = {"require": (2,), "refuse": (1,), "InvariantError": (2,), "_Evaluated": (4, 5)}
"""What refuses an event, or is told how → which of its arguments are the reasons."""

OTHER = {"DigestMismatchError": "the digest is not that of the state"}
"""Errors that need no reason."""


def refusals(event_type: str) -> list[str]:
    """Reasons for which an event of that type is refused, in the order of the checks; ``…`` is a value."""
    return list(dict.fromkeys(_reasons(RULES[event_type].handler.__name__)))


def _reasons(name: str) -> Iterator[str]:
    definition = _definitions().get(name)
    if definition is None:
        return
    nodes = [node for node in ast.walk(definition) if isinstance(node, ast.Call | ast.Return)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Return):
            if name.endswith("violation"):  # they return their reason
                yield from _text(node.value)
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in REASONS_AT:
            for index in REASONS_AT[called]:
                yield from _text(node.args[index])
        elif called in OTHER:
            yield OTHER[called]
        elif called != name:
            yield from _reasons(called)


MODULES = (
    *(
        fold_run,
        fold_generation,
        fold_evaluations,
        fold_credits,
        fold_edits,
        fold_kernels,
        fold_operators,
        fold_methods,
        fold_comparisons,
    ),
    *(handler, graph),
)
"""Where refusals stand."""


@cache
def _definitions() -> dict[str, ast.FunctionDef]:
    found = {}
    for module in MODULES:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        found.update({node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)})
    return {name: node for name, node in found.items() if name not in REASONS_AT}


def _text(node: ast.expr | None) -> Iterator[str]:
    """The words of a literal, ``…`` for what is put into it; nothing for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.sub(r"\{\w+\}", "…", node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
