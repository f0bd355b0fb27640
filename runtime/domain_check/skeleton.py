"""Writes the skeleton domain into a folder of its own, under a name of its own."""

from __future__ import annotations

from pathlib import Path

from dga2d.domains.claims import skeleton_texts
from dga2d.domains.core.plugins import name_fault
from dga2d.domains.core.registry import domain_names
from dga2d.runtime.errors import OutputFileError, UsageError


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
    texts = skeleton_texts(name)
    try:
        for path, text in texts.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputFileError(target, error.strerror or str(error)) from error
    return tuple(sorted(target / path for path in texts))
