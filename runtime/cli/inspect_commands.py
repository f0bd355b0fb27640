"""``runs``, ``show``, ``replay`` and ``audit``: commands that only read a log."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.cli.run_display import print_results, print_training
from dga2d.runtime.errors import ExitCode, UsageError
from dga2d.runtime.inspection.measures import Measure, measure_in, measured_rows
from dga2d.runtime.terminal.output import print_csv, print_json, print_table, printable


@click.command(short_help="List the runs of a database.")
@options.store_option
@options.json_option
def runs(url: str, as_json: bool) -> None:
    """List all runs with their status."""
    from dga2d.runtime.inspection.runs import list_runs

    rows = options.run_async(list_runs, url)
    if as_json:
        print_json(rows)
        return
    columns = ("run", "domain", "status", "generation", "events", "calls", "best", "begun (UTC)")
    print_table(
        (*columns, "forked from"),
        [
            (
                *(row[key] for key in ("run", "domain", "status", "generations", "events", "calls")),
                None if row["best_gap_percent"] is None else measure_in(row).text(row["best_gap_percent"]),
                datetime.fromtimestamp(row["created_at"] / 1e6, UTC).strftime("%Y-%m-%d %H:%M"),
                None if row["parent"] is None else f"{row['parent']} at {row['parent_seq']}",
            )
            for row in rows
        ],
    )


@click.command(short_help="Show a run's state, now or at any earlier point.")
@options.run_argument
@click.option("--at", "seq", type=click.IntRange(1, options.LARGEST_INTEGER), help="State after this event.")
@click.option("--generation", type=click.IntRange(0), help="State when this generation had closed.")
@click.option("--internals", is_flag=True, help="Also graph, credits, digests and the figures of the theory.")
@options.store_option
@options.json_option
def show(run: str, seq: int | None, generation: int | None, internals: bool, url: str, as_json: bool) -> None:
    """Show RUN: results and progress; with --internals the graph, credits, policy and digests, too."""
    from dga2d.runtime.inspection.runs import read_state_view

    if seq is not None and generation is not None:
        raise UsageError("--at and --generation exclude each other: which moment is to be shown?")
    view = options.run_async(read_state_view, url, run, seq, generation)
    if as_json:
        print_json(view)
    elif "training" in view:
        print_training(view)
    else:
        _print_state(view, internals)


@click.command(short_help="Rebuild a run from its log and check every recorded digest.")
@options.run_argument
@click.option("--verify", is_flag=True, help="Also repeat every decision and compare it.")
@click.option(
    "--head",
    metavar="HASH",
    help="Hash of an event that you kept: shows that nothing up to it was rewritten.",
)
@click.option(
    "--reevaluate",
    "fraction",
    is_flag=False,
    flag_value=1.0,
    type=click.FloatRange(0, 1, min_open=True),
    metavar="[FRACTION]",
    help="Also repeat this fraction of the evaluations, all by default; give it after RUN.",
)
@options.data_option
@options.store_option
@options.json_option
def replay(
    run: str,
    verify: bool,
    head: str | None,
    fraction: float | None,
    data_dir: Path | None,
    url: str,
    as_json: bool,
) -> int:
    """Fold RUN from its first event; check chain, ownership, order, invariants and state digests."""
    from dga2d.runtime.inspection.runs import replay_run

    report = options.run_async(replay_run, url, run, verify, _hash(head))
    report["reevaluation"] = None
    if fraction is not None and report["difference"] is None:
        from dga2d.runtime.inspection.reevaluation import reevaluate_run

        report["reevaluation"] = options.run_async(reevaluate_run, url, run, fraction, data_dir)
    differs = report["difference"] is not None
    if report["reevaluation"] is not None:
        differs = differs or bool(report["reevaluation"]["differences"])
    if as_json:
        print_json(report)
    else:
        for row in report["generations"]:
            click.echo(f"generation {row['generation']:>4}  {row['state_digest']}")
        if report["difference"] is None:
            decisions = f", {report['decisions']} decisions repeated" if verify else ""
            click.echo(f"{report['events']} events hold{decisions}; head {report['head_hash']}")
            click.echo(f"state digest     {report['state_digest']}")
        else:
            click.echo(f"error: {report['difference']}", err=True)
        if report["reevaluation"] is not None:
            _print_reevaluation(report["reevaluation"])
    return ExitCode.DIFFERENCE if differs else ExitCode.OK


@click.command(short_help="Account for every model call of a run, and check its log.")
@options.run_argument
@click.option("--calls", "list_calls", is_flag=True, help="List every call.")
@click.option("--csv", "as_csv", is_flag=True, help="Print every call as CSV.")
@click.option("--full", is_flag=True, help="Check every blob the run names, not only prompts and answers.")
@options.file_option("--against", "export", help="Compare with a provider's export of usage (CSV or JSON).")
@options.store_option
@options.json_option
def audit(
    run: str, list_calls: bool, as_csv: bool, full: bool, export: Path | None, url: str, as_json: bool
) -> int:
    """Add up the model calls of RUN by purpose, show what each bought, and check whether the log holds."""
    from dga2d.runtime.inspection.audit import audit_run, find_differences, read_export

    rows = None if export is None else read_export(export)
    report = options.run_async(audit_run, url, run, full)
    against = None if rows is None else find_differences(report["calls"], rows)
    if as_json:
        print_json(report if against is None else {**report, "against": against})
    elif as_csv:
        print_csv(measured_rows(report["calls"], measure_in(report)))
    else:
        _print_audit(report, list_calls)
        _print_against(export, against)
    holds = not report["differences"] and all(check["holds"] for check in report["checks"])
    return ExitCode.OK if holds and not against else ExitCode.DIFFERENCE


def _hash(text: str | None) -> str | None:
    if text is not None and re.fullmatch("[0-9a-fA-F]{64}", text) is None:
        raise UsageError(f"--head {text[:80]}: expected 64 hexadecimal digits, as `dga2d replay` prints them")
    return None if text is None else text.lower()


def _print_state(view: dict[str, Any], internals: bool) -> None:
    click.echo(f"run          {view['run']}  {view['domain']}, seed {view['seed']}, event {view['seq']}")
    if view["forked_from"] is not None:
        click.echo(f"forked       from {view['forked_from']['run']} after event {view['forked_from']['seq']}")
    click.echo(f"status       {view['status']}{': ' + printable(view['reason']) if view['reason'] else ''}")
    if view["suspension"] is not None:
        click.echo(f"waiting      model calls are suspended: {printable(view['suspension'])}")
    generation = view["open_generation"]
    opened = "" if generation is None else f", generation {generation} open"
    click.echo(f"progress     {view['completed_generations']} generations closed{opened}")
    print_results(view)
    ledger = view["ledger"]
    click.echo(f"calls        {ledger['used']} of {ledger['limit']}")
    if ledger["bank"]["sentence"] is not None:
        click.echo(f"bank         {ledger['bank']['sentence']}")
    if ledger["rejections"]["sentence"] is not None:
        click.echo(f"rejected     {printable(ledger['rejections']['sentence'])}")
    if view["search"] is not None:
        _print_population(view["search"], measure_in(view))
    measure = measure_in(view)
    columns = ("generation", *(f"{name}{measure.unit}" for name in ("best", "so far", "validation")))
    keys = ("best_gap_percent", "best_so_far_percent", "validation_gap_percent")
    if view["history"]:
        click.echo()
        print_table(
            (*columns, "failed", "calls"),
            [
                (
                    row["generation"],
                    *(measure.optional(row[key]) for key in keys),
                    f"{row['failures']}/{row['candidates']}",
                    row["calls"],
                )
                for row in view["history"]
            ],
        )
    if internals:
        _print_internals(view)


def _print_population(search: dict[str, Any], measure: Measure) -> None:
    programs = {row["id"]: row for row in search["programs"]}
    click.echo(f"method       {search['method']}, {len(programs)} programs evaluated; the population:")
    rows = [programs[name] for name in search["population"]]
    columns = ("program", "round", "by", measure.column, "idea")
    print_table(
        columns,
        [
            (
                row["id"],
                row["round"],
                row["variation"],
                measure.optional(row["gap_percent"]),
                printable(row["idea"]),
            )
            for row in rows
        ],
    )


def _print_internals(view: dict[str, Any]) -> None:
    click.echo(f"\ndigest       {view['state_digest']}")
    graph = view["graph"]
    if graph is not None:
        click.echo(
            f"graph        {len(graph['operators'])} operators, {len(graph['edges'])} edges, "
            f"{graph['pipelines']} pipelines"
        )
        print_table(
            ("operator", "credit", "implementations"),
            [(row["operator"], row["credit"], len(row["implementations"])) for row in view["operators"]],
        )
    if view["history"]:
        click.echo()
        rows = [(row["generation"], row["mean_score"], row["state_digest"]) for row in view["history"]]
        print_table(("generation", "mean score", "state digest"), rows)
    if view["diagnostics"]:
        click.echo()
        _print_diagnostics(view["diagnostics"])


def _print_diagnostics(rows: list[dict[str, Any]]) -> None:
    columns = {
        "generation": "generation",
        "loss": "loss",
        "gradient_norm": "gradient",
        "entropy_nats": "entropy",
        "kl_to_initial_nats": "KL",
        "pipelines": "pipelines W",
        "growth_rate": "ρ*",
        "largest_credit": "max |Q|",
        "credit_bound": "its bound",
    }
    print_table(
        (*columns.values(), "cells d0/d1/d2/dR"),
        [(*(row[key] for key in columns), "/".join(map(str, row["context_cells"].values()))) for row in rows],
    )


def _print_audit(report: dict[str, Any], list_calls: bool) -> None:
    ledger = report["ledger"]
    if ledger is not None:
        click.echo(
            f"model calls {ledger['used']} of {ledger['limit']}, tokens {ledger['prompt_tokens']} in and "
            f"{ledger['completion_tokens']} out, {ledger['cost_usd']:.4f} USD"
        )
        print_table(
            ("purpose", "calls", "accepted", "rejected", "abandoned", "tokens in", "tokens out", "USD"),
            [(purpose, *row.values()) for purpose, row in ledger["by_purpose"].items()],
        )
        if (matched := ledger["recorded"]["sentence"]) is not None:
            click.echo(f"recorded: {matched}")
        if (banked := ledger["bank"]["sentence"]) is not None:
            click.echo(f"bank: {banked}")
        trials = ledger["trials"]
        click.echo(f"{trials['tried']} of {trials['answered']} answers with code or edges led to a trial")
    if list_calls:
        print_table(
            (
                "call",
                "subject",
                "attempt",
                "status",
                "verdict",
                "tokens",
                "best % before, after",
                "what or why",
            ),
            [_call_row(call, measure_in(report)) for call in report["calls"]],
        )
        if report["offers"]:
            print_table(
                ("offer", "operator", "generation", "verdict", "gain before", "from run", "model", "why"),
                [_offer_row(offer) for offer in report["offers"]],
            )
    for refused in report["refused"]:
        click.echo(f"refused  {refused['subject']}, attempt {refused['attempt']}: {refused['reason']}")
    for check in report["checks"]:
        click.echo(f"{'ok  ' if check['holds'] else 'FAIL'} {check['check']}")
    for difference in report["differences"]:
        click.echo(f"error: {difference}", err=True)
    click.echo(f"head {report['head_hash']}")


def _offer_row(offer: dict[str, Any]) -> tuple[Any, ...]:
    gain = "-" if offer["gain_points"] is None else f"{offer['gain_points']:+.2f} ({offer['how']})"
    what = (offer["generation"], offer["verdict"] or "open", gain)
    why = printable(offer["diagnostic"].partition("\n")[0][:60])
    return (offer["entry"], offer["operator"], *what, offer["run"], offer["model"], why)


def _print_reevaluation(report: dict[str, Any]) -> None:
    click.echo(
        f"{report['made_again']} of {report['recorded']} evaluations repeated, "
        f"{report['identical']} of them identical"
    )
    if report["undecided"]:
        events = ", ".join(map(str, report["undecided"]))
        click.echo(f"a limit of the machine ended these, then or now: event {events}")
    for row in report["differences"]:
        click.echo(
            f"error: event {row['seq']} ({row['evaluation']}): {row['field']} was {row['recorded']}, "
            f"is {row['again']} now",
            err=True,
        )
    if report["differences"] and not report["same_program"]:
        click.echo(
            "another version of the program wrote this run; the differences may come from that", err=True
        )
    spread = report["spread"]
    if spread is None:
        return
    click.echo(
        f"under a clock    {spread['made_again']} evaluations; {spread['failed_then']} failed then, "
        f"{spread['failed_again']} now"
    )
    if spread["compared"]:
        quantiles = ", ".join(f"{q} %: {v:+.4f}" for q, v in spread["quantiles_percent"].items())
        click.echo(f"objective changed by {spread['mean_percent']:+.4f} % in the mean; quantiles {quantiles}")


def _call_row(call: dict[str, Any], measure: Measure) -> tuple[Any, ...]:
    gaps = [call["gap_before_percent"], call["gap_after_percent"]]
    why = call["bought"] or call["diagnostic"] or call["reason"]
    uses = "" if call["uses"] is None else f", used {call['uses']} times"
    return (
        *(call[key] for key in ("call", "subject", "attempt", "status", "verdict", "charged_tokens")),
        ", ".join(measure.number(gap) or "-" for gap in gaps) if call["bought"] else None,
        f"{_short(why)}{uses}",
    )


def _print_against(export: Path | None, against: list[str] | None) -> None:
    for line in against or ():
        click.echo(f"DIFF {line}")
    if against == []:
        click.echo(f"ok   the ledger agrees with {export}")


def _short(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= 60 else line[:59] + "…"
