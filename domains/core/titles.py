"""What a problem is called in full, read from its source text: nothing is imported or compiled."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from dga2d.domains.core.plugins import find_plugin
from dga2d.domains.core.registry import package_of

CARD_FILES = ("card.py", "domain.py", "__init__.py")
"""Modules of a domain's package in which its card is looked for, in this order."""


def domain_title(name: str) -> str | None:
    """Return the title on the card of the domain called `name`; ``None`` where none can be read.

    A card is found where it is written as ``Card(title="…", …)``. The title of a problem in one file is the
    first line of its docstring.

    Raises
    ------
    PluginError
        Two plug-ins have that name, or the file of a recorded problem is not what it was.
    """
    plugin = find_plugin(name)
    if plugin is None:
        package = package_of(name)
        return None if package is None else _title_in(_folder_of(package))
    if plugin.file is not None:
        return _read(plugin.file, plugin.file.stat().st_mtime_ns)
    return _title_in(plugin.folder or _folder_of(plugin.module))


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package, of which only the topmost is looked up: finding one below it by the
    usual way would import those above."""
    top, *below = package.split(".")
    spec = find_spec(top) if top not in sys.modules else sys.modules[top].__spec__
    places = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    found = (place.joinpath(*below) for place in places)
    return next((folder for folder in found if folder.is_dir()), None)


def _title_in(folder: Path | None) -> str | None:
    files = [] if folder is None else [folder / file for file in CARD_FILES]
    titles = (_read(file, file.stat().st_mtime_ns) for file in files if file.is_file())
    return next((title for title in titles if title is not None), None)


@lru_cache(maxsize=64)
def _read(file: Path, changed_ns: int) -> str | None:
    """Return the title that a file holds as it was written at `changed_ns`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return None
    titles = [*_card_titles(tree), *_problem_titles(tree)]
    return titles[0] if len(titles) == 1 else None


def _card_titles(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) == "Card":
            for given in node.keywords:
                if given.arg == "title" and isinstance(given.value, ast.Constant):
                    yield str(given.value.value)


def _problem_titles(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        marks = node.bases if isinstance(node, ast.ClassDef) else getattr(node, "decorator_list", [])
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and any(
            _last_name(mark) in ("Problem", "problem") for mark in marks
        ):
            yield inspect.cleandoc(ast.get_docstring(node) or node.name).partition("\n")[0].rstrip(".")


def _last_name(node: ast.expr) -> str:
    """Return the last part of a name, of what is called if it is a call."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
