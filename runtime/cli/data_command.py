"""``data``: what instances there are, and whether they can be read."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dga2d.runtime.cli.completion import complete_domains
from dga2d.runtime.cli.options import data_option, json_option
from dga2d.runtime.cli.output import print_json, print_table
from dga2d.runtime.errors import ExitCode


@click.group(invoke_without_command=True, short_help="List and check benchmark instances.")
@data_option
@json_option
@click.pass_context
def data(context: click.Context, data_dir: Path | None, as_json: bool) -> None:
    """List the instances of all domains by group: generated ones, or with --data the published ones there.

    \b
    Examples:
      dga2d data
      dga2d data --data benchmarks/
      dga2d data check --data benchmarks/ jsp
    """
    if context.invoked_subcommand is not None:
        return
    from dga2d.runtime.instances import inventory

    rows = inventory(data_dir)
    if as_json:
        print_json(rows)
        return
    print_table(
        ("domain", "group", "instances", "training", "validation", "test", "references"),
        [
            (
                *(row[key] for key in ("domain", "group", "instances", "train", "validation", "test")),
                ", ".join(f"{count} {kind}" for kind, count in row["references"].items()),
            )
            for row in rows
        ],
    )


@data.command(short_help="Read or generate every instance.")
@click.argument("domains", nargs=-1, shell_complete=complete_domains)
@data_option
@json_option
def check(domains: tuple[str, ...], data_dir: Path | None, as_json: bool) -> int:
    """Read, or without --data generate, every instance of DOMAINS (all by default).

    The exit code is 1 if any cannot be had; each fault is named on stderr with its file and line.
    """
    from dga2d.runtime.instances import check as check_instances

    report = check_instances(data_dir, domains, _counting_line if sys.stderr.isatty() else lambda text: None)
    if as_json:
        print_json(report)
    else:
        for row in report:
            click.echo(f"{row['domain']}: {row['instances']} instances, {len(row['faults'])} faults")
            for fault in row["faults"]:
                click.echo(f"error: {fault['error']}", err=True)
    is_sound = not any(row["faults"] for row in report)
    return ExitCode.OK if is_sound else ExitCode.DIFFERENCE


def _counting_line(text: str) -> None:
    click.echo(f"\r\x1b[K{text}\r", nl=False, err=True)
