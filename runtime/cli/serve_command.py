"""``serve``: the page over the log."""

from __future__ import annotations

import functools

import click

from dga2d.runtime.cli.options import json_option, store_option
from dga2d.runtime.cli.output import print_json


@click.command(short_help="Show all runs on a local web page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="0 takes any.")
@click.option(
    "--token", envvar="DGA2D_TOKEN", help="Secret a browser must bring; needed beyond this machine."
)
@store_option
@json_option
def serve(host: str, port: int, token: str | None, url: str, as_json: bool) -> None:
    """Show runs live and at any earlier point, read-only, until Ctrl-C.

    \b
    Examples:
      dga2d serve
      dga2d serve --port 9000 --store sqlite+aiosqlite:///night.db
    """
    import anyio

    from dga2d.runtime.page.serving import serve as run_server

    def announce(address: str) -> None:
        if as_json:
            print_json({"address": address, "store": url})
        else:
            click.echo(f"page at {address}  (Ctrl-C ends it)")

    anyio.run(functools.partial(run_server, url, host, port, token, announce))
