"""Display of a command that writes to a log: its progress, and its outcome and report at the end."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from dga2d.runtime.cli.options import json_option, log_options, quiet_option, report_option, run_async
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.notify import check_targets, notify
from dga2d.runtime.terminal.output import check_writable, print_json, print_table, printable, write_file
from dga2d.store import shown_url

if TYPE_CHECKING:
    from dga2d.runtime.runs.interruption import Interruption
    from dga2d.runtime.runs.sessions import Finished
    from dga2d.runtime.terminal.progress import Progress

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class DisplayOptions:
    """What the user wants to see."""

    report_file: Path | None
    """Where the report goes; ``None``: RUN.html in the working directory."""
    has_report: bool
    quiet: bool
    """No progress on stderr."""
    as_json: bool
    """The outcome as JSON on stdout."""
    max_hours: float | None = None
    """Wall-clock hours after which the run is paused."""
    notify: tuple[str, ...] = ()
    """URLs and commands that are told of the end."""

    def check_report(self) -> None:
        """Refuse a report that could not be written, before anything is done."""
        if self.has_report:
            check_writable(self.report_file or Path("report.html"))

    def report_path(self, run: str) -> Path | None:
        """Return where the report of `run` goes; ``None`` for nowhere."""
        return (self.report_file or Path(f"{run}.html")) if self.has_report else None


def display_options(command: Command) -> Command:
    """Add the options on reports, progress, JSON and log lines, which the command takes as ``show``."""

    @functools.wraps(command)
    def with_display(
        *args: Any,
        report_file: Path | None,
        no_report: bool,
        quiet: bool,
        as_json: bool,
        max_hours: float | None,
        notify: tuple[str, ...],
        **kwargs: Any,
    ) -> Any:
        show = DisplayOptions(report_file, not no_report, quiet, as_json, max_hours, notify)
        return command(*args, show=show, **kwargs)

    options = (_max_hours_option, _notify_option, report_option, quiet_option, json_option, log_options)
    decorated: Any = with_display
    for option in reversed(options):
        decorated = option(decorated)
    return cast("Command", decorated)


_max_hours_option = click.option(
    "--max-hours",
    type=click.FloatRange(0, min_open=True),
    metavar="HOURS",
    help="Pause the run after so many hours by the clock; `dga2d resume` goes on.",
)
_notify_option = click.option(
    "--notify",
    multiple=True,
    metavar="URL|COMMAND",
    help="Tell this address (a POST with JSON) or program of the end, a pause or a failure.",
)


Session = Callable[["Progress", "Interruption"], Awaitable["Finished"]]


def follow(session: Session, show: DisplayOptions, go_on: str | None = None) -> Finished:
    """Show what `session` does until it ends or a signal ends it; `go_on` is the command that continues it.

    A session imports what is heavy itself, so that signals are handled meanwhile.

    Raises
    ------
    StoppedWhileStartingError
        A signal came before the agents began to work.
    """
    import anyio

    from dga2d.runtime.runs.interruption import Interrupted, Interruption, StoppedWhileStartingError
    from dga2d.runtime.terminal.progress import show_progress

    show.check_report()
    check_targets(show.notify)

    async def interruptible() -> Finished | None:
        with anyio.CancelScope() as scope, stop.cancels(scope):
            return await session(watcher, stop)
        return None

    with show_progress(show.quiet, show.as_json) as watcher:
        stop = Interruption(watcher, go_on)
        finished = None
        with (
            _telling_of_failure(show, go_on),
            stop.handles_signals(),
            stop.after_hours(show.max_hours),
            suppress(Interrupted),
        ):
            finished = run_async(interruptible)
    if finished is None:
        raise StoppedWhileStartingError(stop.signal_name or "a signal", stop.go_on)
    return finished


@contextmanager
def _telling_of_failure(show: DisplayOptions, go_on: str | None) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        run = "" if go_on is None else go_on.rpartition(" ")[2]
        reason = f"{type(error).__name__}: {error}"
        _tell(show, {"run": run, "status": "failed", "reason": reason, "verdict": None})
        raise


def _tell(show: DisplayOptions, facts: dict[str, Any]) -> None:
    for problem in notify(show.notify, facts):
        click.echo(f"warning: {problem}", err=True)


def _write_report(finished: Finished, url: str, path: Path) -> None:
    from dga2d.runtime.report import read_report_data, render_html

    write_file(path, render_html(run_async(read_report_data, url, finished.run_id)))


def _read_results(finished: Finished, url: str) -> dict[str, Any]:
    from dga2d.runtime.inspection.verdict import Achievement, read_achievement
    from dga2d.runtime.inspection.views import results_view
    from dga2d.store import open_store

    async def read() -> Achievement:
        async with open_store(url, create=False, read_only=True) as store:
            return await read_achievement(store, finished.run_id, finished.state)

    return results_view(finished.state, run_async(read))


def _read_failures(finished: Finished, url: str) -> str | None:
    """Return why every candidate of the run failed; ``None`` if one did not."""
    from dga2d.runtime.inspection.views import Failures, all_failed
    from dga2d.runtime.report.data import read_run
    from dga2d.store import open_store

    async def read() -> str | None:
        async with open_store(url, create=False, read_only=True) as store:
            _, notes = await read_run(store, finished.run_id)
        failures = Failures()
        for _, found in notes.evaluations:
            if found.split == "train" and found.failure is not None:
                failures.note(found.failure, found.diagnostic, found.instance)
        return failures.sentence(1, 1)

    return run_async(read) if all_failed(finished.state) else None


def conclude(finished: Finished, url: str, show: DisplayOptions) -> int:
    """Write the report and print the result; return the exit code."""
    from dga2d.runtime.inspection.call_views import ledger_view
    from dga2d.runtime.inspection.views import history_view

    state = finished.state
    path = show.report_path(finished.run_id)
    if path is not None:
        _write_report(finished, url, path)
    view = {
        "run": finished.run_id,
        "status": state.status,
        "reason": state.reason,
        "store": shown_url(url),
        "generations": state.completed,
        **_read_results(finished, url),
        "failed": _read_failures(finished, url),
        "ledger": ledger_view(state),
        "history": history_view(state),
        "head_hash": finished.head_hash,
        "report": None if path is None else str(path),
    }
    if show.as_json:
        print_json(view)
    else:
        _print_summary(view)
    verdict = None if view["verdict"] is None else view["verdict"]["sentence"]
    _tell(show, {key: view[key] for key in ("run", "status", "reason", "store")} | {"verdict": verdict})
    return exit_code(view)


ALL_DONE = (" generations done", " calls made")
"""How the reasons end of runs that did all that was asked; the second is that of methods of programs."""


def exit_code(view: dict[str, Any]) -> int:
    """Return 0 for a run that did all that was asked, 3 for one that hit a limit, was interrupted, or scored
    no candidate.
    """
    reached_end = view["status"] == "completed" and str(view["reason"]).endswith(ALL_DONE)
    is_stopped = not reached_end or _has_open_test(view) or view.get("failed") is not None
    return int(ExitCode.STOPPED if is_stopped else ExitCode.OK)


def _has_open_test(view: dict[str, Any]) -> bool:
    return view.get("test") is not None and not view["test"]["finished"]


def print_results(view: dict[str, Any]) -> None:
    """Print the verdict, the best programs and the held-out test of a view that has them."""
    from dga2d.runtime.inspection.measures import SCORE, measure_in
    from dga2d.runtime.inspection.views import algorithm_text, figure_text, test_texts

    if view["verdict"] is not None:
        click.echo(f"verdict      {view['verdict']['sentence']}")
    for key, split in (("best", "training batch"), ("checkpoint", "validation split")):
        program = view[key]
        if program is not None:
            figure = f"{measure_in(program).word} {figure_text(program)}"
            click.echo(f"{key:<12} {figure} on the {split}: {algorithm_text(program)}")
    if (incumbent := view["incumbent"]) is not None:
        races = f"won {incumbent['won']} of {incumbent['races']} races"
        since = f", the last in generation {incumbent['generation']}" if incumbent["generation"] else ""
        screens = f"; {count} more asked what its parts are worth" if (count := incumbent["screens"]) else ""
        click.echo(f"incumbent    contenders {races}{since}{screens}: {algorithm_text(incumbent)}")
    if measure_in(view) is SCORE:
        click.echo(f"scores       {SCORE.better}")
    elif "baseline" in view["gaps_against"]:
        click.echo(f"gaps         are to {view['gaps_against']}: below 0 is better")
    if view["test"] is not None and view["test"]["finished"]:
        figures = test_texts(view["test"])
        is_kept = view["verdict"] is not None and view["verdict"]["outcome"] == "baseline kept"
        evolved = "" if is_kept else f"evolved {figures['evolved']}, "
        yardstick = f", hand-tuned baseline {figures['hand_tuned']}" if "hand_tuned" in figures else ""
        click.echo(f"held-out     {evolved}safe baseline {figures['baseline']}{yardstick}")


def _print_summary(view: dict[str, Any]) -> None:
    click.echo(f"run          {view['run']}  ({view['status']}: {printable(view['reason'])})")
    if view["failed"] is not None:
        click.echo(f"failed       {printable(view['failed'])}")
    print_results(view)
    ledger = view["ledger"]
    per_purpose = ", ".join(
        f"{purpose} {row['calls']} ({row['accepted']} accepted)"
        for purpose, row in ledger["by_purpose"].items()
    )
    click.echo(f"model calls  {ledger['used']} of {ledger['limit']}: {per_purpose or 'none'}")
    if (banked := ledger["bank"]["sentence"]) is not None:
        click.echo(f"bank         {banked}")
    if (matched := ledger["recorded"]["sentence"]) is not None:
        click.echo(f"recorded     {matched}")
    if (share := ledger["trials"]["tried_share"]) is not None:
        click.echo(f"tried        {100 * share:.0f} % of the calls for code and edges led to a trial")
    sentence = view["ledger"]["rejections"]["sentence"]
    if sentence is not None and sentence != view["reason"]:
        click.echo(f"rejected     {printable(sentence)}")
    if view["report"] is not None:
        click.echo(f"report       {view['report']}")
    click.echo(f"log          {view['store']}, head {view['head_hash']}")
    if _has_open_test(view):
        click.echo(f"resume with  dga2d test {view['run']} --store {view['store']}")
    elif view["status"] in ("paused", "failed"):
        click.echo(f"resume with  dga2d resume {view['run']} --store {view['store']}")
    if view["verdict"] is not None and (conclusion := view["verdict"]["conclusion"]) is not None:
        click.echo(f"\n{conclusion}")


def print_training(view: dict[str, Any]) -> None:
    """Print the training of a learned solver (`training_view`)."""
    training = view["training"]
    budget = training["budget"]
    limits = [f"{budget[unit]:g} {unit}" for unit in ("steps", "hours") if budget[unit] is not None]
    click.echo(f"run          {view['run']}  {view['domain']}, seed {view['seed']}, event {view['seq']}")
    click.echo(f"status       {view['status']}{': ' + printable(view['reason']) if view['reason'] else ''}")
    click.echo(f"training     {printable(training['method'])}, {training['parameters']} parameters")
    click.echo(f"data         {printable(training['data'])}")
    click.echo(f"cost         {printable(training['cost'])}")
    click.echo(f"budget       {' or '.join(limits)}, on {printable(', then '.join(training['devices']))}")
    click.echo(f"weights      {training['weights'] or 'not written yet'}")
    if training["curve"]:
        click.echo()
        keys = ("step", "instances", "seconds", "cpu_seconds", "cost", "validation")
        rows = [[_round(point[key]) for key in keys] for point in training["curve"]]
        print_table(("step", "instances", "seconds", "CPU s", "cost", "validation"), rows)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
