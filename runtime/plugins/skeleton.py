"""Writes the skeleton domain into a folder of its own, under a name of its own."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from dga2d.domains.core.plugins import name_fault
from dga2d.domains.core.registry import domain_names
from dga2d.runtime.errors import OutputFileError, UsageError

PACKAGE = "dga2d.domains.skeleton"
TEST_FILE = "test_domain.py.txt"


def write_skeleton(name: str, folder: Path) -> tuple[Path, ...]:
    """Write the package ``folder/name``; the files written, sorted.

    Raises
    ------
    UsageError
        `name` is no name for a domain, a domain has it, or ``folder/name`` is there already.
    OutputFileError
        The system refused.
    """
    fault = name_fault(name)
    if fault is not None:
        raise UsageError(fault)
    target = folder / name
    if target.exists():
        raise UsageError(f"{target} is there already; choose another name, or another folder with --into")
    if name in domain_names():
        raise UsageError(f"there is a domain {name!r} already; choose another name")
    texts = dict(_texts(files(PACKAGE), name))
    try:
        for path, text in texts.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputFileError(target, error.strerror or str(error)) from error
    return tuple(sorted(target / path for path in texts))


def _texts(folder: Traversable, name: str, below: str = "") -> list[tuple[str, str]]:
    """Path in the new package and text of every file."""
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _texts(entry, name, f"{below}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            path = f"tests/test_{name}.py" if entry.name == TEST_FILE else below + entry.name
            found.append((path, renamed(entry.read_text(encoding="utf-8"), name)))
    return found


def renamed(text: str, name: str) -> str:
    """A text of the skeleton as it stands in the package `name`: relative imports, the new name.

    Relative imports are sorted behind all others, as formatters want them.
    """
    text = re.sub(rf"^( *)from {re.escape(PACKAGE)}\.", r"\1from .", text, flags=re.MULTILINE)
    text = _own_imports_last(text)
    return text.replace("skeleton", name)


def _own_imports_last(text: str) -> str:
    """Put a blank line between a module's imports of other packages and its relative ones."""
    lines = text.split("\n")
    own = [i for i, line in enumerate(lines) if line.startswith("from .")]
    if not own or not own[0] or not lines[own[0] - 1].startswith(("from ", "import ", ")")):
        return text
    moved = [lines[i] for i in own]
    last = max(i for i, line in enumerate(lines) if line.startswith(("from ", "import ")))
    rest = [line for i, line in enumerate(lines[: last + 1]) if i not in own]
    return "\n".join([*rest, "", *moved, *lines[last + 1 :]])
