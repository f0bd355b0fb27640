"""``prompt``: what a language model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from dga2d.runtime.cli.completion import domain_argument
from dga2d.runtime.cli.options import domain_path_option, json_option
from dga2d.runtime.cli.output import print_json

if TYPE_CHECKING:
    from dga2d.runtime.prompt_preview import Kind

KINDS = ("initialize", "implement-add", "implement-replace", "connect-replace", "connect-delta")


@click.command(short_help="Print a prompt as a run would send it.")
@domain_argument
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--operator", metavar="NAME", help="Operator whose implementation is asked for.")
@click.option("--refused", metavar="TEXT", help="Diagnostic of a refused answer: prints the repair.")
@domain_path_option
@json_option
def prompt(domain: str, kind: str, operator: str | None, refused: str | None, as_json: bool) -> None:
    """Print the prompt of KIND for DOMAIN, for the library's own graph and pools.

    \b
    Examples:
      dga2d prompt jsp implement-add --operator tabu_search_n7
      dga2d prompt tsp connect-replace --refused "the edge is in the graph already"
    """
    from dga2d.agents.proposing import answer_schema, render
    from dga2d.domains.core.registry import get_domain
    from dga2d.replay.settings import RunSettings
    from dga2d.runtime.prompt_preview import preview_task

    named = cast("Kind", kind)
    task = preview_task(get_domain(domain), named, operator, refused, RunSettings())
    rendered = render(task)
    if as_json:
        print_json({"template": rendered.template, "text": rendered.text, "schema": answer_schema(task)})
    else:
        click.echo(rendered.text, nl=False)
