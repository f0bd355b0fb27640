"""Commands of ``dga2d`` that the program itself starts, in processes of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def own_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of ``dga2d`` with `arguments`.

    `arguments` name no database: every user of a machine can read them, and its URL may hold a password.
    """
    return [sys.executable, "-P", "-m", "dga2d", *arguments]


def own_environment(url: str) -> dict[str, str]:
    """Return the environment of such a command, which names the database at `url`; only the user can read
    it."""
    return {**os.environ, "DGA2D_STORE": url}
