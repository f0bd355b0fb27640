"""``compare``: several runs by their held-out tests."""

from __future__ import annotations

from typing import Any

import click

from dga2d.runtime.cli.options import complete_runs, json_option, store_option
from dga2d.runtime.inspection.measures import Measure, measure_in
from dga2d.runtime.terminal.output import print_json, print_table


@click.command(short_help="Compare runs by their held-out tests, pair by pair.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@store_option
@json_option
def compare(runs: tuple[str, ...], url: str, as_json: bool) -> None:
    """Compare the algorithms of RUNs, and their baselines, on the instances that all were tested on.

    Nothing is evaluated: every RUN must have had its test (`dga2d evolve --test`, `dga2d test`). Domain,
    instances and budget per instance have to be the same. Differences are tested pair by pair, by Student's
    and Wilcoxon's tests together, with Holm's correction for their number.

    \b
    Examples:
      dga2d compare tsp-eoh-1 tsp-dga2d-1
      dga2d compare a b c --json
    """
    import anyio

    from dga2d.runtime.inspection.comparing import read_comparison

    view = anyio.run(read_comparison, url, tuple(dict.fromkeys(runs)))
    if as_json:
        print_json(view)
        return
    count = view["instances"]
    click.echo(f"{view['domain']}, {count} held-out instances, {view['budget']} per instance\n")
    measure = measure_in(view)
    _print_algorithms(view["algorithms"], measure)
    click.echo()
    _print_pairs(view["pairs"], measure)


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
