"""``report`` and ``serve``: show what a run did, as a file or as a local web page."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.terminal.output import check_writable, print_json, write_file
from dga2d.store import shown_url


@click.command(short_help="Write a self-contained report of a run.")
@options.run_argument
@options.file_option(
    "-o", "--output", "path", help="File to write; RUN.html (or RUN.md) in the working directory by default."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "md"]),
    help="Format of the report; taken from the file's ending by default, else html.",
)
@options.folder_option(
    "--figures",
    "folder",
    help="Write figures for a paper here, PNG and SVG (needs matplotlib); no report unless -o or --format "
    "asks for one.",
)
@options.domain_path_option
@options.store_option
@options.json_option
def report(
    run: str, path: Path | None, kind: str | None, folder: Path | None, url: str, as_json: bool
) -> None:
    """Report what RUN did: results, convergence, the algorithm and its code, credits, every model call.

    The problem of a run that began with a problem's file is read from there if it is unchanged; --domain-path
    says where it is now.

    \b
    Examples:
      dga2d report jsp-k3v9q2 -o night.html
      dga2d report jsp-k3v9q2 --format md -o night.md
      dga2d report jsp-k3v9q2 --figures figures
    """
    view: dict[str, Any] = {"run": run, "report": None, "format": None, "figures": None}
    if folder is not None:
        view |= _write_figures(url, run, folder)
    if folder is None or path is not None or kind is not None:
        view |= _write_report(url, run, path, kind)
    if as_json:
        print_json(view)
        return
    for written in (view["report"], *(view["figures"] or ())):
        if written is not None:
            click.echo(written)


def _write_report(url: str, run: str, path: Path | None, kind: str | None) -> dict[str, Any]:
    from dga2d.runtime.report import read_report_data, render_html, render_markdown

    kind = kind or ("md" if path is not None and path.suffix == ".md" else "html")
    path = path or Path(f"{run}.{kind}")
    check_writable(path)
    data = options.run_async(functools.partial(read_report_data, url, run))
    write_file(path, render_html(data) if kind == "html" else render_markdown(data))
    return {"report": str(path), "format": kind, "head_hash": data.head_hash}


def _write_figures(url: str, run: str, folder: Path) -> dict[str, Any]:
    from dga2d.runtime.errors import require_package
    from dga2d.runtime.report.figures import read_drawable, write_figures

    require_package("matplotlib", "figures", "--figures")
    drawn = write_figures(options.run_async(functools.partial(read_drawable, url, run)), folder)
    for fault in drawn.faults:
        click.echo(fault, err=True)
    return {"figures": [str(file) for file in drawn.files], "head_hash": drawn.head_hash}


@click.command(short_help="Show all runs on a local web page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="0 takes any.")
@click.option(
    "--token", envvar="DGA2D_TOKEN", help="Secret a browser must bring; needed beyond this machine."
)
@click.option(
    "--act",
    "acts",
    is_flag=True,
    help="Let the page begin commands: start, pause, resume, extend, fork and test runs. It then asks for a "
    "token, a new one at every start if none is given.",
)
@options.store_option
@options.json_option
def serve(host: str, port: int, token: str | None, acts: bool, url: str, as_json: bool) -> None:
    """Show runs live and at any earlier point until Ctrl-C; read-only without --act.

    \b
    Examples:
      dga2d serve
      dga2d serve --act
      dga2d serve --port 9000 --store sqlite+aiosqlite:///night.db
    """
    from dga2d.runtime.page.server import serve as run_server

    def announce(address: str) -> None:
        if as_json:
            print_json({"address": address, "store": shown_url(url)})
        else:
            click.echo(f"page at {address}  (Ctrl-C ends it)")

    options.run_async(functools.partial(run_server, url, host, port, token, announce, acts))
