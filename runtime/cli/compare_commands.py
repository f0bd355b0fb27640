"""``compare``: several runs by their held-out tests, and beside classical methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.errors import UsageError
from dga2d.runtime.inspection.measures import Measure, measure_in
from dga2d.runtime.terminal.output import print_json, print_table, status_line

if TYPE_CHECKING:
    from pathlib import Path

    from dga2d.runtime.runs.solving import Method


@click.command(short_help="Compare runs by their held-out tests, or with classical methods.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=options.complete_runs)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Solve the held-out instances here and now, S seconds each, instead of reading the tests.",
)
@click.option(
    "--method",
    "methods",
    type=click.Choice(["safe", "basic", "ils", "cp-sat"]),
    multiple=True,
    help="With --seconds, also this method (as in `dga2d solve`); may be given several times.",
)
@click.option("--cores", metavar="N|all", help="Search threads of cp-sat; 1 by default.")
@options.seed_option
@options.data_option
@options.store_option
@options.json_option
def compare(
    runs: tuple[str, ...],
    seconds: float | None,
    methods: tuple[Method, ...],
    cores: str | None,
    seed: int,
    data_dir: Path | None,
    url: str,
    as_json: bool,
) -> None:
    """Compare the algorithms of RUNs, and their baselines, on the instances that all were tested on.

    Every RUN must have had its test (`dga2d evolve --test`, `dga2d test`), on the same domain and instances.
    Their tests are compared as the logs have them, and have to be under the same budget. With --seconds,
    every algorithm and --method solves these instances again instead, side by side on this machine; the logs
    stay as they are.

    Differences are tested pair by pair, by Student's and Wilcoxon's tests together, with Holm's correction
    for their number.

    \b
    Examples:
      dga2d compare tsp-eoh-1 tsp-dga2d-1
      dga2d compare jsp-k3v9q2 --seconds 10 --method safe --method cp-sat
      dga2d compare a b c --json
    """
    if methods and seconds is None:
        raise UsageError("--method: the tests of runs are read, not made again; say --seconds, too")
    if cores is not None and "cp-sat" not in methods:
        raise UsageError("--cores: the other methods use one core; it is for --method cp-sat")
    names, rivals = tuple(dict.fromkeys(runs)), tuple(dict.fromkeys(methods))
    view = (
        _read(url, names) if seconds is None else _solve(url, names, rivals, seconds, cores, seed, data_dir)
    )
    if as_json:
        print_json(view)
        return
    count = view["instances"]
    click.echo(f"{view['domain']}, {count} held-out instances, {view['budget']} per instance\n")
    if view["references_of"] is not None:
        click.echo(f"gaps are to the references of {view['references_of']}; those of others differ\n")
    measure = measure_in(view)
    _print_algorithms(view["algorithms"], measure)
    click.echo()
    _print_pairs(view["pairs"], measure)


def _read(url: str, runs: tuple[str, ...]) -> dict[str, Any]:
    from dga2d.runtime.inspection.comparing import read_comparison

    return options.run_async(read_comparison, url, runs)


def _solve(
    url: str,
    runs: tuple[str, ...],
    methods: tuple[Method, ...],
    seconds: float,
    cores: str | None,
    seed: int,
    data_dir: Path | None,
) -> dict[str, Any]:
    from dga2d.runtime.inspection.head_to_head import Limits, solve_head_to_head

    limits = Limits(seconds, 1 if cores is None else options.thread_count(cores), seed)
    announce = status_line()
    try:
        return options.run_async(solve_head_to_head, url, runs, methods, limits, data_dir, announce)
    finally:
        announce("")


def _print_algorithms(rows: list[dict[str, Any]], measure: Measure) -> None:
    header = ("algorithm", "method", "calls", "candidates", measure.column, "95 % interval", "failed")
    print_table(
        header,
        [
            (
                row["name"],
                row["method"] or "–",
                "–" if row["calls"] is None else row["calls"],
                "–" if row["candidates"] is None else row["candidates"],
                measure.number(row["gap_percent"]) or "–",
                measure.span(row["interval_percent"]) or "–",
                row["failures"],
            )
            for row in rows
        ],
    )


def _print_pairs(rows: list[dict[str, Any]], measure: Measure) -> None:
    by = measure.gain_unit.strip() or "by"
    header = ("ahead", "of", by, "95 % interval", "won", "lost", "p", "p corrected", "different")
    print_table(
        header,
        [
            (
                row["first"],
                row["second"],
                "–" if row["points"] is None else measure.gain(row["points"], "+", 1),
                measure.gain_span(row["interval_points"], 1) or "–",
                row["won"],
                row["lost"],
                _p(row["p_value"]),
                _p(row["p_corrected"]),
                "yes" if row["is_different"] else "no",
            )
            for row in rows
        ],
    )


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
