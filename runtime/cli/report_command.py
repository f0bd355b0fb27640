"""``report``: what a run did, as a file to hand on."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from dga2d.runtime.cli.completion import run_argument
from dga2d.runtime.cli.options import json_option, store_option
from dga2d.runtime.cli.output import check_writable, print_json, write_file


@click.command(short_help="Write a self-contained report of a run.")
@run_argument
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; RUN.html (or RUN.md) in the working directory by default.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "md"]),
    help="Format; taken from the file's ending by default, else html.",
)
@store_option
@json_option
def report(run: str, path: Path | None, kind: str | None, url: str, as_json: bool) -> None:
    """Tell what RUN did: results, convergence, the algorithm and its code, credits, every model call.

    \b
    Examples:
      dga2d report jsp-k3v9q2 -o night.html
      dga2d report jsp-k3v9q2 --format md -o night.md
    """
    import anyio

    from dga2d.runtime.report import read_story, render_html, render_markdown

    kind = kind or ("md" if path is not None and path.suffix == ".md" else "html")
    path = path or Path(f"{run}.{kind}")
    check_writable(path)
    story = anyio.run(functools.partial(read_story, url, run))
    write_file(path, render_html(story) if kind == "html" else render_markdown(story))
    if as_json:
        print_json({"run": run, "report": str(path), "format": kind, "head_hash": story.head_hash})
    else:
        click.echo(path)
