"""Writes what a problem of one's own begins with: a file, or a package, under a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from dga2d.domains.claims import skeleton_texts
from dga2d.domains.core.plugins import name_fault
from dga2d.domains.core.registry import domain_names
from dga2d.runtime.errors import OutputFileError, UsageError


def write_skeleton(name: str, folder: Path) -> tuple[Path, ...]:
    """Write the package ``folder/name``; return the files written, sorted.

    Raises
    ------
    UsageError
        `name` is no name for a domain, a domain has it, or ``folder/name`` is there already.
    OutputFileError
        The system refused.
    """
    target = _check_target(name, folder / name)
    return _write_texts({target / path: text for path, text in skeleton_texts(name).items()})


def write_problem_file(name: str, folder: Path) -> tuple[Path, ...]:
    """Write the problem ``folder/name.py``; return its path. Raises as `write_skeleton`."""
    target = _check_target(name, folder / f"{name}.py")
    text = files("dga2d.domains.own").joinpath("template.py.txt").read_text(encoding="utf-8")
    title = "".join(word.capitalize() for word in name.split("_"))
    return _write_texts({target: text.replace("NAME", name).replace("TITLE", title)})


def _check_target(name: str, target: Path) -> Path:
    fault = name_fault(name)
    if fault is not None:
        raise UsageError(fault)
    if target.exists():
        raise UsageError(f"{target} is there already; choose another name, or another folder with --into")
    if name in domain_names():
        raise UsageError(f"there is a domain {name!r} already; choose another name")
    return target


def _write_texts(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise OutputFileError(path, error.strerror or str(error)) from error
    return tuple(sorted(texts))
