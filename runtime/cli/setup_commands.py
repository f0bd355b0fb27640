"""``config`` and ``doctor``: the settings of a run, and what works on this machine."""

from __future__ import annotations

import json
import os
import platform
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from dga2d import __version__
from dga2d.runtime.cli.options import json_option, settings_from, settings_options, store_option
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.output import print_json, print_table
from dga2d.store import MissingDatabaseError, StoreError, open_store

WIDTH = 100


@click.command(short_help="Print the effective settings as annotated TOML.")
@settings_options
@json_option
def config(config_file: Path | None, assignments: tuple[str, ...], as_json: bool, **flags: Any) -> None:
    """Print the settings a run would have; the output is a valid file for --config.

    \b
    Examples:
      dga2d config > night.toml
      dga2d config --config night.toml --generations 100
    """
    settings = settings_from(flags, config_file, assignments)
    if as_json:
        print_json(settings.model_dump())
    else:
        click.echo(annotated_toml(settings), nl=False)


def annotated_toml(settings: Any) -> str:
    """Return one key per paragraph under its description; keys without a value are commented out."""
    paragraphs = []
    for key, field in type(settings).model_fields.items():
        description = " ".join((field.description or "").split()).replace("``", "")
        lines = textwrap.wrap(description, WIDTH, initial_indent="# ", subsequent_indent="# ")
        value = getattr(settings, key)
        lines.append(f"# {key} =" if value is None else f"{key} = {json.dumps(value)}")
        paragraphs.append("\n".join(lines) + "\n")
    return "\n".join(paragraphs)


@click.command(short_help="Say what works on this machine.")
@store_option
@json_option
def doctor(url: str, as_json: bool) -> int:
    """Check Python, packages, the sandbox's layers and the database."""
    from importlib.metadata import version

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
    is_usable = view["is_database_usable"] and view["is_cache_usable"]
    return ExitCode.OK if is_usable else ExitCode.DIFFERENCE


def _print_doctor(view: dict[str, Any]) -> None:
    click.echo(f"dga2d {view['dga2d']}, Python {view['python']}, {view['platform']}")
    click.echo(", ".join(f"{name} {number}" for name, number in view["packages"].items()))
    cache = view["cache"] if view["is_cache_usable"] else f"{view['cache']}: not writable, set DGA2D_CACHE"
    click.echo(f"cores {view['cores']}, memory {view['memory_gib']:.1f} GiB, cache {cache}")
    click.echo(f"database {view['store']}: {view['database']}")
    print_table(("sandbox layer", "state"), list(view["sandbox"].items()))


def examine(url: str) -> dict[str, Any]:
    """Return facts about the machine; sandbox layers are proven by their behaviour."""
    import anyio
    import psutil

    from dga2d.runtime.evaluation import probe_sandbox
    from dga2d.runtime.evaluator import cache_dir, is_cache_usable

    is_usable, database = anyio.run(_database, url)
    return {
        "cores": os.cpu_count(),
        "memory_gib": psutil.virtual_memory().total / 2**30,
        "cache": str(cache_dir()),
        "is_cache_usable": is_cache_usable(),
        "store": url,
        "database": database,
        "is_database_usable": is_usable,
        "sandbox": probe_sandbox(),
    }


async def _database(url: str) -> tuple[bool, str]:
    """Return whether runs can be kept at `url`, and what is there."""
    try:
        async with open_store(url, create=False, read_only=True) as store:
            return True, f"{len(await store.runs())} runs"
    except MissingDatabaseError:
        return True, "none yet, the first run creates it"
    except StoreError as error:
        return False, f"not usable: {error}"
