"""``evolve``, ``resume``, ``fork`` and ``test``: commands that write to a log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.cli.run_display import DisplayOptions, conclude, display_options, follow
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.output import print_json

if TYPE_CHECKING:
    from dga2d.runtime.runs.interruption import Interruption
    from dga2d.runtime.runs.sessions import Finished
    from dga2d.runtime.terminal.progress import Progress


hand_tuned_option = click.option(
    "--hand-tuned",
    is_flag=True,
    help="Test the whole library's safe baseline too, where the run began with another (--library basic).",
)


@click.command(cls=options.GroupedCommand, short_help="Start a run: evolve a solver for DOMAIN.")
@options.domain_argument
@options.seed_option
@click.option("--run-id", metavar="NAME", help="Name of the run; a fresh one by default.")
@click.option("--test", "and_test", is_flag=True, help="Finish with the held-out test.")
@hand_tuned_option
@click.option("--dry-run", is_flag=True, help="Begin nothing; say what the run may cost at most.")
@options.settings_options
@options.data_option
@options.store_option
@display_options
def evolve(
    domain: str,
    seed: int,
    run_id: str | None,
    and_test: bool,
    hand_tuned: bool,
    dry_run: bool,
    config_file: Path | None,
    assignments: tuple[str, ...],
    data_dir: Path | None,
    url: str,
    show: DisplayOptions,
    **flags: Any,
) -> int:
    """Evolve a solver program for DOMAIN (see `dga2d domains`).

    \b
    Examples:
      dga2d evolve jsp --generations 10 --time-limit 1 --seed 1
      dga2d evolve tsp --work-seconds 0.25 --generations 5 --test
      dga2d evolve jsp --library basic --bank shipped --generations 4 --work 60000 --test --hand-tuned
      dga2d evolve jsp --config night.toml --data benchmarks/
    """
    from dga2d.events import RunId

    if hand_tuned and not and_test:
        raise click.UsageError("--hand-tuned is a part of the held-out test: give --test, too")
    settings = options.settings_from(flags, config_file, assignments, domain)
    if dry_run:
        return _say_what_it_may_cost(domain, seed, settings, data_dir, show.as_json)
    name = None if run_id is None else RunId(run_id)

    async def start(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime.runs import sessions

        return await sessions.evolve(url, domain, settings, seed, data_dir, watcher, name, stop=stop)

    finished = follow(start, show)
    if and_test and finished.state.status == "completed":
        finished = _hold_out(
            url, finished.run_id, show, force=False, data_dir=data_dir, hand_tuned=hand_tuned
        )
    return conclude(finished, url, show)


def _say_what_it_may_cost(domain: str, seed: int, settings: Any, data_dir: Path | None, as_json: bool) -> int:
    from dga2d.domains.core.registry import get_domain
    from dga2d.runtime.runs.estimate import estimate_run, measure_work_seconds

    get_domain(domain)  # a name that is none is said to be so
    expected = estimate_run(
        settings, work_seconds=options.run_async(measure_work_seconds, domain, settings, data_dir)
    )
    if as_json:
        plain = settings.model_dump(mode="json")
        print_json({"domain": domain, "seed": seed, "estimate": expected.view(), "settings": plain})
    else:
        click.echo("\n".join(expected.lines()))
    return ExitCode.OK


@click.command(short_help="Pause a run that another process carries out.")
@options.run_argument
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait until the run is free.",
)
@options.store_option
@options.json_option
def pause(run: str, wait: float, url: str, as_json: bool) -> None:
    """Ask the process that carries out RUN on this machine to stop at the next event, as Ctrl-C there does;
    `dga2d resume` goes on.

    \b
    Example:
      dga2d pause jsp-k3v9q2
    """
    from dga2d.runtime.runs.interruption import pause_run

    paused = options.run_async(pause_run, url, run, wait)
    if as_json:
        print_json(paused)
    else:
        click.echo(f"paused after event {paused['events']}; `dga2d resume {run}` goes on")


@click.command(cls=options.GroupedCommand, short_help="Continue a run that was stopped, or extend it.")
@options.run_argument
@options.settings_options
@options.data_option
@options.store_option
@options.accept_code_option
@options.rebuild_policy_option
@display_options
def resume(
    run: str,
    config_file: Path | None,
    assignments: tuple[str, ...],
    data_dir: Path | None,
    url: str,
    accept_code_change: bool,
    rebuild_policy: bool,
    show: DisplayOptions,
    **flags: Any,
) -> int:
    """Continue RUN from its last event. Settings given here hold from now on.

    \b
    Examples:
      dga2d resume jsp-k3v9q2
      dga2d resume jsp-k3v9q2 --generations 100
    """
    from dga2d.events import RunId

    changed = options.given_settings(flags, config_file, assignments)

    async def go_on(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime.runs import sessions

        return await sessions.resume(
            url, RunId(run), watcher, changed, data_dir, accept_code_change, rebuild_policy, stop=stop
        )

    return conclude(follow(go_on, show, f"dga2d resume {run}"), url, show)


@click.command(short_help="Begin a new run at a closed generation of another one.")
@options.run_argument
@click.option("--generation", type=click.IntRange(0), required=True, help="Last generation the two share.")
@click.option("--run-id", metavar="NAME", help="Name of the fork; a fresh one by default.")
@click.option("--no-run", is_flag=True, help="Only create the fork; `dga2d resume` continues it.")
@options.set_option
@options.file_option("--config", "config_file", help="TOML file of settings.")
@options.data_option
@options.store_option
@options.accept_code_option
@options.rebuild_policy_option
@display_options
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
    show: DisplayOptions,
) -> int:
    """Begin a new run that shares the first events of RUN, up to a closed generation, without copying them.

    \b
    Examples:
      dga2d fork jsp-k3v9q2 --generation 20 --set evolution=false
      dga2d fork jsp-k3v9q2 --generation 0 --set structure='"dg"' --run-id again
    """
    from dga2d.events import RunId
    from dga2d.runtime.runs.forking import Fork, create_fork, fork_run

    changed = options.given_settings({}, config_file, assignments)
    asked = Fork(RunId(run), generation, changed, None if run_id is None else RunId(run_id))
    if no_run:
        finished = options.run_async(create_fork, url, asked, accept_code_change)
        conclude(finished, url, replace(show, has_report=False))
        return 0  # paused, as asked for

    async def go_on(watcher: Progress, stop: Interruption) -> Finished:
        return await fork_run(url, asked, watcher, data_dir, accept_code_change, rebuild_policy, stop=stop)

    return conclude(follow(go_on, show), url, show)


@click.command(name="test", short_help="Evaluate a run's best algorithm once on held-out instances.")
@options.run_argument
@click.option("--force", is_flag=True, help="Test again; the log will say so.")
@click.option(
    "--evaluators",
    metavar="N|ray[:HOST:PORT]",
    help="Where the test is evaluated, if not where the run was: its cluster may be gone.",
)
@hand_tuned_option
@options.data_option
@options.store_option
@options.accept_code_option
@display_options
def hold_out(
    run: str,
    force: bool,
    evaluators: str | None,
    hand_tuned: bool,
    data_dir: Path | None,
    url: str,
    accept_code_change: bool,
    show: DisplayOptions,
) -> int:
    """Evaluate the best validated algorithm of RUN and the safe baseline on the held-out split."""
    finished = _hold_out(url, run, show, force, data_dir, accept_code_change, hand_tuned, evaluators)
    return conclude(finished, url, show)


def _hold_out(
    url: str,
    run: str,
    show: DisplayOptions,
    force: bool,
    data_dir: Path | None,
    accept_code_change: bool = False,
    hand_tuned: bool = False,
    evaluators: str | None = None,
) -> Finished:
    from dga2d.events import RunId

    async def evaluate(watcher: Progress, stop: Interruption) -> Finished:
        from dga2d.runtime.runs import sessions

        return await sessions.hold_out_test(
            url,
            RunId(run),
            watcher,
            force,
            data_dir,
            accept_code_change,
            hand_tuned,
            evaluators=evaluators,
            stop=stop,
        )

    return follow(evaluate, show, f"dga2d test {run}")
