"""``export`` and ``import``: a run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dga2d.runtime.cli.completion import run_argument
from dga2d.runtime.cli.event_loop import in_loop
from dga2d.runtime.cli.options import json_option, store_option
from dga2d.runtime.cli.output import check_writable, print_json


@click.command(name="export", short_help="Write a run to one file.")
@run_argument
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; RUN.dga2d.zip in the working directory by default.",
)
@store_option
@json_option
def export_command(run: str, path: Path | None, url: str, as_json: bool) -> None:
    """Write all events of RUN and all texts and solutions they name to one verified zip file.

    \b
    Example:
      dga2d export jsp-k3v9q2 -o night.zip
    """
    from dga2d.runtime.log_reading import export_to

    path = path or Path(f"{run}.dga2d.zip")
    check_writable(path)
    _report(in_loop(export_to, url, run, path), path, as_json)


@click.command(name="import", short_help="Take a run from a file that `export` wrote.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@store_option
@json_option
def import_command(path: Path, url: str, as_json: bool) -> None:
    """Verify FILE as a whole and store its run; a file that does not hold is refused and changes nothing.

    \b
    Example:
      dga2d import night.zip --store sqlite+aiosqlite:///archive.db
    """
    from dga2d.runtime.log_reading import import_from

    _report(in_loop(import_from, url, path), path, as_json)


def _report(manifest: Any, path: Path, as_json: bool) -> None:
    view = {
        "run": manifest.run,
        "file": str(path),
        "events": manifest.events.lines,
        "blobs": manifest.blobs.lines,
        "head_hash": manifest.head,
    }
    if as_json:
        print_json(view)
    else:
        click.echo(f"{path}: run {view['run']}, {view['events']} events, {view['blobs']} blobs")
        click.echo(f"head {view['head_hash']}")
