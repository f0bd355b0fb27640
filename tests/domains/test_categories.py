"""Categories in pictures differ in colour or pattern."""

from __future__ import annotations

import pytest

from dga2d.domains.shared.categories import COLOURS, PATTERNS, look_of

pytest.importorskip("matplotlib")


def test_looks_repeat_only_after_all_colours_and_patterns() -> None:
    most = len(COLOURS) * len(PATTERNS)
    assert len({look_of(category) for category in range(most)}) == most
    assert look_of(most) == look_of(0)


def test_each_of_twenty_jobs_looks_different_in_the_gantt_chart() -> None:
    from dga2d.domains.shared.shops.gantt import Bar, gantt_chart

    figure = gantt_chart("twenty jobs", [Bar(0, job, 10 * job, 10) for job in range(20)], 1)
    drawn = {(bar.get_facecolor(), bar.get_hatch()) for bar in figure.axes[0].patches}
    assert len(drawn) == 20
