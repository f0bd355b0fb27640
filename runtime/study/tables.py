"""A study's figures as Markdown, HTML, LaTeX and CSV, in the form of the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from dga2d.runtime.inspection.measures import GAP, Measure
from dga2d.runtime.inspection.pairs import Interval, Spread
from dga2d.runtime.study import breakdowns
from dga2d.runtime.study.results import START, Row, StudyResults, row_view
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
        f"Gain: of the arm on {plan.reference_arm!r}, on the same instances and seeds, mean and 95 % "
        "interval over instances; p: Wilcoxon's signed-rank test over instances, corrected for all "
        "comparisons (Benjamini and Hochberg)."
        + "".join(f" Learned: {training}." for training in results.trainings.values())
    )


class Table(NamedTuple):
    """A table of a report, in no format yet."""

    name: str
    """Ends the names of its CSV file."""
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    """Rows and columns of what is best."""
    words: int = 2
    """Columns of words, before those of figures."""


def tables_of(results: StudyResults) -> list[Table]:
    """Return the main table, then the others that have rows."""
    found = [_main_table(results)]
    of_parts = ((breakdowns.by_group, "groups", GROUPS), (breakdowns.by_seconds, "seconds", SECONDS))
    for parts_of, name, text in of_parts:
        parts = parts_of(results)
        for domain in dict.fromkeys(part.domain for part in parts):
            found.append(_part_table(name, text, [part for part in parts if part.domain == domain]))
    if results.results:
        found.append(_resource_table(results))
    return found


GROUPS = "Held-out {word}s by group of instances, mean ± standard deviation over seeds"
SECONDS = (
    "Held-out {word}s by wall-clock budget per instance, each evaluated anew, mean ± standard deviation over "
    "seeds"
)
RESOURCES = (
    "What the search of a run used, held-out tests left out, means over runs. Seconds are those by the clock "
    "while a process carried it out; processor seconds count evaluations; memory is the most that the "
    "program itself held in any of the runs; what a killed process used since its last closed generation is "
    "missing."
)


def _main_table(results: StudyResults) -> Table:
    rows = tuple(_cells(row) for row in results.rows)
    bold = frozenset((number, 2) for number, row in enumerate(results.rows) if row.is_best)
    return Table("", caption(results), header(results), rows, bold)


def _part_table(name: str, text: str, parts: Sequence[breakdowns.Part]) -> Table:
    """Return a row for each arm and a column for each part."""
    heads, arms = list(dict.fromkeys(p.part for p in parts)), list(dict.fromkeys(p.arm for p in parts))
    cells = {(part.arm, part.part): part for part in parts}
    rows, bold = list[tuple[str, ...]](), set[tuple[int, int]]()
    for number, arm in enumerate(arms):
        found = [cells.get((arm, head)) for head in heads]
        bold |= {(number, 1 + place) for place, part in enumerate(found) if part and part.is_best}
        rows.append((arm, *("" if part is None else _spread(part.measure, part.gap) for part in found)))
    told = f"{parts[0].domain}: {text.format(word=parts[0].measure.word)}."
    return Table(f"{name}-{parts[0].domain}", told, ("arm", *heads), tuple(rows), frozenset(bold), words=1)


def _resource_table(results: StudyResults) -> Table:
    def number(value: float | None, digits: int = 0) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    rows = tuple(
        (
            *(row.domain, row.arm, number(row.calls, 1), number(row.tokens), number(row.cost_usd, 4)),
            *(number(row.seconds, 1), number(row.cpu_s, 1), number(row.peak_mib)),
            *(number(row.evaluations), number(row.work)),
        )
        for row in breakdowns.resources(results)
    )
    heads = (
        "domain",
        "arm",
        "calls",
        "tokens",
        "US $",
        "seconds",
        "CPU s",
        "memory, MiB",
        "evaluations",
        "work",
    )
    return Table("resources", RESOURCES, heads, rows)


def _spread(measure: Measure, value: Spread) -> str:
    return f"{measure.value(value.mean):.3f} ± {measure.gain(value.sd, more_digits=3 - measure.digits)}"


def _gain(measure: Measure, points: Interval) -> str:
    """Return a difference with its interval."""
    more = 3 - measure.digits
    mean = measure.gain(points.mean, "+", more)
    return mean if points.bounds is None else f"{mean} ({measure.gain_span(points.bounds, more)})"


def _cells(row: Row) -> tuple[str, ...]:
    found, measure = row.difference, row.measure
    is_start = row.arm == START
    return (
        row.domain,
        row.arm,
        _spread(measure, row.gap),
        "" if row.in_seconds is None else _spread(measure, row.in_seconds),
        "" if row.objective is None else f"{row.objective:.6g}",
        "" if found is None else _gain(measure, found.points),
        "" if found is None else f"{found.won}, {found.lost}",
        "" if found is None else f"{found.adjusted:.3f}",
        "" if is_start else f"{row.calls:.0f}",
        "" if is_start else f"{row.tokens:.0f}",
    )


def markdown(results: StudyResults) -> str:
    """Return heading, captions and tables."""
    lines = [f"# {results.plan.title}", ""]
    for table in tables_of(results):
        figures = len(table.header) - table.words
        lines += [table.caption, "", f"| {' | '.join(table.header)} |"]
        lines.append(f"|{'---|' * table.words}{'--:|' * figures}")
        for number, row in enumerate(table.rows):
            cells = (f"**{c}**" if (number, place) in table.bold else c for place, c in enumerate(row))
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def latex(results: StudyResults) -> str:
    """Return tables of LaTeX's package booktabs."""
    return "\n".join(_latex_table(table) for table in tables_of(results))


