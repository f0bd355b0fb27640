"""Components: a function of one text within a fixed skeleton, for methods that evolve only the function.

A component is a whole program: a docstring, imports, constants and functions, among them the one that is
evolved; then `MARK`, and the skeleton, which ends in ``run``. The text above the mark is exchanged.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.resources import files

from dga2d.domains.core.contract import Domain
from dga2d.domains.core.statements import parse_quietly

MARK = "# ---- Skeleton: everything below stays as it is. ----"


@dataclass(frozen=True)
class Component:
    """A function to be evolved, with the simple rule that it begins as and the skeleton around it."""

    name: str
    """Of the function and of its file."""
    source: str
    """The whole program."""


def components_of(domain: Domain) -> tuple[Component, ...]:
    """Return the components that a domain offers, by name: the files ``library/components/NAME.py`` of its
    package;
    none where it has no such folder."""
    package = type(domain).__module__.rpartition(".")[0]
    folder = files(package) / "library" / "components" if package else None
    if folder is None or not folder.is_dir():
        return ()
    found = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".py")}
    return tuple(
        Component(name.removesuffix(".py"), found[name].read_text(encoding="utf-8")) for name in sorted(found)
    )


def split_component(source: str) -> tuple[str, str]:
    """Return the exchangeable text and the skeleton; a text without a mark is exchangeable as a whole."""
    head, mark, skeleton = source.partition(f"{MARK}\n")
    return (f"{head.rstrip()}\n", f"{mark}{skeleton}") if mark else (source, "")


def join_component(head: str, skeleton: str) -> str:
    """Return the program of an exchangeable text and a skeleton."""
    return f"{head.rstrip()}\n\n\n{skeleton}"


def evolved_function(source: str) -> ast.FunctionDef:
    """Return the function that a component's first text evolves: the last one above the mark.

    Raises
    ------
    SyntaxError, ValueError
        It is not Python; there is none.
    """
    functions = [n for n in parse_quietly(split_component(source)[0]).body if isinstance(n, ast.FunctionDef)]
    if not functions:
        raise ValueError("expected a function above the skeleton")
    return functions[-1]


def bound_names(source: str) -> set[str]:
    """Return the functions, classes and constants that a text defines at its top level, imports aside."""
    names: set[str] = set()
    for node in parse_quietly(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
    return names
