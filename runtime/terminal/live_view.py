"""The live view of a run on a terminal: a pure function of state and measurements, 80 columns wide."""

from __future__ import annotations

from rich import box
from rich.console import RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.call_views import rejections_view
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.validations import ValidationRecord
from dga2d.runtime.inspection.verdict import achievement_of
from dga2d.runtime.inspection.views import gap_of, test_label, unmeasured_work
from dga2d.runtime.terminal.output import printable
from dga2d.runtime.terminal.phase import calls_in_flight, clock, is_testing, phase, time_left_s, waits_for
from dga2d.runtime.terminal.run_metrics import Measurements

BARS = "▁▂▃▄▅▆▇█"
CURVE_GENERATIONS = 24
"""Generations the convergence curve shows."""
BAR_WIDTH = 20
CHANGES_SHOWN = 6
"""Lines of accepted edits, unless the last edit alone has more."""
BORDERS = {"running": "cyan", "new": "cyan", "completed": "green", "paused": "yellow", "failed": "red"}
"""Colour of the frame by status of the run."""


def live_view(state: RunState, measured: Measurements) -> RenderableType:
    """Return what a person wants to know of a run at this moment.

    Text from outside (names, reasons) is never taken for markup and shows no control characters.
    """
    rows = Table.grid(padding=(0, 2, 0, 0), expand=True)
    rows.add_column(style="bold", no_wrap=True)
    rows.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    rows.add_row("generation", _generation(state, measured))
    rows.add_row("now", _line(phase(state)))
    if state.started is not None:
        rows.add_row("score", _scores(state))
        rows.add_row(measure_of(state.header).word, _gaps(state))
        rows.add_row("evaluations", _evaluations(state, measured))
        rows.add_row("model calls", _calls(state.ledger))
        rows.add_row("utilisation", _utilisation(state, measured))
    for index, (number, change) in enumerate(_last_changes(measured)):
        line = Text(f"{number:>4}  ", "dim", no_wrap=True, overflow="ellipsis")
        rows.add_row("edits" if index == 0 else "", line.append(printable(change), "not dim"))
    if (sentence := unmeasured_work(state)) is not None:
        rows.add_row(Text("work", "bold yellow"), Text(sentence, overflow="fold", no_wrap=False))
    sentence = rejections_view(state.ledger)["sentence"]
    if sentence is not None:
        rows.add_row(
            Text("rejected", "bold yellow"), Text(printable(sentence), overflow="fold", no_wrap=False)
        )
    if state.suspension:
        rows.add_row(Text("outage", "bold yellow"), _outage(state, measured))
    if state.test is not None:
        rows.add_row("held out", _held_out(state))
    if state.status not in ("new", "running") and not is_testing(state):
        verdict = achievement_of(state, ValidationRecord()).verdict
        if verdict is not None:
            rows.add_row("verdict", _line(verdict.sentence))
    status = "testing" if is_testing(state) else "starting" if state.status == "new" else state.status
    return Panel(
        rows,
        box=box.ROUNDED,
        title=_title(state, measured).append(f" {status}", "bold"),
        title_align="left",
        subtitle=_hint(state, measured),
        subtitle_align="right",
        border_style=BORDERS["running" if is_testing(state) else state.status],
    )


def _last_changes(measured: Measurements) -> list[tuple[str, str]]:
    """Return the last accepted changes, whole edits only, with the generation beside the first of each."""
    lines: list[tuple[str, str]] = []
    for edit in reversed(measured.edits):
        if lines and len(lines) + len(edit.changes) > CHANGES_SHOWN:
            break
        numbers = [str(edit.generation), *[""] * (len(edit.changes) - 1)]
        lines = [*zip(numbers, edit.changes, strict=True), *lines]
    return lines


def _line(text: str) -> Text:
    return Text(printable(text), no_wrap=True, overflow="ellipsis")


def _title(state: RunState, measured: Measurements) -> Text:
    if state.started is None:
        return Text("dga2d ·")
    header = state.header
    return Text(f"{printable(measured.run)} · {printable(header.domain)} · seed {header.seed} ·")


def _hint(state: RunState, measured: Measurements) -> Text | None:
    if state.status not in ("new", "running") and not is_testing(state):
        return None
    if measured.is_stopping:
        return Text("stopping: ending the evaluations; Ctrl-C again stops at once", "bold yellow")
    return Text("Ctrl-C stops at the next event, twice at once", "dim")


