"""``solve`` and ``solver``: put a run's best algorithm to work, here or in a file of its own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.cli.launching import take_worker
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.names import DOMAINS, Weights
from dga2d.runtime.terminal.output import check_writable, print_json, printable, status_line, write_file

if TYPE_CHECKING:
    from dga2d.runtime.evaluation.launch import Zygote
    from dga2d.runtime.evaluation.limits import SandboxMode
    from dga2d.runtime.runs.solving import Method, Solved
    from dga2d.runtime.solver_export import Choice


@click.command(short_help="Solve one instance with an evolved algorithm or the safe baseline.")
@options.domain_argument
@click.argument("instance", shell_complete=options.complete_instances)
@click.option(
    "--run",
    "run_id",
    metavar="RUN",
    shell_complete=options.complete_runs_of_domain,
    help="Use the best validated algorithm of this run.",
)
@click.option(
    "--method",
    type=click.Choice(["safe", "basic", "ils", "cp-sat", *DOMAINS]),
    help="A baseline instead: safe (the default), its counterpart from the basic library, iterated local "
    "search, OR-Tools, or a learned solver (tsp: pomo, fjsp: resched, mis: sdds, clp3d: bpp-drl).",
)
@options.file_option("--weights", help="Weights of the learned solver; `dga2d train` writes them.")
@click.option("--device", help="Where the learned solver runs: cpu (the default), cuda or cuda:N.")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Wall-clock seconds.")
@click.option("--work", type=int, help="Work units instead of seconds: reproducible bit for bit.")
@click.option("--cores", metavar="N|all", help="Search threads of cp-sat; 1 by default.")
@options.seed_option
@click.option(
    "--suite",
    type=click.Choice(["any", "paper"]),
    default="any",
    show_default=True,
    help="paper: INSTANCE is one of the paper's own, from --data or made again exactly.",
)
@click.option("--sandbox", type=click.Choice(["strict", "best-effort", "off"]), default="best-effort")
@options.file_option("-o", "--output", help="Write the solution here.")
@options.file_option("--picture", help="Draw the solution here (.svg, .png or .pdf); needs matplotlib.")
@options.data_option
@options.store_option
@options.json_option
def solve(
    domain: str,
    instance: str,
    run_id: str | None,
    method: Method | None,
    weights: Path | None,
    device: str | None,
    time_limit: float,
    work: int | None,
    cores: str | None,
    seed: int,
    suite: str,
    sandbox: SandboxMode,
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
      dga2d solve tsp berlin52.tsp --method pomo --weights pomo20.safetensors
    """
    start = time.perf_counter()
    if run_id is not None and method is not None:
        raise UsageError("--run and --method exclude each other: which algorithm is to solve it?")
    if method not in DOMAINS and (weights is not None or device is not None):
        raise UsageError(f"--weights and --device are of learned solvers: --method {', '.join(DOMAINS)}")
    if cores is not None and method != "cp-sat":
        raise UsageError("--cores: the other methods use one core; it is for --method cp-sat")
    for path in (output, picture):
        if path is not None:
            check_writable(path)
    limits = {"time_limit": time_limit, "work": work, "suite": suite, "sandbox": sandbox}
    if cores is not None:
        limits["evaluators"] = options.thread_count(cores)
    learned = None if method not in DOMAINS else Weights(weights, device or "cpu")
    is_outside = method == "cp-sat" or learned is not None
    with take_worker(None if is_outside else sandbox) as zygote:
        solved = _solve(
            domain, instance, url, run_id, method or "safe", limits, seed, data_dir, picture, zygote, learned
        )
    startup_s = max(time.perf_counter() - start - solved.elapsed_s, 0.0)
    if output is not None:
        write_file(output, solved.solution_text)
    if picture is not None:
        from dga2d.domains.core.registry import get_domain
        from dga2d.runtime.runs.solving import draw

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


def _solve(
    domain: str,
    instance: str,
    url: str,
    run_id: str | None,
    method: Method,
    limits: dict[str, Any],
    seed: int,
    data_dir: Path | None,
    picture: Path | None,
    zygote: Zygote | None,
    learned: Weights | None,
) -> Solved:
    from dga2d.runtime.runs.problem import settings_for
    from dga2d.runtime.runs.solving import check_picture, solve_instance

    if picture is not None:
        check_picture(picture)
    settings = settings_for(domain, {}, limits)
    announce = status_line()

    def warn(text: str) -> None:
        announce("")
        click.echo(f"dga2d: {printable(text)}", err=True)

    arguments = (domain, instance, url, run_id, method, settings, seed, data_dir, announce, warn, zygote)
    try:
        return options.run_async(solve_instance, *arguments, learned)
    finally:
        announce("")


def _view(solved: Solved) -> dict[str, Any]:
    from dga2d.runtime.inspection.measures import percent

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
        "fallback": solved.fallback,
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
@options.run_argument
@options.file_option("-o", "--output", help="File to write; solver.py by default.")
@options.folder_option(
    "--package",
    "folder",
    help="Write a package that pip installs, with metadata and tests, into a new folder instead.",
)
@click.option(
    "--checkpoint", "choice", flag_value="checkpoint", help="The best validated algorithm (the default)."
)
@click.option("--best", "choice", flag_value="best", help="The best algorithm on the training batch.")
@click.option(
    "--generation", type=click.IntRange(0), metavar="N", help="As the run stood when generation N had closed."
)
@options.domain_path_option
@options.store_option
@options.json_option
def solver(
    run: str,
    output: Path | None,
    folder: Path | None,
    choice: Choice | None,
    generation: int | None,
    url: str,
    as_json: bool,
) -> None:
    """Export the best validated algorithm of RUN: FILE needs numpy and numba only.

    \b
    Examples:
      dga2d solver jsp-k3v9q2 -o solver.py
      dga2d solver jsp-k3v9q2 --best --generation 20 --package jsp-solver
      python solver.py INSTANCE --time-limit 10 -o SOLUTION
    """
    from dga2d.domains.budget import bounded_shares
    from dga2d.domains.core.registry import get_domain
    from dga2d.runtime.inspection.measures import percent
    from dga2d.runtime.inspection.views import pipeline_text
    from dga2d.runtime.solver_export import export_solver, write_package

    if output is not None and folder is not None:
        raise UsageError("--output and --package exclude each other: a file or a package?")
    target = output or Path("solver.py")
    if folder is None:
        check_writable(target)
    exported = options.run_async(export_solver, url, run, datetime.now(UTC), choice, generation)
    if folder is None:
        write_file(target, exported.text)
    else:
        write_package(folder, get_domain(exported.domain), exported)
        target = folder
    parts = bounded_shares(exported.shares)
    if as_json:
        print_json(
            {
                "run": run,
                "output": str(target),
                "generation": exported.generation,
                "pipeline": list(exported.operators),
                "budget_percent": [percent(part) for part in parts],
                "origin": exported.origin,
                "results": list(exported.results),
                "head_hash": exported.head_hash,
            }
        )
    else:
        click.echo(target)
        for fact in (pipeline_text(exported.operators, parts), exported.origin, *exported.results):
            click.echo(f"  {fact}")
