"""A digest of what a piece of code does rather than of how it is written."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from dga2d.agents.proposing.errors import ProposalError, shown

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def parsed(source: str) -> ast.Module:
    """The syntax tree of a source text.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python, or too deeply nested to be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes: DeprecationWarning, from 3.12 on SyntaxWarning
            return ast.parse(source)
    except SyntaxError as error:
        raise ProposalError("syntax", f"line {error.lineno}: {shown(error.msg, 200)}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProposalError("syntax", f"the code cannot be parsed: {shown(str(error), 200)}") from None


@lru_cache(maxsize=1024)
def normalised_ast_digest(source: str) -> str:
    """SHA-256 (64 hex digits) of the code without layout, comments, docstrings and names of locals.

    Two texts with the same digest run alike. Locals keep their names where the module passes a keyword
    argument of that name, since there the name has a meaning.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    tree = parsed(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[:1] = []
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    try:
        _RenameLocals(frozenset(keywords)).visit(tree)
        return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    except RecursionError:
        raise ProposalError("syntax", "an expression of the code is nested too deeply") from None


class _RenameLocals(ast.NodeTransformer):
    """Numbers the locals of every function in order of appearance; class bodies keep their names."""

    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept
        self._names: Mapping[str, str] = {}
        self._count = 0

    def _visit_function(self, node: Any) -> Any:
        outer = self._names
        inner = dict(outer)
        for name in _bound_names(node):
            if name in self._kept:
                inner.pop(name, None)
            else:
                inner[name] = f"<{self._count}>"
                self._count += 1
        for outside in _outside_body(node):
            self.visit(outside)
        self._names = inner
        for argument in _arguments(node.args):
            argument.arg = inner.get(argument.arg, argument.arg)
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child)
        self._names = outer
        if getattr(node, "name", None) in outer:
            node.name = outer[node.name]
        return node

    visit_FunctionDef = _visit_function
    visit_AsyncFunctionDef = _visit_function
    visit_Lambda = _visit_function

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _arguments(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [*found, *(extra for extra in (args.vararg, args.kwarg) if extra)]


def _outside_body(node: _Function) -> Iterator[ast.AST]:
    """Decorators, defaults and annotations: evaluated where the function is defined."""
    yield from (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None))
    yield from (a.annotation for a in _arguments(node.args) if a.annotation)
    if not isinstance(node, ast.Lambda):
        yield from node.decorator_list
        if node.returns:
            yield node.returns


def _bound_names(node: _Function) -> tuple[str, ...]:
    """Arguments and assigned names of one function in order of appearance, nested scopes left out."""
    found = dict.fromkeys(argument.arg for argument in _arguments(node.args))
    shared: set[str] = set()
    waiting: list[ast.AST] = list(reversed(node.body)) if isinstance(node.body, list) else [node.body]
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.Global | ast.Nonlocal):
            shared.update(child.names)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            found.setdefault(child.name)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            found.setdefault(child.id)
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(reversed(list(ast.iter_child_nodes(child))))
    return tuple(name for name in found if name not in shared)