def _latex_table(table: Table) -> str:
    def text(value: str) -> str:
        return "".join(_LATEX.get(sign, sign) for sign in value).replace("±", r"$\pm$")

    lines = [
        r"\begin{table}",
        rf"\caption{{{text(table.caption)}}}",
        rf"\begin{{tabular}}{{{'l' * table.words}{'r' * (len(table.header) - table.words)}}}",
        r"\toprule",
        " & ".join(map(text, table.header)) + r" \\",
    ]
    block = None
    for number, row in enumerate(table.rows):
        if table.words == 1:
            lines += [r"\midrule"] if not number else []
        elif row[0] != block:
            lines.append(r"\midrule")
            block = row[0]
        cells = [text(cell) for cell in row]
        for place in range(len(cells)):
            if (number, place) in table.bold:
                cells[place] = rf"\textbf{{{cells[place]}}}"
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def html(results: StudyResults) -> str:
    """Return a page that stands alone; the template engine escapes all texts."""
    environment = Environment(
        loader=PackageLoader("dga2d.runtime.study"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("study.html.j2").render(
        title=results.plan.title, tables=tables_of(results)
    )


def csv(results: StudyResults) -> str:
    """Return the rows as CSV (RFC 4180)."""
    return csv_text([row_view(row) for row in results.rows])


def further_csv(results: StudyResults) -> dict[str, str]:
    """Return what is no row of the main table as CSV, by what the files' names end in; nothing that is
    empty."""
    rows = {
        "groups": [breakdowns.part_view(part) for part in breakdowns.by_group(results)],
        "seconds": [breakdowns.part_view(part) for part in breakdowns.by_seconds(results)],
        "resources": [breakdowns.resource_view(row) for row in breakdowns.resources(results)],
        "course": [row for run in results.results for row in breakdowns.course_view(run)],
    }
    return {name: csv_text(found) for name, found in rows.items() if found}


FORMATS: Mapping[str, Callable[[StudyResults], str]] = {
    "md": markdown,
    "html": html,
    "tex": latex,
    "csv": csv,
}
"""Ending of a file → what is written there."""
