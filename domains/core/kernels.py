"""Kernels: functions of a library that several of its implementations share and that take most of their time.

A library declares them in ``library.toml``, a table ``[[kernel]]`` each: the ``function``, a ``summary`` of
what it computes, and what of its ``arguments`` the tables ``arguments.toml`` do not say. Those that say
``evolves = false`` are offered for import alone: they are called too seldom to be compared. Their text is
taken from the bundled texts of the library, so that it is the one that implementations hold.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from dga2d.domains.core.contract import Domain
from dga2d.domains.core.errors import LibraryError
from dga2d.domains.core.statements import Statement, parse_quietly, split_statements


@dataclass(frozen=True)
class Kernel:
    """A function that implementations share."""

    id: str
    """The function's name."""
    summary: str
    """What it computes, in a sentence."""
    arguments: tuple[str, ...]
    """``NAME: type, shape and meaning``, in the order of the signature."""
    source: str
    """A module that holds it, with what it needs, and nothing else."""
    evolves: bool = True
    """Whether a faster one may be asked for: not where implementations call it once or twice in a run."""


def kernels_of(domain: Domain) -> tuple[Kernel, ...]:
    """Return the kernels that a domain's library declares, in its order; none where it has no such table.

    Raises
    ------
    LibraryError
        A declared function is in no implementation, or what an argument is is said nowhere.
    """
    package = type(domain).__module__.rpartition(".")[0]
    place = files(package) / "library.toml" if package else None
    if place is None or not place.is_file():
        return ()
    tables = tomllib.loads(place.read_text(encoding="utf-8")).get("kernel", [])
    if not tables:
        return ()
    texts = [text.source for operator in domain.operators() for text in operator.implementations]
    said = {**_table(files("dga2d.domains") / "shared"), **_table(files(package) / "library")}
    return tuple(_kernel(domain.name, table, texts, said) for table in tables)


def _table(folder: Traversable) -> dict[str, str]:
    file = folder / "arguments.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _kernel(domain: str, table: Mapping[str, object], texts: list[str], said: Mapping[str, str]) -> Kernel:
    name, own = str(table["function"]), table.get("arguments", {})
    assert isinstance(own, dict)
    source = next((found for text in texts if (found := excerpt(text, name)) is not None), None)
    if source is None:
        raise LibraryError(f"the kernel {name} of {domain} is in none of its implementations")
    lines = []
    for argument in parameters(source, name):
        meaning = own.get(argument) or said.get(f"{name}.{argument}") or said.get(argument)
        if meaning is None:
            raise LibraryError(f"the kernel {name} of {domain}: what {argument} is is said nowhere")
        lines.append(f"{argument}: {meaning}")
    return Kernel(name, str(table["summary"]), tuple(lines), source, bool(table.get("evolves", True)))


def parameters(source: str, name: str) -> tuple[str, ...]:
    """Return the names of the parameters of a module's function, which must exist."""
    return tuple(argument.arg for argument in function_of(source, name).args.args)


def function_of(source: str, name: str) -> ast.FunctionDef:
    """Return the syntax tree of a module's function. Raises KeyError where there is none."""
    for node in parse_quietly(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise KeyError(name)


def excerpt(source: str, name: str) -> str | None:
    """Return a module that holds the function `name` of `source` with all that it needs; ``None`` where
    `source` has no such function."""
    found = find_needed(split_statements(source, parse_quietly(source)), name)
    if not found:
        return None
    heads = [statement.text for statement in found if statement.is_import]
    constants = [s.text for s in found if isinstance(s.node, ast.Assign | ast.AnnAssign)]
    functions = [s.text for s in found if isinstance(s.node, ast.FunctionDef | ast.ClassDef)]
    parts = ["\n".join(heads), "\n".join(constants)]
    return "\n\n\n".join([*("\n\n".join(filter(None, parts)),), *functions]).lstrip("\n") + "\n"


def find_needed(statements: tuple[Statement, ...], name: str) -> tuple[Statement, ...]:
    """Return the statements that the function `name` consists of: its own and, in their order, all that they
    use; empty where there is none."""
    by_name = {bound: statement for statement in statements for bound in statement.names}
    first = by_name.get(name)
    if first is None or not isinstance(first.node, ast.FunctionDef):
        return ()
    waiting, found = [name], set[int]()
    while waiting:
        statement = by_name.get(waiting.pop())
        if statement is not None and statement.first not in found:
            found.add(statement.first)
            waiting.extend(statement.reads)
    return tuple(statement for statement in statements if statement.first in found)
