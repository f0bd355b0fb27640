"""HTML and Markdown from :class:`ReportData`, and the words of page and report, each with one explanation.
Whatever a model wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple

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
from dga2d.runtime.terminal.output import shown_lines


class Word(NamedTuple):
    """A word, and what it means in a sentence or two."""

    word: str
    means: str


WORDS: Final[dict[str, Word]] = {
    "start": Word("start", "The safe baseline the run began with: what it has to beat."),
    "evolved": Word(
        "evolved", "The algorithm the run ended with: its checkpoint, where that is not the start."
    ),
    "hand-tuned": Word(
        "hand-tuned",
        "The safe baseline of the whole library, which people put together: a yardstick from outside. "
        "The search had other operators to begin with.",
    ),
    "gap": Word(
        "gap",
        "How far a solution is behind the reference, mostly the best known one, in percent of it. 0 is as "
        "good, below 0 is better.",
    ),
    "points": Word("points", "Percentage points: one gap minus another."),
    "interval": Word(
        "95 % interval",
        "The range in which the mean lies as far as so few instances can tell: Student's, over instances.",
    ),
    "equal-work": Word(
        "equal work",
        "Both programs had the same number of work units on each instance: moves and decodes, as the code "
        "counts them, scaled so that a unit of any code takes about as long. How busy the machine was plays "
        "no part.",
    ),
    "equal-seconds": Word(
        "equal seconds", "Both programs were stopped by the clock, after the same time on each instance."
    ),
    "training": Word(
        "training", "The few instances on which every candidate is tried; the search learns from them."
    ),
    "validation": Word(
        "validation",
        "Instances apart from training, on which the best are compared; they choose the checkpoint.",
    ),
    "held-out": Word(
        "held-out",
        "Instances that the search never saw, kept for one test at the end: the verdict is about them.",
    ),
    "generation": Word(
        "generation",
        "A round of the search: pipelines are drawn, tried and scored, then code and graph are edited. "
        "It is closed when all of it is in the log.",
    ),
    "operator": Word(
        "operator", "A step of an algorithm by its task, such as building a schedule or improving it."
    ),
    "implementation": Word("implementation", "Code for an operator; each operator has a pool of them."),
    "pipeline": Word("pipeline", "An algorithm: operators one after the other, each with an implementation."),
    "walk": Word(
        "walk",
        "A way through the graph of operators from START to END that the policy drew, step by step: a "
        "pipeline.",
    ),
    "policy": Word(
        "policy", "A small language model that draws the walks and learns from what became of them."
    ),
    "candidate": Word("candidate", "A pipeline that was drawn and tried on the training instances."),
    "credit": Word(
        "credit",
        "How much better candidates with an operator, an edge or an implementation were than others.",
    ),
    "checkpoint": Word(
        "checkpoint",
        "The algorithm that validation found better than all before it, beyond doubt; the start, until there "
        "is one. It is what the run hands over.",
    ),
    "incumbent": Word(
        "incumbent",
        "The best there is at the moment: the pipeline that won the races (without races, the best in "
        "training), or the best solution of an instance.",
    ),
    "race": Word(
        "race", "Some pipelines against the incumbent on training instances; the losers leave early."
    ),
    "gate": Word(
        "gate",
        "What new code has to pass: it runs against the code it comes from, on instances of their own.",
    ),
    "edit": Word(
        "edit", "A change of the code or the graph that was accepted. Rejected ones are under calls."
    ),
    "bank": Word(
        "bank", "Implementations from other runs, kept in a file; a run can be offered them and try them."
    ),
    "lineage": Word("lineage", "Which code was written from which, with ideas, gains and what became of it."),
    "event": Word(
        "event",
        "A line of the run's log, which holds all that happened. The slider shows the run as it was after "
        "any of them.",
    ),
}
"""By the name that addresses have: ``#word-start``."""

OUTCOME_WORDS: Final = {"baseline kept": "start kept"}
"""Outcomes of a verdict that people read under another name than JSON has."""


def money_note(settings: Mapping[str, Any], calls: int, cost_usd: float) -> str:
    """Return why a run has cost nothing; empty where it has cost something.

    Parameters
    ----------
    settings
        The run's, as plain values.
    calls
        Calls made so far.
    cost_usd
        What they cost by the settings' prices.
    """
    if cost_usd:
        return ""
    if not calls:
        return "no model was asked"
    kinds = {name.partition(":")[0] for name in (settings["llm"], *settings["llm_others"])}
    if edges := settings["llm_edges"]:
        kinds.add(edges.partition(":")[0])
    if kinds == {"offline"}:
        return "built-in model, free"
    if kinds <= {"offline", "local"}:
        return "model on this machine, free"
    if "recorded" in kinds:
        return "recorded answers, paid for before"
    if not settings["llm_price_prompt"] and not settings["llm_price_answer"]:
        return "the settings name no prices"
    return "nothing was charged"


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
