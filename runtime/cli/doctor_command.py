"""``doctor``: what works on this machine."""

from __future__ import annotations

import platform
import sys
from typing import Any

import click

from dga2d import __version__
from dga2d.runtime.cli.options import json_option, store_option
from dga2d.runtime.cli.output import print_json, print_table
from dga2d.runtime.errors import ExitCode


@click.command(short_help="Say what works on this machine.")
@store_option
@json_option
def doctor(url: str, as_json: bool) -> int:
    """Check Python, packages, the sandbox's layers and the database."""
    from importlib.metadata import version

    from dga2d.runtime.doctor import examine

    report = examine(url)
    view = {
        "dga2d": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {
            name: version(name) for name in ("torch", "transformers", "numba", "numpy", "sqlalchemy")
        },
        **report,
    }
    if as_json:
        print_json(view)
    else:
        _print_doctor(view)
    return ExitCode.OK if view["is_database_usable"] else ExitCode.DIFFERENCE


def _print_doctor(view: dict[str, Any]) -> None:
    click.echo(f"dga2d {view['dga2d']}, Python {view['python']}, {view['platform']}")
    click.echo(", ".join(f"{name} {number}" for name, number in view["packages"].items()))
    click.echo(f"cores {view['cores']}, memory {view['memory_gib']:.1f} GiB, cache {view['cache']}")
    click.echo(f"database {view['store']}: {view['database']}")
    print_table(("sandbox layer", "state"), list(view["sandbox"].items()))
