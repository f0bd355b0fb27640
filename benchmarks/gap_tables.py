"""What the benchmark of the domains measured, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from families import Family


class Published(NamedTuple):
    """Mean gaps in percent that the DGA2D paper reports for a domain, at 90 s per instance."""

    dga2d: float
    """DGA2D with the better of its two language models."""
    best_peer: float
    """The best of EoH, MCTS-AHD, MEoH and ReEvo with either model."""
    or_tools: float | None = None
    ils: float | None = None


PAPER = {
    "binpack3d": Published(0.60, 6.89),
    "clp3d": Published(0.51, 0.71, 6.10, 5.51),
    "cvrp": Published(5.86, 6.75),
    "fjsp": Published(6.54, 21.60, 8.82, 11.31),
    "fssp": Published(4.25, 6.80),
    "jsp": Published(2.34, 8.64),
    "maxcut": Published(1.47, 4.84),
    "mis": Published(6.61, 15.16, 7.45, 8.41),
    "ossp": Published(0.16, 0.19),
    "rcpsp": Published(0.03, 3.38),
    "salbp1": Published(2.21, 8.12),
    "tsp": Published(4.70, 18.20, 0.76, 0.48),
}
"""The DGA2D paper's main results table and its table of the other eight domains; on its own test splits."""


@dataclass(frozen=True)
class Measured:
    """One evaluation."""

    domain: str
    group: str
    name: str
    gap_percent: float | None
    """``None`` when the algorithm failed."""
    failure: str | None
    elapsed_s: float


def in_words(result: Measured) -> str:
    """Gap or failure, and time."""
    gap = result.failure if result.gap_percent is None else f"gap {result.gap_percent:.3f} %"
    return f"{gap}, {result.elapsed_s:.2f} s"


def table(domain: str, results: Sequence[Measured]) -> Iterator[str]:
    """Markdown: one row per benchmark group, and one for all with the paper's figures."""
    yield (
        "| group | instances | mean gap % | worst gap % | failed | longest s "
        "| paper 90 s: DGA2D | best peer | OR-Tools | ILS |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for group in sorted({result.group for result in results}):
        yield row(group, [result for result in results if result.group == group], None)
    yield row("**all**", results, PAPER.get(domain))


def row(title: str, results: Sequence[Measured], paper: Published | None) -> str:
    """A row of the table."""
    gaps = [result.gap_percent for result in results if result.gap_percent is not None]
    worst = max(results, key=lambda r: -1e9 if r.gap_percent is None else r.gap_percent)
    cells = [
        title,
        str(len(results)),
        f"{statistics.fmean(gaps):.3f}" if gaps else "–",
        f"{worst.gap_percent:.3f} ({worst.name})" if gaps else "–",
        str(len(results) - len(gaps)),
        f"{max(result.elapsed_s for result in results):.2f}",
        *("" if paper is None or value is None else f"{value:.2f}" for value in paper or (None,) * 4),
    ]
    return f"| {' | '.join(cells)} |"


class MeasuredFamily(NamedTuple):
    """A row of the families' table."""

    family: Family
    results: Sequence[Measured]
    beside: Sequence[Sequence[Measured]]
    """Of each other method; empty where it does not solve the domain."""


def families_table(rows: Sequence[MeasuredFamily], beside: Sequence[str]) -> Iterator[str]:
    """Markdown: one row per family, with the mean gap when the round began and the goal, its half."""
    head = "| domain | family | n | mean gap % | worst gap % | failed | longest s | at first % | goal % |"
    yield head + "".join(f" {method} mean % |" for method in beside)
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|" + "--:|" * len(beside)
    for family, results, others in rows:
        cells = "0 | – | – | – | – |"
        if results:
            cells = row("", results, None).removeprefix("|  | ").removesuffix("|  |  |  |  |") + "|"
        known = f"{family.start_percent:.2f} | {family.start_percent / 2:.2f} |"
        means = [
            [result.gap_percent for result in other if result.gap_percent is not None] for other in others
        ]
        rivals = "".join(f" {statistics.fmean(gaps):.3f} |" if gaps else " – |" for gaps in means)
        yield f"| {family.domain} | {family.title} | {cells} {known}{rivals}"
