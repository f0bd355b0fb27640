"""``evolve``, ``resume``, ``fork`` and ``test``: commands that write to a log."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli.options import (
    accept_code_option,
    data_option,
    given_settings,
    json_option,
    log_options,
    quiet_option,
    report_option,
    settings_from,
    settings_options,
    store_option,
)
from dga2d.runtime.cli.output import check_writable, gap_text, print_json, write_file
from dga2d.runtime.errors import ExitCode

if TYPE_CHECKING:
    from dga2d.runtime.sessions import Finished
    from dga2d.runtime.supervisor import Watcher


@click.command(short_help="Start a run: evolve a solver for DOMAIN.")
@click.argument("domain")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--run-id", metavar="NAME", help="Name of the run; a fresh one by default.")
@click.option("--test", "and_test", is_flag=True, help="Finish with the held-out test.")
@settings_options
@data_option
@store_option
@report_option
@quiet_option
@json_option
@log_options
def evolve(
    domain: str,
    seed: int,
    run_id: str | None,
    and_test: bool,
    config_file: Path | None,
    assignments: tuple[str, ...],
    data_dir: Path | None,
    url: str,
    report_file: Path | None,
    no_report: bool,
    quiet: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Evolve a solver program for DOMAIN (see `dga2d domains`).

    \b
    Examples:
      dga2d evolve jsp --generations 10 --time-limit 1 --seed 1
      dga2d evolve tsp --work 20000 --generations 5 --test
      dga2d evolve jsp --config night.toml --data benchmarks/
    """
    from dga2d.events import RunId
    from dga2d.runtime.sessions import evolve as start

    report = _report_choice(report_file, no_report)
    settings = settings_from(flags, config_file, assignments)
    name = None if run_id is None else RunId(run_id)
    finished = _in_loop(start, url, domain, settings, seed, data_dir, _watcher(quiet), name)
    if and_test and finished.state.status == "completed":
        finished = _hold_out(url, finished.run_id, quiet, force=False, data_dir=data_dir)
    return _conclude(finished, url, report, as_json)


