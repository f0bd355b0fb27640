"""``study``: many runs of one plan, and what they found together."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.errors import ExitCode, UsageError
from dga2d.runtime.terminal.output import (
    check_writable,
    print_json,
    print_table,
    printable,
    status_line,
    write_file,
)

if TYPE_CHECKING:
    from dga2d.runtime.study.running import Options, StudyOutcome

plan_argument = click.argument("plan", metavar="PLAN")


class StudyGroup(click.Group):
    """``study PLAN`` is ``study run PLAN``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=StudyGroup, short_help="Carry out and report many runs of one plan.")
def study() -> None:
    """Carry out a plan: domains × arms × seeds, each a run in one database, with tables of what they found.
    PLAN is a TOML file or the name of a shipped one (`dga2d study list`); `study PLAN` is `study run PLAN`.

    \b
    Examples:
      dga2d study structure-small --dry-run
      dga2d study structure-small --store studies.db --jobs 2
      dga2d study report structure-small --store studies.db -o structure.html
    """


@study.command(name="list", short_help="List the shipped plans.")
@options.json_option
def list_plans(as_json: bool) -> None:
    """List the plans that come with the program, with the table of the paper that each repeats."""
    from dga2d.runtime.study.plan import read_plan, shipped_plans

    plans = [(name, read_plan(name)) for name in shipped_plans()]
    if as_json:
        rows = [
            {"plan": name, "title": plan.title, "repeats": plan.repeats, "runs": len(plan.cells)}
            for name, plan in plans
        ]
        print_json(rows)
    else:
        print_table(
            ["plan", "runs", "title", "repeats"],
            [(name, len(plan.cells), plan.title, plan.repeats) for name, plan in plans],
        )


@study.command(short_help="Carry out a plan, or go on with it.")
@plan_argument
@click.option("--dry-run", is_flag=True, help="Only say what is left to do and what it may cost.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Runs at a time; with --on at least as many as the cluster has room for.",
)
@click.option(
    "--on",
    "place",
    metavar="ray[:HOST:PORT]",
    help="Carry the runs out on the nodes of a Ray cluster, which must all reach the database.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0, min_open=True),
    metavar="USD",
    help="Begin no further run once the runs have cost so much.",
)
@click.option("--quiet", "-q", is_flag=True, help="No progress on stderr.")
@options.data_option
@options.store_option
@options.json_option
def run(
    plan: str,
    dry_run: bool,
    jobs: int,
    place: str | None,
    max_cost: float | None,
    quiet: bool,
    data_dir: Path | None,
    url: str,
    as_json: bool,
) -> int:
    """Carry out what is left of PLAN. Tested runs are not repeated, begun ones are resumed; after an
    interruption the same command goes on.
    """
    from dga2d.runtime.cluster.connection import named_cluster
    from dga2d.runtime.study.cells import estimate, measure_work_budgets, read_progress
    from dga2d.runtime.study.plan import read_plan
    from dga2d.runtime.study.running import Options

    cluster = None if place is None else named_cluster(place, "--on")
    found = read_plan(plan)
    progress = options.run_async(read_progress, url, found)

    def announce(text: str) -> None:
        if not quiet:
            click.echo(printable(text), err=True)

    if dry_run:
        measured = options.run_async(measure_work_budgets, found, progress, data_dir, announce)
        expected = estimate(found, progress, jobs, measured)
        cells = [one.view() for one in progress]
        _show({"plan": found.name, "estimate": expected, "cells": cells}, as_json)
        return ExitCode.OK
    asked = Options(url, data_dir, jobs, max_cost, _domain_paths(), cluster)
    outcome = _carried_out(found, asked, announce)
    cells = [one.view() for one in outcome.cells]
    view = {"plan": found.name, "cells": cells, "failures": outcome.failures, "stopped": outcome.stopped}
    _show(view, as_json)
    return outcome.exit_code


def _domain_paths() -> tuple[Path, ...]:
    return tuple(click.get_current_context().meta.get(options.GIVEN_PATHS_KEY, ()))


def _carried_out(plan: Any, asked: Options, announce: Any) -> StudyOutcome:
    from dga2d.runtime.study.running import run_study

    return options.run_async(functools.partial(run_study, plan, asked, announce))


