"""An evolved algorithm as one Python file that needs numpy and numba only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.registry import solver_entries
from dga2d.replay.streams import spawn_key
from dga2d.runtime.solver_file.bundle import BundleError, bundle
from dga2d.runtime.solver_file.isolate import as_function


@dataclass(frozen=True)
class Provenance:
    """Where the algorithm comes from; every text is a comment in the file."""

    domain: str
    title: str
    program: str
    """Version and code digest of the program that wrote the file."""
    run: str | None
    """Run and generation; ``None`` for the safe baseline."""
    head_hash: str | None
    results: tuple[str, ...]
    """Lines such as ``validation gap 1.20 %``."""
    written_at: datetime


def solver_source(steps: Sequence[Implementation], provenance: Provenance) -> str:
    """Text of the solver.

    Raises
    ------
    BundleError
        The domain cannot be taken out of the program.
    """
    collected = bundle(
        [
            *solver_entries(provenance.domain),
            ("dga2d.domains.budget", "Budget"),
            ("dga2d.domains.execution", "execute"),
            ("dga2d.runtime.evaluation.child", "seeded_generator"),
        ]
    )
    functions: dict[str, str] = {}
    for step in steps:
        functions.setdefault(_function_name(step), as_function(_function_name(step), step.source))
    names = [_function_name(step) for step in steps]
    parts = [
        _header(steps, provenance),
        "from __future__ import annotations",
        import_block({*collected.imports, *_MAIN_IMPORTS}),
        _section(f"The problem: {provenance.title}, and how a pipeline is run"),
        *collected.definitions,
        _section("The algorithm: one function per operator, each returning its `run`"),
        *functions.values(),
        f"STREAM = {spawn_key('test', 0, 0, 0)}",
        "PIPELINE = (" + "".join(f"{name}, " for name in names) + ")",
        _section("The command line"),
        files(__package__).joinpath("templates/main.py.txt").read_text(encoding="utf-8").rstrip(),
    ]
    text = "\n\n\n".join(parts) + "\n"
    try:
        compile(text, "solver.py", "exec")
    except SyntaxError as error:
        raise BundleError(f"the solver would not be valid Python: {error}") from error
    return text


_MAIN_IMPORTS = ("import argparse", "import sys", "from pathlib import Path", "import numpy as np")


def import_block(statements: set[str]) -> str:
    """Sorted import statements; those from one module become one."""
    plain = sorted(line for line in statements if line.startswith("import "))
    names: dict[str, set[str]] = {}
    for line in statements.difference(plain):
        _, module, _, written = line.split(" ", 3)
        names.setdefault(module, set()).add(written)
    grouped = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items())]
    return "\n".join([*plain, *grouped])


def _function_name(step: Implementation) -> str:
    return re.sub(r"\W", "_", step.id)


def _section(title: str) -> str:
    return f"# {'-' * 20} {title}"


def _header(steps: Sequence[Implementation], provenance: Provenance) -> str:
    facts = [
        f"Algorithm: {' -> '.join(step.operator for step in steps)}",
        *(f"  {index}. {step.operator}, SHA-256 {step.digest}" for index, step in enumerate(steps, start=1)),
        f"Origin: {provenance.run or 'safe baseline, nothing evolved'}",
        *([f"Log head: {provenance.head_hash}"] if provenance.head_hash else []),
        *(f"Result: {line}" for line in provenance.results),
        f"Written by: dga2d {provenance.program}, {provenance.written_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
    ]
    lines = "\n".join(_plain(fact) for fact in facts)
    return f'''"""Solver for the {_plain(provenance.title)}. Needs Python 3.11, numpy and numba.

    python solver.py INSTANCE --time-limit 10 -o SOLUTION

{lines}
"""'''


def _plain(text: str) -> str:
    """Text that cannot end the docstring it stands in."""
    return text.replace("\\", "/").replace('"', "'")
