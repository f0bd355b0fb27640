"""A run of the program for a benchmark: in a process of its own, its log in a database of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def evolved_outcome(name: str, domain: str, flags: Sequence[str], folder: Path) -> dict[str, Any]:
    """What ``evolve --json`` prints of the run `name`; its database is made in `folder`.

    Ends the benchmark where the run does not end well.
    """
    command = [sys.executable, "-P", "-m", "dga2d", "evolve", domain, f"--run-id={name}", *flags]
    command += [f"--store=sqlite+aiosqlite:///{folder / name}.db", "--quiet", "--no-report", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr}")
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome
