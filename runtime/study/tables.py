"""A study's figures as Markdown, HTML, LaTeX and CSV, in the form of the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from dga2d.runtime.inspection.measures import GAP
from dga2d.runtime.study.results import START, Row, Spread, StudyResults, row_view
from dga2d.runtime.terminal.output import csv_text


def header(results: StudyResults) -> tuple[str, ...]:
    """Return the heads of the columns."""
    words = _words(results)
    units = {"gap": ("gap, %", "in seconds, %", "gain, points"), "score": ("score", "in seconds", "gain")}
    both = ("gap, %, or score", "in seconds", "gain")
    figure, timed, gain = units[words[0]] if len(words) == 1 else both
    return ("domain", "arm", figure, timed, "objective", gain, "won, lost", "p", "calls", "tokens")


def _words(results: StudyResults) -> list[str]:
    """Return what the figures of the domains are called."""
    return sorted({row.measure.word for row in results.rows}) or [GAP.word]


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def caption(results: StudyResults) -> str:
    """Return what the table is of, and how to read it."""
    plan = results.plan
    done = sum(cell.status == "tested" for cell in results.cells)
    figures = " and ".join(f"{word}s" for word in _words(results))
    repeats = f" Repeats {plan.repeats}." if plan.repeats else ""
    return (
        f"{plan.title}.{repeats} {done} of {len(results.cells)} runs; held-out {figures}, mean ± standard "
        "deviation over seeds, in equal work and, where measured, in equal seconds; the best of a domain "
        "stands out. "
        f"Gain: of the arm on {plan.reference_arm!r}, on the same instances and seeds; p: Wilcoxon's "
        "signed-rank test over instances, corrected for all comparisons (Benjamini and Hochberg)."
        + "".join(f" Learned: {training}." for training in results.trainings.values())
    )


def _plain(mean: str, sd: str) -> str:
    return f"{mean} ± {sd}"


def _cells(row: Row, pair: Callable[[str, str], str] = _plain) -> tuple[str, ...]:
    found, measure = row.difference, row.measure

    def number(value: Spread) -> str:
        return pair(
            f"{measure.value(value.mean):.3f}", measure.gain(value.sd, more_digits=3 - measure.digits)
        )

    is_start = row.arm == START
    return (
        row.domain,
        row.arm,
        number(row.gap),
        "" if row.in_seconds is None else number(row.in_seconds),
        "" if row.objective is None else f"{row.objective:.6g}",
        "" if found is None else measure.gain(found.points, "+", 3 - measure.digits),
        "" if found is None else f"{found.won}, {found.lost}",
        "" if found is None else f"{found.adjusted:.3f}",
        "" if is_start else f"{row.calls:.0f}",
        "" if is_start else f"{row.tokens:.0f}",
    )


def markdown(results: StudyResults) -> str:
    """Return heading, caption and table."""
    lines = [f"# {results.plan.title}", "", caption(results), ""]
    heads = header(results)
    lines += [f"| {' | '.join(heads)} |", f"|{'---|' * 2}{'--:|' * (len(heads) - 2)}"]
    for row in results.rows:
        cells = list(_cells(row))
        if row.is_best:
            cells[2] = f"**{cells[2]}**"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def latex(results: StudyResults) -> str:
    """Return a table of LaTeX's package booktabs."""

    def text(value: str) -> str:
        return "".join(_LATEX.get(sign, sign) for sign in value)

    heads = header(results)
    heading = text(caption(results)).replace("±", r"$\pm$")
    lines = [
        r"\begin{table}",
        rf"\caption{{{heading}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(heads) - 2)}}}",
        r"\toprule",
        " & ".join(map(text, heads)) + r" \\",
    ]
    domain = None
    for row in results.rows:
        if row.domain != domain:
            lines.append(r"\midrule")
            domain = row.domain
        cells = [text(c) for c in _cells(row, "{}+-{}".format)]
        cells[2], cells[3] = (c.replace("+-", r" $\pm$ ") for c in cells[2:4])
        if row.is_best:
            cells[2] = rf"\textbf{{{cells[2]}}}"
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def html(results: StudyResults) -> str:
    """Return a page that stands alone; the template engine escapes all texts."""
    environment = Environment(
        loader=PackageLoader("dga2d.runtime.study"), autoescape=True, undefined=StrictUndefined
    )
    rows = [{"cells": _cells(row), "is_best": row.is_best} for row in results.rows]
    return environment.get_template("study.html.j2").render(
        title=results.plan.title, caption=caption(results), header=header(results), rows=rows
    )


def csv(results: StudyResults) -> str:
    """Return the rows as CSV (RFC 4180)."""
    return csv_text([row_view(row) for row in results.rows])


FORMATS: Mapping[str, Callable[[StudyResults], str]] = {
    "md": markdown,
    "html": html,
    "tex": latex,
    "csv": csv,
}
"""Ending of a file → what is written there."""
