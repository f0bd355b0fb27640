"""``log``, ``diff``, ``gc``, ``verify-store``, ``export``, ``import``: events and their database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dga2d.runtime.cli.options import json_option, run_argument, run_async, store_option
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.output import check_writable, print_json

WIDTH = 160
"""Characters of a line of ``log``."""


@click.command(short_help="List the events of a run.")
@run_argument
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only events of this type (repeatable).")
@click.option(
    "--agent", "agents", multiple=True, metavar="AGENT", help="Only what this agent wrote (repeatable)."
)
@click.option("--generation", type=click.IntRange(0), help="Only events of this generation.")
@click.option("--follow", is_flag=True, help="Keep listing events as they come, until interrupted.")
@store_option
@json_option
def log(
    run: str,
    types: tuple[str, ...],
    agents: tuple[str, ...],
    generation: int | None,
    follow: bool,
    url: str,
    as_json: bool,
) -> None:
    """List the events of RUN, one per line (with --json one JSON object per line).

    \b
    Examples:
      dga2d log jsp-k3v9q2 --type EdgeReplaced --type EdgeRejected
      dga2d log jsp-k3v9q2 --agent validator --follow
    """
    from dga2d.events import AGENT_NAMES, PAYLOAD_TYPES
    from dga2d.runtime.inspection.log_reading import EventFilter, list_events

    _refuse_unknown("type", types, PAYLOAD_TYPES)
    _refuse_unknown("agent", agents, AGENT_NAMES)
    wanted = EventFilter(types, agents, generation)
    run_async(list_events, url, run, wanted, follow, _print_json_line if as_json else _print_event)


@click.command(short_help="Show what changed between two points of a run, or between two runs.")
@run_argument
@click.argument("points", nargs=-1)
@click.option(
    "--generations", "by_generation", is_flag=True, help="Points are closed generations, not events."
)
@store_option
@json_option
def diff(run: str, points: tuple[str, ...], by_generation: bool, url: str, as_json: bool) -> None:
    """Show what changed in graph, pools, credits, budget and settings from RUN to POINTS.

    \b
    POINTS are two event numbers of RUN, one (the other is its end), or another run and,
    if not their ends are meant, an event number that holds for both:
      dga2d diff jsp-k3v9q2 120 480
      dga2d diff jsp-k3v9q2 10 20 --generations
      dga2d diff jsp-k3v9q2 jsp-m4x7aa
    """
    from dga2d.runtime.inspection.log_reading import compare

    one, other = _points(run, points)
    report = run_async(compare, url, one, other, by_generation)
    if as_json:
        print_json(report)
    else:
        _print_changes(report)


@click.command(short_help="Remove blobs that no event names.")
@click.option("--dry-run", is_flag=True, help="Only count them.")
@store_option
@json_option
def gc(dry_run: bool, url: str, as_json: bool) -> None:
    """Remove texts and solutions that no event of any run names. Events are never touched."""
    from dga2d.runtime.inspection.log_reading import collect

    report = run_async(collect, url, dry_run)
    if as_json:
        print_json(report)
    else:
        done = "would be removed" if dry_run else "removed"
        click.echo(f"{report['blobs']} blobs ({report['bytes']:,} bytes) {done}")


@click.command(name="verify-store", short_help="Check a whole database: file, guards, blobs and every run.")
@store_option
@json_option
def verify_store(url: str, as_json: bool) -> int:
    """Check the database as such, then chain, order, invariants, digests and blobs of every run."""
    from dga2d.runtime.inspection.log_reading import check_store

    rows: list[dict[str, Any]] = []

    async def check() -> None:
        async for row in check_store(url):
            rows.append(row)
            if not as_json:
                _print_part(row)

    run_async(check)
    if as_json:
        print_json(rows)
    holds = all(row["difference"] is None for row in rows)
    return ExitCode.OK if holds else ExitCode.DIFFERENCE


def _refuse_unknown(what: str, given: tuple[str, ...], known: Any) -> None:
    import difflib

    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise click.BadParameter(f"there is no {what} {name!r}; {hint}")


def _points(run: str, points: tuple[str, ...]) -> tuple[tuple[str, int | None], tuple[str, int | None]]:
    """Return the two points a command line means."""
    if not 1 <= len(points) <= 2:
        raise click.UsageError("expected one or two points, or another run")
    numbers = [int(text) if text.isascii() and text.isdigit() else None for text in points]
    if numbers[0] is None:
        if len(points) == 2 and numbers[1] is None:
            raise click.UsageError(f"{points[1]!r} is not a number")
        at = numbers[1] if len(points) == 2 else None
        return (run, at), (points[0], at)
    if len(points) == 2 and numbers[1] is None:
        raise click.UsageError(f"{points[1]!r} is not a number")
    return (run, numbers[0]), (run, numbers[1] if len(points) == 2 else None)


def _print_json_line(view: dict[str, Any]) -> None:
    click.echo(json.dumps(view, ensure_ascii=False, allow_nan=False))


def _print_event(view: dict[str, Any]) -> None:
    when = datetime.fromtimestamp(view["recorded_at"] / 1e6, UTC).strftime("%m-%d %H:%M:%S")
    generation = "" if view["generation"] is None else view["generation"]
    said = ", ".join(
        f"{key} {_short(value)}"
        for key, value in view["payload"].items()
        if key != "generation" and value is not None and value != ""
    )
    line = f"{view['seq']:>7}  {when}  {generation:>4}  {view['agent']:<21} {view['type']:<23} {said}"
    click.echo(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…")


def _short(value: Any) -> str:
    if isinstance(value, list | dict) and len(value) > 3:
        return f"({len(value)})"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 32 else text[:12] + "…"


def _print_changes(report: dict[str, Any]) -> None:
    for side in ("from", "to"):
        point = report[side]
        click.echo(
            f"{side:<5} {point['run']} at event {point['seq']}, {point['generations']} generations closed"
        )
    if report.get("first_generation_that_differs") is not None:
        click.echo(f"the first generation that differs is {report['first_generation_that_differs']}")
    found = dict(report["changes"])
    digest = found.pop("state_digest", None)
    for part, values in found.items():
        click.echo(part)
        for line in _change_lines(values):
            click.echo(f"  {line}")
    click.echo("the states are the same" if digest is None else f"state digest {digest[0]} → {digest[1]}")


def _change_lines(values: dict[str, Any]) -> list[str]:
    lines = []
    for key, value in values.items():
        if isinstance(value, dict):
            lines += [f"{key}: {line}" for line in _change_lines(value)]
        elif key in ("removed", "added"):
            lines += [f"{'-' if key == 'removed' else '+'} {item}" for item in value]
        else:
            before, after = (json.dumps(side, ensure_ascii=False) for side in value)
            lines.append(f"{key}: {before} → {after}")
    return lines


def _print_part(row: dict[str, Any]) -> None:
    events = "" if row["events"] is None else f"  {row['events']} events"
    click.echo(f"{'ok  ' if row['difference'] is None else 'FAIL'} {row['part']}{events}")
    if row["difference"] is not None:
        click.echo(f"error: {row['part']}: {row['difference']}", err=True)


@click.command(name="export", short_help="Write a run to one file, or as tables.")
@run_argument
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE|DIR|URL",
    help="Where it goes: the file of an archive (RUN.dga2d.zip by default), the folder of tables (RUN), or a "
    "folder or tracking server of MLflow (mlruns), or the folder for Weights & Biases' offline runs (.).",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["archive", "csv", "parquet", "mlflow", "wandb"]),
    default="archive",
    show_default=True,
    help="The whole run, to be imported again; or tables of its generations, evaluations and calls.",
)
@store_option
@json_option
def export_command(run: str, path: str | None, kind: Any, url: str, as_json: bool) -> None:
    """Write all events of RUN and all texts and solutions they name to one verified zip file.

    Other formats are for other programs, and cannot be imported again.

    \b
    Examples:
      dga2d export jsp-k3v9q2 -o night.zip
      dga2d export jsp-k3v9q2 --format csv -o tables
    """

    if kind == "archive":
        from dga2d.runtime.inspection.log_reading import export_to

        archive = Path(path or f"{run}.dga2d.zip")
        check_writable(archive)
        _report(run_async(export_to, url, run, archive), archive, as_json)
        return
    from dga2d.runtime.inspection.tables import DEFAULT_PLACES, export_tables

    written = run_async(export_tables, url, run, kind, path or DEFAULT_PLACES.get(kind, run))
    if as_json:
        print_json({"run": run, "format": kind, "written": written})
    else:
        click.echo("\n".join(written))


@click.command(name="import", short_help="Import a run from a file that `export` wrote.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@store_option
@json_option
def import_command(path: Path, url: str, as_json: bool) -> None:
    """Verify the whole of FILE and store its run; a file that does not verify is refused and changes nothing.

    \b
    Example:
      dga2d import night.zip --store sqlite+aiosqlite:///archive.db
    """
    from dga2d.runtime.inspection.log_reading import import_from

    _report(run_async(import_from, url, path), path, as_json)


def _report(manifest: Any, path: Path, as_json: bool) -> None:
    view = {
        "run": manifest.run,
        "file": str(path),
        "events": manifest.events.lines,
        "blobs": manifest.blobs.lines,
        "head_hash": manifest.head,
    }
    if as_json:
        print_json(view)
    else:
        click.echo(f"{path}: run {view['run']}, {view['events']} events, {view['blobs']} blobs")
        click.echo(f"head {view['head_hash']}")
