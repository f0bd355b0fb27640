"""``evolve``, ``resume``, ``fork`` and ``test``: commands that write to a log."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli.completion import domain_argument, run_argument
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
from dga2d.runtime.shown_text import shown

if TYPE_CHECKING:
    from dga2d.runtime.interruption import Interruption
    from dga2d.runtime.progress import Progress
    from dga2d.runtime.sessions import Finished


@click.command(short_help="Start a run: evolve a solver for DOMAIN.")
@domain_argument
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

    report = _report_choice(report_file, no_report)
    settings = settings_from(flags, config_file, assignments)
    name = None if run_id is None else RunId(run_id)

    async def start(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime import sessions

        return await sessions.evolve(url, domain, settings, seed, data_dir, watcher, name, stop=stop)

    finished = _follow(start, quiet, as_json)
    if and_test and finished.state.status == "completed":
        finished = _hold_out(url, finished.run_id, quiet, as_json, force=False, data_dir=data_dir)
    return _conclude(finished, url, report, as_json)


@click.command(short_help="Go on with a run that was stopped, or extend it.")
@run_argument
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

    report = _report_choice(report_file, no_report)
    changed = given_settings(flags, config_file, assignments)

    async def go_on(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime import sessions

        return await sessions.resume(
            url, RunId(run), watcher, changed, data_dir, accept_code_change, rebuild_policy, stop=stop
        )

    return _conclude(_follow(go_on, quiet, as_json, f"dga2d resume {run}"), url, report, as_json)


@click.command(short_help="Begin a new run at a closed generation of another one.")
@run_argument
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
    import anyio

    from dga2d.events import RunId
    from dga2d.runtime.forking import Fork, fork_run, make_fork

    changed = given_settings({}, config_file, assignments)
    asked = Fork(RunId(run), generation, changed, None if run_id is None else RunId(run_id))
    if no_run:
        finished = anyio.run(make_fork, url, asked, accept_code_change)
        return _conclude(finished, url, lambda run: None, as_json)
    report = _report_choice(report_file, no_report)

    async def go_on(watcher: Progress, stop: Interruption) -> Finished:
        return await fork_run(url, asked, watcher, data_dir, accept_code_change, rebuild_policy, stop=stop)

    return _conclude(_follow(go_on, quiet, as_json), url, report, as_json)


@click.command(name="test", short_help="Evaluate a run's best algorithm once on held-out instances.")
@run_argument
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
    finished = _hold_out(url, run, quiet, as_json, force, data_dir, accept_code_change)
    return _conclude(finished, url, report, as_json)


def _hold_out(
    url: str,
    run: str,
    quiet: bool,
    as_json: bool,
    force: bool,
    data_dir: Path | None,
    accept_code_change: bool = False,
) -> Finished:
    from dga2d.events import RunId

    async def evaluate(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime import sessions

        return await sessions.hold_out_test(
            url, RunId(run), watcher, force, data_dir, accept_code_change, stop=stop
        )

    return _follow(evaluate, quiet, as_json, f"dga2d test {run}")


Session = Callable[["Progress", "Interruption"], Awaitable["Finished"]]


def _follow(session: Session, quiet: bool, as_json: bool, go_on: str | None = None) -> Finished:
    """Show what `session` does until it is over or a signal ends it; `go_on` is the command to go on with.

    A session imports what is heavy itself, so that a signal finds somebody who answers it.

    Raises
    ------
    StoppedWhileStartingError
        A signal came before the agents began to work.
    """
    import anyio

    from dga2d.runtime.interruption import Interrupted, Interruption, StoppedWhileStartingError
    from dga2d.runtime.progress import progress

    async def interruptible() -> Finished | None:
        with anyio.CancelScope() as scope, stop.cancels(scope):
            return await session(watcher, stop)
        return None

    with progress(quiet, as_json) as watcher:
        stop = Interruption(watcher, go_on)
        finished = None
        with stop.handles_signals(), suppress(Interrupted):
            finished = anyio.run(interruptible)
    if finished is None:
        raise StoppedWhileStartingError(stop.signal_name or "a signal", stop.go_on)
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
    is_stopped = spent or not reached_end or _has_open_test(view)
    return int(ExitCode.STOPPED if is_stopped else ExitCode.OK)


def _has_open_test(view: dict[str, Any]) -> bool:
    return view.get("test") is not None and not view["test"]["finished"]


def _print_summary(view: dict[str, Any]) -> None:
    click.echo(f"run          {view['run']}  ({view['status']}: {shown(view['reason'])})")
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
    if _has_open_test(view):
        click.echo(f"resume with  dga2d test {view['run']} --store {view['store']}")
    elif view["status"] in ("paused", "failed"):
        click.echo(f"resume with  dga2d resume {view['run']} --store {view['store']}")
