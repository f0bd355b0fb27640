"""HTML and Markdown from :class:`ReportData`; whatever a model wrote is escaped."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dga2d import __version__
from dga2d.domains.core.errors import PluginError
from dga2d.domains.core.titles import domain_title
from dga2d.domains.drawing.svg import STYLE
from dga2d.replay.state.graph import END, START
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.report import charts
from dga2d.runtime.report.code import highlight_lines, side_by_side
from dga2d.runtime.report.data import ReportData
from dga2d.runtime.report.words import OUTCOME_WORDS, WORDS, money_note
from dga2d.runtime.terminal.output import shown_lines


def render_html(data: ReportData) -> str:
    """Return one self-contained page: no script, no outside request, light and dark."""
    context = context_of(data) | {"plots": gap_plots(data)}
    return environment(escapes=True).get_template("report.html.j2").render(**context)


def render_markdown(data: ReportData) -> str:
    """Return the same in Markdown, without the texts of calls."""
    context = context_of(data) | {"plots": gap_plots(data)}
    return environment(escapes=False).get_template("report.md.j2").render(**context)


@cache
def environment(escapes: bool, package: str = "dga2d.runtime.report") -> Environment:
    """Return the templates of `package`, and those of reports, with the filters both use."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("dga2d.runtime.report")]),
        autoescape=escapes,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(side_by_side=side_by_side, highlight_lines=highlight_lines)
    made.globals.update(words=WORDS, money_note=money_note, outcome_words=OUTCOME_WORDS)
    made.globals["problem_name"] = problem_name
    made.globals["drawing_style"] = Markup(STYLE)
    made.filters["utc"] = _utc
    made.filters["fenced"] = _fence
    made.filters["cell"] = _table_cell
    return made


def problem_name(domain: str) -> str:
    """Return a problem's title; its domain's name where there is none to read here, such as that of a plug-in
    that is gone."""
    try:
        return domain_title(domain) or domain
    except PluginError:
        return domain


def context_of(data: ReportData) -> dict[str, Any]:
    """Return what the templates of a report and of the page refer to; ``plots`` are the report's alone."""
    return {
        "data": data,
        "view": data.view,
        "measure": measure_in(data.view),
        "plot": charts,
        "matrix": _matrix(data),
        "version": __version__,
        "zip": zip,
        "dict": dict,
    }


def _finalize(value: object) -> object:
    """Return text without characters that hide or reverse it; what is markup already stays."""
    return shown_lines(value) if type(value) is str else value


def gap_plots(data: ReportData) -> list[charts.GapPlot]:
    """Return the plots of convergence: over generations, model calls, tokens and time."""
    spent: dict[int, dict[str, float]] = {
        c.generation: {"calls": c.calls, "tokens": c.tokens, "minutes": c.minutes} for c in data.closings
    }
    history = [row | spent.get(row["generation"], {}) for row in data.view["history"]]
    measure = measure_in(data.view)
    plots = [charts.convergence(history, milestones=data.milestones, measure=measure)]
    for axis in ("calls", "tokens", "minutes"):
        if history and history[-1][axis] > history[0][axis]:
            plots.append(charts.convergence(history, axis, data.milestones, measure))
    return [plot for plot in plots if plot is not None]


def _utc(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _fence(text: str) -> str:
    """Return a Markdown code block whose fence is longer than any in `text`."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _table_cell(text: object) -> str:
    """Return text that can neither leave its cell of a Markdown table nor be taken for markup."""
    flat = " ".join(str(text).split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in flat)


def transition_names(data: ReportData) -> tuple[list[str], list[str]]:
    """Return sources and targets of the transition matrix, START first, then initialisers, END last."""
    graph = data.view["graph"]
    if graph is None:
        return [], []
    entries = set(graph["initialisers"])
    operators = sorted(graph["operators"], key=lambda operator: (operator not in entries, operator))
    return [START, *operators], [*operators, END]


def _matrix(data: ReportData) -> list[tuple[str, list[tuple[str, str, float | None, float]]]]:
    """Return the rows of the transition matrix: source, then (target, text, credit, intensity in 0 … 1)."""
    sources, targets = transition_names(data)
    credit = {(a, b): value for a, b, value in data.edges}
    largest = max([abs(value) for value in credit.values()], default=0.0) or 1.0
    rows = []
    for source in sources:
        cells = []
        for target in targets:
            value = credit.get((source, target))
            shown = "" if value is None else ("·" if value == 0 else f"{value:+.2f}")
            cells.append((target, shown, value, abs(value or 0.0) / largest))
        rows.append((source, cells))
    return rows
