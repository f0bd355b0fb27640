"""A solver as a package that pip installs: its file, metadata, and tests on a small instance."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dga2d import __version__
from dga2d.domains.core.contract import Domain
from dga2d.runtime.errors import UsageError
from dga2d.runtime.solver_export.export import SolverExport
from dga2d.runtime.terminal.output import write_file

TEST_WORK = 300
"""Work units that the package's own test gives the solver."""


def write_package(folder: Path, domain: Domain, exported: SolverExport) -> list[Path]:
    """Write the package into `folder`, which must be new or empty; return its files.

    Raises
    ------
    UsageError
        There is something in the folder, or the solver takes a function, which a package could not test.
    OutputFileError
        It cannot be written.
    """
    if hasattr(domain, "oracle_data"):
        raise UsageError(f"--package: a solver of {domain.name} is given a function; write one file with -o")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--package {folder}: is there already; name a new folder")
    module = re.sub(r"\W", "_", f"{domain.name}_solver")
    smoke = domain.environment(domain.smoke_instance())
    values = {
        "module": module,
        "name": module.replace("_", "-"),
        "version": f"{__version__}.{exported.generation}",
        "title": domain.card.title.replace('"', "'").replace("\\", "/"),
        "facts": "\n".join(f"- {fact}" for fact in (exported.origin, *exported.results)),
        "work": str(TEST_WORK),
    }
    contents = {
        "pyproject.toml": _template("pyproject.toml.txt", values),
        "README.md": _template("README.md.txt", values),
        f"src/{module}/__init__.py": _template("init.py.txt", values),
        f"src/{module}/solver.py": exported.text,
        "tests/test_solver.py": _template("test_solver.py.txt", values),
        "tests/instance.json": json.dumps({name: _plain(value) for name, value in smoke.items()}),
    }
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, text)
    return [folder / name for name in contents]


def _template(name: str, values: dict[str, str]) -> str:
    text = files(__package__).joinpath(f"templates/package/{name}").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _plain(value: Any) -> Any:
    """Return a number of an environment as JSON has it, an array with its type."""
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    return value.item() if isinstance(value, np.generic) else value
