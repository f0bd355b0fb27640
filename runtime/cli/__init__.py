"""The command line: one module per group of commands; everything heavy is imported where it is used."""

from __future__ import annotations

import gc
import sys

from dga2d.runtime.cli.launching import dismiss_ahead, launch_ahead

__all__ = ["main"]


def main() -> None:
    """Run the command line as a program's whole work; end it with the command's exit code."""
    launch_ahead(sys.argv[1:])
    try:
        from dga2d.runtime.cli.app import main as run

        run()
    finally:
        dismiss_ahead()
        gc.freeze()  # the process ends: to look for cycles in what it loaded takes as long as a short command
