"""``config`` and ``doctor``: the settings of a run, and what works on this machine."""

from __future__ import annotations

import json
import os
import platform
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import click

from dga2d import __version__
from dga2d.runtime.cli.options import json_option, run_async, settings_from, settings_options, store_option
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.output import print_json, print_table, status_line
from dga2d.runtime.user_files import cache_dir, is_cache_usable
from dga2d.store import MissingDatabaseError, StoreError, open_store, shown_url

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
@click.option(
    "--warm",
    is_flag=True,
    help="Also compile the decoders and baselines of all problems, so that no `solve` has to wait for it.",
)
@store_option
@json_option
def doctor(warm: bool, url: str, as_json: bool) -> int:
    """Check Python, packages, the sandbox's layers and the database.

    \b
    Examples:
      dga2d doctor
      dga2d doctor --warm
    """
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
        "warmed": _warm_all() if warm and report["is_cache_usable"] else None,
    }
    if as_json:
        print_json(view)
    else:
        _print_doctor(view)
    is_usable = view["is_database_usable"] and view["is_cache_usable"]
    is_usable = is_usable and all(row["failure"] is None for row in view["warmed"] or ())
    return ExitCode.OK if is_usable else ExitCode.DIFFERENCE


def _print_doctor(view: dict[str, Any]) -> None:
    click.echo(f"dga2d {view['dga2d']}, Python {view['python']}, {view['platform']}")
    click.echo(", ".join(f"{name} {number}" for name, number in view["packages"].items()))
    cache = view["cache"] if view["is_cache_usable"] else f"{view['cache']}: not writable, set DGA2D_CACHE"
    click.echo(f"cores {view['cores']}, memory {view['memory_gib']:.1f} GiB, cache {cache}")
    click.echo(f"database {view['store']}: {view['database']}")
    print_table(("sandbox layer", "state"), list(view["sandbox"].items()))
    if view["warmed"] is not None:
        rows = [(row["domain"], row["compiled"], row["seconds"], row["failure"]) for row in view["warmed"]]
        print_table(("problem", "compiled now", "seconds", "failure"), rows)


def _warm_all() -> list[dict[str, Any]]:
    """Compile what the baselines of each problem need; return one row per problem."""
    from dga2d.domains.core.registry import domain_names
    from dga2d.runtime.runs.solving import warm

    announce, rows = status_line(), []
    for name in domain_names():
        announce(f"compiling {name}")
        start = time.perf_counter()
        compiled, failure = run_async(warm, name)
        seconds = round(time.perf_counter() - start, 1)
        rows.append({"domain": name, "compiled": compiled, "seconds": seconds, "failure": failure})
    announce("")
    return rows


def examine(url: str) -> dict[str, Any]:
    """Return facts about the machine; sandbox layers are proven by their behaviour."""
    import psutil

    from dga2d.runtime.evaluation.worker import probe_sandbox

    is_usable, database = run_async(_database, url)
    return {
        "cores": os.cpu_count(),
        "memory_gib": psutil.virtual_memory().total / 2**30,
        "cache": str(cache_dir()),
        "is_cache_usable": is_cache_usable(),
        "store": shown_url(url),
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