@click.command(short_help="Go on with a run that was stopped, or extend it.")
@click.argument("run")
@settings_options
@data_option
@store_option
@accept_code_option
@click.option(
    "--rebuild-policy",
    is_flag=True,
    help="Make the policy's updates again from the log instead of loading its saved files.",
)
@report_option
@quiet_option
@json_option
@log_options
def resume(
    run: str,
    config_file: Path | None,
    assignments: tuple[str, ...],
    data_dir: Path | None,
    url: str,
    accept_code_change: bool,
    rebuild_policy: bool,
    report_file: Path | None,
    no_report: bool,
    quiet: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Go on with RUN from its last event. Settings given here hold from now on.

    \b
    Examples:
      dga2d resume jsp-k3v9q2
      dga2d resume jsp-k3v9q2 --generations 100
    """
    from dga2d.events import RunId
    from dga2d.runtime.sessions import resume as go_on

    report = _report_choice(report_file, no_report)
    changed = given_settings(flags, config_file, assignments)
    finished = _in_loop(
        go_on, url, RunId(run), _watcher(quiet), changed, data_dir, accept_code_change, rebuild_policy
    )
    return _conclude(finished, url, report, as_json)


@click.command(short_help="Begin a new run at a closed generation of another one.")
@click.argument("run")
@click.option("--generation", type=click.IntRange(0), required=True, help="Last generation the two share.")
@click.option("--run-id", metavar="NAME", help="Name of the fork; a fresh one by default.")
@click.option("--no-run", is_flag=True, help="Only make the fork; `dga2d resume` goes on with it.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, in TOML notation."
)
@click.option(
    "--config", "config_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML file of settings."
)
@data_option
@store_option
@accept_code_option
@click.option(
    "--rebuild-policy",
    is_flag=True,
    help="Make the policy's updates again from the log instead of loading its saved files.",
)
@report_option
@quiet_option
@json_option
@log_options
def fork(
    run: str,
    generation: int,
    run_id: str | None,
    no_run: bool,
    assignments: tuple[str, ...],
    config_file: Path | None,
    data_dir: Path | None,
    url: str,
    accept_code_change: bool,
    rebuild_policy: bool,
    report_file: Path | None,
    no_report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Begin a new run that shares the first events of RUN, up to a closed generation, without copying them.

    \b
    Examples:
      dga2d fork jsp-k3v9q2 --generation 20 --set evolution=false
      dga2d fork jsp-k3v9q2 --generation 0 --set structure='"dg"' --run-id again
    """
    from dga2d.events import RunId
    from dga2d.runtime.forking import Fork, fork_run, make_fork

    changed = given_settings({}, config_file, assignments)
    asked = Fork(RunId(run), generation, changed, None if run_id is None else RunId(run_id))
    if no_run:
        finished = _in_loop(make_fork, url, asked, accept_code_change)
        return _conclude(finished, url, lambda run: None, as_json)
    report = _report_choice(report_file, no_report)
    finished = _in_loop(fork_run, url, asked, _watcher(quiet), data_dir, accept_code_change, rebuild_policy)
    return _conclude(finished, url, report, as_json)


@click.command(name="test", short_help="Evaluate a run's best algorithm once on held-out instances.")
@click.argument("run")
@click.option("--force", is_flag=True, help="Test again; the log will say so.")
@data_option
@store_option
@accept_code_option
@report_option
@quiet_option
@json_option
@log_options
def hold_out(
    run: str,
    force: bool,
    data_dir: Path | None,
    url: str,
    accept_code_change: bool,
    report_file: Path | None,
    no_report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Evaluate the best validated algorithm of RUN, beside the safe baseline, on the held-out split."""
    report = _report_choice(report_file, no_report)
    finished = _hold_out(url, run, quiet, force, data_dir, accept_code_change)
    return _conclude(finished, url, report, as_json)


COMMANDS = (evolve, resume, fork, hold_out)


def _hold_out(
    url: str,
    run: str,
    quiet: bool,
    force: bool,
    data_dir: Path | None,
    accept_code_change: bool = False,
) -> Finished:
    from dga2d.events import RunId
    from dga2d.runtime.sessions import hold_out_test

    return _in_loop(hold_out_test, url, RunId(run), _watcher(quiet), force, data_dir, accept_code_change)


def _watcher(quiet: bool) -> Watcher:
    from dga2d.runtime.progress import ProgressLines, silent

    return silent if quiet else ProgressLines()


def _in_loop(function: Any, *args: Any) -> Finished:
    import anyio

    finished: Finished = anyio.run(functools.partial(function, *args))
    return finished


def _report_choice(path: Path | None, no_report: bool) -> Callable[[str], Path | None]:
    """Where the report of a run goes, by the run's name; a file that cannot be written is an error now."""
    if no_report:
        return lambda run: None
    check_writable(path or Path("report.html"))
    return lambda run: path or Path(f"{run}.html")


def _write_report(finished: Finished, url: str, path: Path | None) -> None:
    from dga2d.runtime.report import read_story, render_html

    if path is not None:
        import anyio

        story = anyio.run(functools.partial(read_story, url, finished.run_id))
        write_file(path, render_html(story))


def _conclude(finished: Finished, url: str, report: Callable[[str], Path | None], as_json: bool) -> int:
    from dga2d.runtime.views import history_view, ledger_view, program_view, test_view

    state = finished.state
    path = report(finished.run_id)
    _write_report(finished, url, path)
    view = {
        "run": finished.run_id,
        "status": state.status,
        "reason": state.reason,
        "store": url,
        "generations": state.completed,
        "best": program_view(state, state.best),
        "checkpoint": program_view(state, state.checkpoint),
        "test": test_view(state),
        "ledger": ledger_view(state.ledger),
        "history": history_view(state),
        "head_hash": finished.head_hash,
        "report": None if path is None else str(path),
    }
    if as_json:
        print_json(view)
    else:
        _print_summary(view)
    return exit_code(view)


def exit_code(view: dict[str, Any]) -> int:
    """0 for a run that did all it was asked, 3 for one that stopped on a limit or was interrupted."""
    reached_end = view["status"] == "completed" and str(view["reason"]).startswith("all ")
    spent = "model calls" in str(view["reason"])
    return int(ExitCode.OK if reached_end and not spent else ExitCode.STOPPED)


def _print_summary(view: dict[str, Any]) -> None:
    click.echo(f"run          {view['run']}  ({view['status']}: {view['reason']})")
    for label, key in (("best", "best"), ("checkpoint", "checkpoint")):
        program = view[key]
        if program is not None:
            names = " → ".join(step["operator"] for step in program["pipeline"])
            split = "training batch" if key == "best" else "validation"
            click.echo(f"{label:<12} gap {gap_text(program['gap_percent'])} on the {split}: {names}")
    test = view["test"]
    if test is not None and test["finished"]:
        gaps = test["gap_percent"]
        click.echo(
            f"held-out     safe baseline {gap_text(gaps['baseline'])}, evolved {gap_text(gaps['evolved'])} "
            f"({test['instances']} instances)"
        )
    ledger = view["ledger"]
    per_purpose = ", ".join(
        f"{purpose} {row['calls']} ({row['accepted']} accepted)"
        for purpose, row in ledger["by_purpose"].items()
    )
    click.echo(f"model calls  {ledger['used']} of {ledger['limit']}: {per_purpose or 'none'}")
    if view["report"] is not None:
        click.echo(f"report       {view['report']}")
    click.echo(f"log          {view['store']}, head {view['head_hash']}")
    if view["status"] in ("paused", "failed"):
        click.echo(f"resume with  dga2d resume {view['run']} --store {view['store']}")
