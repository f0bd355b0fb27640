"""``solve``: one instance, one solution."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from dga2d.runtime.cli.options import data_option, json_option, store_option
from dga2d.runtime.cli.output import check_writable, print_json, write_file


@click.command(short_help="Solve one instance with an evolved algorithm or the safe baseline.")
@click.argument("domain")
@click.argument("instance")
@click.option("--run", "run_id", metavar="RUN", help="Use the best validated algorithm of this run.")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Wall-clock seconds.")
@click.option("--work", type=int, help="Work units instead of seconds: reproducible bit for bit.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--sandbox", type=click.Choice(["strict", "best-effort", "off"]), default="best-effort")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the solution here."
)
@data_option
@store_option
@json_option
def solve(
    domain: str,
    instance: str,
    run_id: str | None,
    time_limit: float,
    work: int | None,
    seed: int,
    sandbox: str,
    output: Path | None,
    data_dir: Path | None,
    url: str,
    as_json: bool,
) -> None:
    """Solve INSTANCE of DOMAIN: a file, or the name of a generated (or, with --data, published) instance.

    \b
    Examples:
      dga2d solve jsp ta/ta01 --time-limit 5
      dga2d solve tsp berlin52.tsp --run tsp-x7k2mp -o berlin52.tour
    """
    import anyio

    from dga2d.replay.settings import RunSettings
    from dga2d.runtime.config import make_settings
    from dga2d.runtime.solving import solve_instance
    from dga2d.runtime.views import percent

    if output is not None:
        check_writable(output)
    settings: RunSettings = make_settings({}, {"time_limit": time_limit, "work": work, "sandbox": sandbox})
    solved = anyio.run(
        functools.partial(solve_instance, domain, instance, url, run_id, settings, seed, data_dir)
    )
    if output is not None:
        write_file(output, solved.solution_text)
    reference = solved.instance.reference
    view = {
        "domain": domain,
        "instance": solved.instance.key,
        "algorithm": solved.algorithm,
        "objective": solved.objective,
        "reference": None if reference is None else reference.value,
        "reference_kind": None if reference is None else reference.kind,
        "gap_percent": percent(solved.gap),
        "elapsed_s": solved.elapsed_s,
        "work": solved.work,
        "output": None if output is None else str(output),
    }
    if as_json:
        print_json(view)
        return
    click.echo(f"instance   {view['instance']}")
    click.echo(f"algorithm  {view['algorithm']}")
    click.echo(f"objective  {solved.objective:g}")
    if reference is not None:
        click.echo(f"reference  {reference.value:g} ({reference.kind}), gap {view['gap_percent']:.2f} %")
    if output is not None:
        click.echo(f"solution   {output}")