def _show(view: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(view)
        return
    print_table(
        ["domain", "arm", "seed", "status", "calls", "cost, $", "seconds"],
        [
            (c["domain"], c["arm"], c["seed"], c["status"], c["calls"], c["cost_usd"], c["seconds"])
            for c in view["cells"]
        ],
    )
    if "estimate" in view:
        for line in _estimate_lines(view["estimate"]):
            click.echo(line)
    for name, why in view.get("failures", {}).items():
        click.echo(f"{name}: {printable(why)}", err=True)
    if view.get("stopped"):
        click.echo(f"stopped: {view['stopped']}", err=True)


def _estimate_lines(view: dict[str, Any]) -> list[str]:
    from dga2d.runtime.runs.estimate import hours_in_words

    money = "no limit" if view["money_usd"] is None else f"{view['money_usd']:g} US dollars at most"
    tokens = "no limit" if view["tokens"] is None else f"{view['tokens']} at most"
    hours = view["hours"]
    time = "known when the first run has ended" if hours is None else f"about {hours_in_words(hours)}"
    return [
        f"left      {view['runs']} runs, about {view['evaluations']} evaluations and the held-out tests",
        f"calls     {view['calls']} at most",
        f"tokens    {tokens}",
        f"money     {money}",
        f"time      {time}",
    ]


@study.command(short_help="Report what a plan's runs found.")
@plan_argument
@options.file_option(
    "-o",
    "--output",
    help="Write here: .md, .html, .tex or .csv by its ending; Markdown on stdout by default. CSV holds one "
    "table a file: beside FILE stand FILE-resources.csv, -course.csv, -groups.csv and -seconds.csv.",
)
@options.folder_option(
    "--figures",
    "folder",
    help="Write convergence and performance profiles here, PNG and SVG (needs matplotlib).",
)
@options.data_option
@options.store_option
@options.json_option
def report(
    plan: str, output: Path | None, folder: Path | None, data_dir: Path | None, url: str, as_json: bool
) -> int:
    """Report the held-out figures of PLAN's tested runs: mean ± standard deviation over seeds, the best of
    each domain, paired tests against the plan's reference arm, what the runs used, and figures by group or
    budget where the plan tests on further ones. Exit code 1 while runs are missing.
    """
    from dga2d.runtime.study.breakdowns import by_group, by_seconds, part_view, resource_view, resources
    from dga2d.runtime.study.plan import read_plan
    from dga2d.runtime.study.results import read_results, row_view
    from dga2d.runtime.study.tables import FORMATS, further_csv, markdown

    kind = "md" if output is None else output.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(f"-o {output}: expected a name that ends in {', '.join(f'.{k}' for k in FORMATS)}")
    if output is not None:
        check_writable(output)
    results = options.run_async(read_results, url, read_plan(plan))
    if results.plan.solvers and results.results:  # all other gaps are in the logs
        from dga2d.runtime.study.solvers import add_solvers

        announce = status_line()
        try:
            results = options.run_async(add_solvers, url, results, data_dir, announce)
        finally:
            announce("")
    files: list[Path] = []
    if folder is not None:
        from dga2d.runtime.errors import require_package
        from dga2d.runtime.study.figures import write_figures

        require_package("matplotlib", "figures", "--figures")
        files = write_figures(results, folder)
    if output is not None:
        texts = {output: FORMATS[kind](results)}
        for name, text in further_csv(results).items() if kind == "csv" else ():
            texts[output.with_stem(f"{output.stem}-{name}")] = text
        for path, text in texts.items():
            write_file(path, text)
        files = [*texts, *files]
    if as_json:
        view = {
            "plan": results.plan.name,
            "is_complete": results.is_complete,
            "rows": [row_view(row) for row in results.rows],
            "groups": [part_view(part) for part in by_group(results)],
            "seconds": [part_view(part) for part in by_seconds(results)],
            "resources": [resource_view(row) for row in resources(results)],
            "trainings": dict(results.trainings),
            "files": [str(file) for file in files],
        }
        print_json(view)
    elif files:
        for file in files:
            click.echo(file)
    else:
        click.echo(markdown(results), nl=False)
    return ExitCode.OK if results.is_complete else ExitCode.DIFFERENCE
