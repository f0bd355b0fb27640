"""``solver``: the evolved algorithm as a file of its own."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from pathlib import Path

import click

from dga2d.runtime.cli.completion import run_argument
from dga2d.runtime.cli.options import domain_path_option, json_option, store_option
from dga2d.runtime.cli.output import check_writable, print_json, write_file


@click.command(short_help="Write a run's best algorithm as a standalone Python file.")
@run_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default="solver.py",
    show_default=True,
    metavar="FILE",
    help="File to write.",
)
@domain_path_option
@store_option
@json_option
def solver(run: str, output: Path, url: str, as_json: bool) -> None:
    """Take the best validated algorithm of RUN away: FILE needs numpy and numba only.

    \b
    Example:
      dga2d solver jsp-k3v9q2 -o solver.py
      python solver.py INSTANCE --time-limit 10 -o SOLUTION
    """
    import anyio

    from dga2d.runtime.taking_away import solver_of_run

    check_writable(output)
    taken = anyio.run(functools.partial(solver_of_run, url, run, datetime.now(UTC)))
    write_file(output, taken.text)
    if as_json:
        print_json(
            {
                "run": run,
                "output": str(output),
                "generation": taken.generation,
                "pipeline": list(taken.operators),
                "head_hash": taken.head_hash,
            }
        )
    else:
        click.echo(output)
