"""Splits a source text into the statements of its top level, without running it.

Bundling a library, exchanging blocks and merging implementations all take texts apart by this.
"""

from __future__ import annotations

import ast
import symtable
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Statement:
    """A statement of a module's top level."""

    node: ast.stmt
    above: tuple[str, ...]
    """Lines between the statement before and this one: blank lines and comments."""
    first: int
    """Line of the first decorator, or of the statement itself, from 1."""
    last: int
    text: str
    """Lines `first` to `last`, without a line end."""

    @property
    def is_import(self) -> bool:
        """Whether the statement imports something."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_constant_expression(self) -> bool:
        """Whether the statement is a docstring or another literal that binds nothing."""
        return isinstance(self.node, ast.Expr) and isinstance(self.node.value, ast.Constant)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the statement binds, in the order of the text."""
        return tuple(dict.fromkeys(_bound(self.node)))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names that the statement uses and does not bind in a scope of its own, builtins among them."""
        if self.is_import:
            return frozenset()
        return _global_names(symtable.symtable(self.text, "", "exec"))

    @cached_property
    def meaning(self) -> str:
        """A text that is equal for statements that differ in layout and comments only."""
        return ast.dump(self.node)


_PARSING = threading.RLock()


def parse_quietly(source: str) -> ast.Module:
    """Return the syntax tree of a text, without warnings about odd escapes.

    One thread at a time: CPython 3.11 counts the depth of all trees in one place, and raises SystemError
    where another thread comes between.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        The text is not Python, or too deeply nested to be read.
    """
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes: DeprecationWarning, from 3.12 on SyntaxWarning
        return ast.parse(source)


def split_statements(source: str, tree: ast.Module) -> tuple[Statement, ...]:
    """Return the statements of a text's top level in order; `tree` is its syntax tree."""
    lines, found, end = source.split("\n"), [], 0
    for node in tree.body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        last = node.end_lineno or node.lineno
        text = "\n".join(lines[first - 1 : last])
        found.append(Statement(node, tuple(lines[end : first - 1]), first, last, text))
        end = last
    return tuple(found)


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    else:
        yield from _assigned_names(node)


def _assigned_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement assigns; those of comprehensions and lambdas are their own."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _assigned_names(child)


def _global_names(table: symtable.SymbolTable) -> frozenset[str]:
    """Return the names that a scope and those within it read from the module."""
    is_module = table.get_type() == "module"
    own = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_referenced() if is_module else symbol.is_global())
    }
    return frozenset(own).union(*map(_global_names, table.get_children()))
