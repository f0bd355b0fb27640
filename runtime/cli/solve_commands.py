"""``solve`` and ``solver``: put a run's best algorithm to work, here or in a file of its own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli.options import (
    complete_runs_of_domain,
    data_option,
    domain_argument,
    domain_path_option,
    json_option,
    run_argument,
    seed_option,
    store_option,
)
from dga2d.runtime.errors import UsageError
from dga2d.runtime.terminal.output import check_writable, print_json, status_line, write_file

if TYPE_CHECKING:
    from dga2d.runtime.runs.solving import Method, Solved


@click.command(short_help="Solve one instance with an evolved algorithm or the safe baseline.")
@domain_argument
@click.argument("instance")
@click.option(
    "--run",
    "run_id",
    metavar="RUN",
    shell_complete=complete_runs_of_domain,
    help="Use the best validated algorithm of this run.",
)
@click.option(
    "--method",
    type=click.Choice(["safe", "basic", "ils", "cp-sat"]),
    help="A baseline instead: safe (the default), its counterpart from the basic library, iterated local "
    "search, or OR-Tools.",
)
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Wall-clock seconds.")
@click.option("--work", type=int, help="Work units instead of seconds: reproducible bit for bit.")
@seed_option
@click.option("--sandbox", type=click.Choice(["strict", "best-effort", "off"]), default="best-effort")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the solution here."
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the solution here (.svg, .png or .pdf); needs matplotlib.",
)
@data_option
@store_option
@json_option
def solve(
    domain: str,
    instance: str,
    run_id: str | None,
    method: Method | None,
    time_limit: float,
    work: int | None,
    seed: int,
    sandbox: str,
    output: Path | None,
    picture: Path | None,
    data_dir: Path | None,
    url: str,
    as_json: bool,
) -> None:
    """Solve INSTANCE of DOMAIN: a file, or the name of a generated (or, with --data, published) instance.

    \b
    Examples:
      dga2d solve jsp ta/ta01 --time-limit 5
      dga2d solve tsp berlin52.tsp --run tsp-x7k2mp -o berlin52.tour --picture berlin52.svg
      dga2d solve jsp ta/ta01 --method cp-sat
    """
    start = time.perf_counter()
    import anyio

    from dga2d.domains.core.registry import get_domain
    from dga2d.replay.settings import RunSettings
    from dga2d.runtime.runs.config import make_settings
    from dga2d.runtime.runs.solving import check_picture, draw, solve_instance

    if run_id is not None and method is not None:
        raise UsageError("--run and --method exclude each other: which algorithm is to solve it?")
    for path in (output, picture):
        if path is not None:
            check_writable(path)
    if picture is not None:
        check_picture(picture)
    settings: RunSettings = make_settings({}, {"time_limit": time_limit, "work": work, "sandbox": sandbox})
    algorithm = method or "safe"
    announce = status_line()
    arguments = (domain, instance, url, run_id, algorithm, settings, seed, data_dir, announce)
    solved = anyio.run(solve_instance, *arguments)
    announce("")
    startup_s = max(time.perf_counter() - start - solved.elapsed_s, 0.0)
    if output is not None:
        write_file(output, solved.solution_text)
    if picture is not None:
        draw(get_domain(domain), solved, picture)
    view = {
        **_view(solved),
        "startup_s": startup_s,
        "output": None if output is None else str(output),
        "picture": None if picture is None else str(picture),
    }
    if as_json:
        print_json(view)
    else:
        _print_solved(view)


def _view(solved: Solved) -> dict[str, Any]:
    from dga2d.runtime.inspection.views import percent

    reference = solved.instance.reference
    return {
        "domain": solved.instance.domain,
        "instance": solved.instance.key,
        "algorithm": solved.algorithm,
        "objective": solved.objective,
        "reference": None if reference is None else reference.value,
        "reference_kind": None if reference is None else reference.kind,
        "gap_percent": percent(solved.gap),
        "elapsed_s": solved.elapsed_s,
        "work": solved.work,
    }


def _print_solved(view: dict[str, Any]) -> None:
    click.echo(f"instance   {view['instance']}")
    click.echo(f"algorithm  {view['algorithm']}")
    click.echo(f"objective  {view['objective']:g}")
    if view["reference"] is not None:
        gap = f"gap {view['gap_percent']:.2f} %"
        click.echo(f"reference  {view['reference']:g} ({view['reference_kind']}), {gap}")
    click.echo(
        f"time       {view['elapsed_s']:.2f} s, and {view['startup_s']:.2f} s to start and compile, "
        "which the limit does not count"
    )
    if view["output"] is not None:
        click.echo(f"solution   {view['output']}")
    if view["picture"] is not None:
        click.echo(f"picture    {view['picture']}")


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
    """Export the best validated algorithm of RUN: FILE needs numpy and numba only.

    \b
    Example:
      dga2d solver jsp-k3v9q2 -o solver.py
      python solver.py INSTANCE --time-limit 10 -o SOLUTION
    """
    import anyio

    from dga2d.runtime.solver_export import export_solver

    check_writable(output)
    exported = anyio.run(export_solver, url, run, datetime.now(UTC))
    write_file(output, exported.text)
    if as_json:
        print_json(
            {
                "run": run,
                "output": str(output),
                "generation": exported.generation,
                "pipeline": list(exported.operators),
                "origin": exported.origin,
                "results": list(exported.results),
                "head_hash": exported.head_hash,
            }
        )
    else:
        click.echo(output)
        for fact in (" → ".join(exported.operators), exported.origin, *exported.results):
            click.echo(f"  {fact}")
