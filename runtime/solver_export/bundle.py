"""Texts that can stand in one file: definitions of the program's own modules, and implementations.

A standalone solver must compute what the program computes, so it carries the same text: functions, classes
and constants are cut out of their modules with comments and decorators, dependencies before their users.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from dga2d.events import Dga2dError

OWN: Final = "dga2d."
Place = tuple[str, str]
"""Module and name of a definition."""


class BundleError(Dga2dError):
    """Definitions that cannot stand in one file: a fault of the program or of a plug-in, not of the user."""


@dataclass(frozen=True)
class _Module:
    lines: list[str]
    definitions: dict[str, list[ast.stmt]]
    """Top-level name → its statements, a docstring below a constant included."""
    own_imports: dict[str, Place]
    outer_imports: dict[str, str]
    """Name → import statement of a package that is not ours."""


@dataclass
class Bundle:
    """Text of all definitions needed, and the imports they rest on."""

    imports: set[str] = field(default_factory=set)
    definitions: list[str] = field(default_factory=list)
    _owners: dict[str, Place] = field(default_factory=dict)
    _modules: dict[str, _Module] = field(default_factory=dict)

    def add(self, module: str, name: str) -> None:
        """Add a definition with everything it refers to.

        Raises
        ------
        BundleError
            There is no such definition, or another of that name is in the bundle already.
        """
        found = self._module(module)
        if name in found.outer_imports:
            self.imports.add(found.outer_imports[name])
            return
        if name in found.own_imports:
            self._add_imported(name, *found.own_imports[name])
            return
        if name not in found.definitions:
            raise BundleError(f"{module} defines no {name}")
        if name in self._owners:
            if self._owners[name] != (module, name):
                raise BundleError(f"{name} is defined by {module} and by {self._owners[name][0]}")
            return
        self._owners[name] = (module, name)
        statements = found.definitions[name]
        for used in _names(statements):
            if used in found.definitions or used in found.own_imports or used in found.outer_imports:
                self.add(module, used)
        self.definitions.append(_text(found.lines, statements))

    def _add_imported(self, alias: str, module: str, name: str) -> None:
        if alias != name:
            raise BundleError(f"{module}.{name} is imported as {alias}; a bundle knows no aliases")
        self.add(module, name)

    def _module(self, name: str) -> _Module:
        if name not in self._modules:
            self._modules[name] = _read(name)
        return self._modules[name]


def bundle(entries: Iterable[Place]) -> Bundle:
    """Return all that `entries` need, in an order in which it can be executed."""
    collected = Bundle()
    for module, name in entries:
        collected.add(module, name)
    return collected


def _read(name: str) -> _Module:
    try:
        loaded = importlib.import_module(name)
    except ImportError as error:
        raise BundleError(f"{name} cannot be imported: {error}") from error
    source = inspect.getsource(loaded)
    package = getattr(loaded, "__package__", None) or ""
    module = _Module(source.splitlines(), {}, {}, {})
    last: list[ast.stmt] = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _note_import(module, statement, package)
            last = []
        elif isinstance(statement, ast.Expr) and last:  # the docstring of a constant
            last.append(statement)
        else:
            last = [statement]
            module.definitions.update(dict.fromkeys(_defined_names(statement), last))
    return module


def _note_import(module: _Module, statement: ast.Import | ast.ImportFrom, package: str) -> None:
    """Note the names of an import statement; `package` is that of the importing module."""
    if isinstance(statement, ast.ImportFrom):
        source = "." * statement.level + (statement.module or "")
        source = importlib.util.resolve_name(source, package)
        for alias in statement.names:
            name = alias.asname or alias.name
            if f"{source}.".startswith((OWN, f"{package.partition('.')[0]}.")):
                module.own_imports[name] = (source, alias.name)
            elif source != "__future__":
                written = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
                module.outer_imports[name] = f"from {source} import {written}"
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            written = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
            module.outer_imports[alias.asname or alias.name.partition(".")[0]] = f"import {written}"


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (
            node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)
        )
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def _names(statements: list[ast.stmt]) -> list[str]:
    """Return the names that are read anywhere in `statements`, in order of appearance."""
    found = {
        node.id: None
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return list(found)


def _text(lines: list[str], statements: list[ast.stmt]) -> str:
    first = statements[0]
    decorators = getattr(first, "decorator_list", [])
    start = min([first.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    end = statements[-1].end_lineno
    return "\n".join(lines[start:end])


INDENT = "    "


def as_function(name: str, source: str) -> str:
    """Wrap `source` into ``def name():``, which returns its ``run``; text inside strings is not indented.

    Imports stay inside: every implementation brings its own.
    """
    fixed = _continued_strings(source)
    body = [
        line if number in fixed or not line.strip() else INDENT + line
        for number, line in enumerate(source.rstrip().splitlines(), start=1)
    ]
    return "\n".join([f"def {name}():", *_docstring_first(body), "", f"{INDENT}return run"])


def _continued_strings(source: str) -> set[int]:
    """Return the numbers of the lines that begin inside a string, where an indent would change its value.

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
