"""``bank``: code of earlier runs, to be offered to others."""

from __future__ import annotations

from pathlib import Path

import click

from dga2d.runtime.cli.options import complete_runs, file_option, json_option, run_async, store_option
from dga2d.runtime.terminal.output import print_json, print_table, printable, shown_lines

DEFAULT_FILE = "dga2d-bank.jsonl"
_bank_option = click.option(
    "--bank",
    "name",
    default="shipped",
    show_default=True,
    metavar="FILE|shipped",
    help="The bank that is meant.",
)


@click.group(short_help="Keep code that runs accepted, to be offered to other runs.")
def bank() -> None:
    """Keep code that runs accepted, with what it gained. `dga2d evolve --bank FILE` offers it to a run.

    \b
    Examples:
      dga2d bank add jsp-k3v9q2
      dga2d bank list --bank dga2d-bank.jsonl
      dga2d evolve jsp --seed 2 --bank dga2d-bank.jsonl
    """


@bank.command(short_help="Add what runs accepted to a bank.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@file_option(
    "--bank",
    "path",
    default=Path(DEFAULT_FILE),
    show_default=True,
    help="File of the bank; it is made if it is not there.",
)
@click.option(
    "--licence",
    default="not stated",
    show_default=True,
    help="Under which licence the code may be used: one line, kept with every entry.",
)
@store_option
@json_option
def add(runs: tuple[str, ...], path: Path, licence: str, url: str, as_json: bool) -> None:
    """Add the implementations that RUNs accepted to a bank, with the gains that their logs hold. A RUN with a
    `/` or that ends in `.zip` is a file that `dga2d export` wrote.

    What is there already keeps its origin and gets the new measurements beside the old ones. A bank that does
    not hold together is refused and stays as it is.
    """
    from dga2d.runtime.bank.collecting import add_runs

    report = run_async(add_runs, url, runs, path, licence)
    if as_json:
        print_json(report)
    else:
        click.echo(f"{path}: {report['added']} implementations added, {report['entries']} in all")


@bank.command(name="list", short_help="List the entries of a bank.")
@click.option("--domain", help="Only those written for this domain.")
@_bank_option
@json_option
def list_entries(domain: str | None, name: str, as_json: bool) -> None:
    """List what a bank holds: gains in points, by the measurement trusted most, and who wrote it."""
    from dga2d.runtime.bank.collecting import entry_view
    from dga2d.runtime.bank.entries import read_bank

    rows = [entry_view(entry) for entry in read_bank(name) if domain in (None, entry.domain)]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("entry", "domain", "operator", "gain", "by", "pairs", "run", "model", "idea"),
        [
            (
                row["digest"][:12],
                row["domain"],
                row["operator"],
                "-" if row["gain_points"] is None else f"{row['gain_points']:+.2f}",
                row["how"] or "-",
                row["pairs"],
                row["run"],
                row["model"],
                printable(row["idea"][:60]),
            )
            for row in rows
        ],
    )


@bank.command(short_help="Show an entry of a bank, with its code.")
@click.argument("digest")
@_bank_option
@json_option
def show(digest: str, name: str, as_json: bool) -> None:
    """Show the entry whose digest begins with DIGEST: origin, measurements and code."""
    from dga2d.runtime.bank.collecting import entry_view, find_entry
    from dga2d.runtime.bank.entries import read_bank

    entry = find_entry(read_bank(name), digest)
    if as_json:
        print_json({**entry_view(entry), "source": entry.source})
        return
    click.echo(f"{entry.domain}: {entry.operator}.{entry.digest[:12]} ({entry.category})")
    click.echo(f"from run {entry.run}, event {entry.seq}, written by {entry.model}; licence: {entry.licence}")
    for m in entry.measurements:
        spread = "" if m.spread is None else f", spread {100 * m.spread:.2f}"
        click.echo(f"{m.how} in {m.run}: {100 * m.gain:+.2f} points in {m.pairs} pairs{spread}")
    click.echo()
    click.echo(shown_lines(entry.source), nl=False)