def _generation(state: RunState, measured: Measurements) -> RenderableType:
    total = state.settings.generations
    if state.started is None:
        return Text(clock(measured.elapsed_s))
    open_number = state.completed if state.generation is None else state.generation.number
    times = clock(measured.elapsed_s)
    left = time_left_s(state, measured)
    if left is not None:
        times += f", about {clock(left)} left"
    elif state.status == "running" or is_testing(state):
        times += ", time left not known yet"
    row = Table.grid(padding=(0, 2, 0, 0))
    told, done = f"{open_number} of {total}", state.completed
    if not state.settings.evolves_pipelines:
        told, done, total = f"round {open_number}", state.ledger.used, max(state.ledger.limit, 1)
    row.add_row(told, ProgressBar(total, min(done, total), BAR_WIDTH, complete_style="cyan"), times)
    return row


def _scores(state: RunState) -> Text:
    best = "–" if state.best is None else f"{state.best.score:.4f} (generation {state.best.generation})"
    scoring = None if state.generation is None else state.generation.scoring
    if scoring is not None and state.generation is not None:
        mean, number = scoring.mean, state.generation.number
    elif state.completed:
        mean, number = state.history[state.completed].mean, state.completed
    else:
        return Text(f"best {best}   mean –")
    return Text(f"best {best}   mean {mean:.4f} (generation {number})")


def _gaps(state: RunState) -> Text:
    best = None if state.best is None else state.best.score
    checked = None if state.checkpoint is None else state.checkpoint.score
    is_baseline = state.checkpoint is not None and state.checkpoint.steps == state.header.baseline
    text = Text("incumbent ").append(_gap(state, best), "bold")
    text.append(f"   {'baseline' if is_baseline else 'validated'} {_gap(state, checked)}   ")
    return text.append(curve(state), "cyan")


def _gap(state: RunState, score: float | None) -> str:
    if score is None:
        return "–"
    gap = gap_of(score, state.settings.failure_reward)
    return measure_of(state.header).text(gap)


def curve(state: RunState) -> str:
    """Return the incumbent's gap over the last generations as bars; generations without one are left out."""
    numbers = range(max(1, state.completed - CURVE_GENERATIONS + 1), state.completed + 1)
    scores = [state.history[number].best_so_far for number in numbers if number in state.history]
    gaps = [gap for s in scores if (gap := gap_of(s, state.settings.failure_reward)) is not None]
    if len(gaps) < 2:
        return ""
    low, high = min(gaps), max(gaps)
    span = high - low or 1.0
    return "".join(BARS[round((gap - low) / span * (len(BARS) - 1))] for gap in gaps)


def _evaluations(state: RunState, measured: Measurements) -> Text:
    rate = "–" if measured.evaluations_per_s is None else f"{measured.evaluations_per_s:.1f}"
    text = Text(f"{measured.evaluations:,} ({rate}/s)")
    if measured.compiling:
        text.append(f"   compiling {measured.compiling}", "cyan")
    if state.completed:
        summary = state.history[state.completed]
        style = "yellow" if summary.failures else ""
        text.append("   failed ").append(f"{summary.failures} of {summary.candidates}", style)
    return text


def _utilisation(state: RunState, measured: Measurements) -> Text:
    busy = "–" if measured.workers is None else f"{measured.busy} of {measured.workers}"
    text = Text(f"evaluators busy {busy}   calls in flight {calls_in_flight(state)}")
    waited = waits_for(state)
    return text.append(f"   waits for {waited}" if waited else "", "dim")


def _calls(ledger: Ledger) -> Text:
    text = _of(ledger.used, ledger.limit, "")
    text.append("   tokens ").append(_of(ledger.charged_tokens, ledger.token_limit, ""))
    text.append("   cost ")
    limit = None if ledger.microusd_limit is None else ledger.microusd_limit / 1e6
    return text.append(_of(ledger.charged_microusd / 1e6, limit, "$"))


def _of(used: float, limit: float | None, unit: str) -> Text:
    """Return an amount beside its limit, yellow from four fifths on, red when it is spent."""

    def amount(value: float) -> str:
        return f"{unit}{value:,.2f}" if unit else f"{value:,}"

    if limit is None:
        return Text(f"{amount(used)} (no limit)")
    style = "red" if used >= limit > 0 else "yellow" if used >= 0.8 * limit > 0 else ""
    return Text(f"{amount(used)} of {amount(limit)}", style)


def _outage(state: RunState, measured: Measurements) -> Text:
    waited = "" if measured.suspended_s is None else f" for {clock(measured.suspended_s)}"
    return _line(f"calls wait{waited}: {state.suspension}")


def _held_out(state: RunState) -> Text:
    test = state.test
    assert test is not None
    if test.mean_gaps is None:
        return Text(f"attempt {test.attempt} on {len(test.instances)} instances under way")
    measure = measure_of(state.header)
    parts = [
        f"{test_label(candidate)} {measure.text(None if gap is None else 100 * gap)}"
        for candidate, gap in zip(test.candidates, test.mean_gaps, strict=True)
    ]
    return Text(f"{'   '.join(parts)}   ({len(test.instances)} instances)")
