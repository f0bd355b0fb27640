"""What a study reports of its runs: means, differences that are not luck, tables in every format."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agents.memory_log import recorded

from dga2d.events import Draft, InstanceKey, RecordedEvent
from dga2d.events.payloads import GenerationCompleted, ProcessUse, RunPaused, RunResumed
from dga2d.runtime.inspection.measures import GAP, SCORE, Measure
from dga2d.runtime.study import tables
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.figures import profile_losses
from dga2d.runtime.study.plan import Cell, parse_plan
from dga2d.runtime.study.results import (
    CellResult,
    Reached,
    StudyResults,
    Usage,
    p_value,
    rows_of,
    usage_by_generation,
)

PLAN = parse_plan(
    'title = "A < B & C_1 %"\ndomains = ["jsp"]\nseeds = [1, 2]\n[arms.old]\n[arms.new]\nwork = 9\n',
    "p",
    "p.toml",
)


def result(
    arm: str, seed: int, gaps: list[float], objective: float | None = 10.0, measure: Measure = GAP
) -> CellResult:
    cell = Cell("jsp", arm, seed)
    keyed = {InstanceKey(f"g/{k}"): gap for k, gap in enumerate(gaps)}
    progress = CellProgress(cell, "tested", calls=4, tokens=100, cost_usd=0.5, seconds=60.0)
    start = dict.fromkeys(keyed, 9.0)
    usage = Usage(50.0, 20.0, 2**28, 12, 900)
    course = (Reached(4, 100, usage, gaps[0]),)
    return CellResult(
        cell, keyed, start, None, dict.fromkeys(keyed, objective), measure, progress, course, usage
    )


RESULTS = [
    result("old", 1, [5.0, 6.0, 7.0, 8.0, 9.0, 5.0]),
    result("old", 2, [5.0, 6.0, 7.0, 8.0, 9.0, 7.0]),
    result("new", 1, [4.0, 4.0, 4.0, 4.0, 4.0, 4.0]),
    result("new", 2, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0], objective=None),
]


def study(results: list[CellResult]) -> StudyResults:
    return StudyResults(PLAN, tuple(r.progress for r in results), tuple(results), rows_of(PLAN, results))


def test_rows_are_means_over_seeds_and_differences_over_instances() -> None:
    start, old, new = study(RESULTS).rows
    assert (start.arm, start.gap.mean, start.difference) == ("start", 9.0, None)
    assert old.gap.mean == pytest.approx(41 / 6)
    assert (old.is_best, old.difference, old.objective) == (False, None, 10.0)
    assert (new.gap.mean, new.is_best, new.objective) == (3.5, True, None)
    assert new.gap.sd == pytest.approx(0.5**0.5)
    assert new.difference is not None
    assert new.difference.points.mean == pytest.approx(41 / 6 - 3.5)
    sd, t = 1.4719601443879744, 2.5705818366147395  # of 1.5, 2.5, 3.5, 4.5, 5.5, 2.5; Student's, 5 degrees
    assert new.difference.points.low == pytest.approx(41 / 6 - 3.5 - t * sd / 6**0.5)
    assert (new.difference.won, new.difference.lost) == (6, 0)
    assert new.difference.p_value == new.difference.adjusted == pytest.approx(2 / 2**6)
    assert new.difference.is_significant


def test_seeds_that_one_arm_lacks_are_not_compared() -> None:
    rows = study([RESULTS[0], RESULTS[2], RESULTS[3]]).rows
    assert rows[2].difference is not None
    assert rows[2].difference.points.mean == pytest.approx(40 / 6 - 4.0)


def test_nothing_is_reported_before_the_first_run() -> None:
    assert study([]).rows == ()


@settings(max_examples=10)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=5))
def test_a_p_value_is_a_probability_and_does_not_mind_the_sign(gains: list[float]) -> None:
    assert 0.0 < p_value(gains) <= 1.0
    assert p_value(gains) == pytest.approx(p_value([-gain for gain in gains]))


def test_the_formats_say_the_same_and_escape_what_the_plan_says() -> None:
    results = study(RESULTS)
    page, latex, text = tables.html(results), tables.latex(results), tables.markdown(results)
    assert "<h1>A &lt; B &amp; C_1 %</h1>" in page
    assert "<strong>3.500 ± 0.707</strong>" in page
    assert r"A < B \& C\_1 \%" in latex
    assert r"\textbf{3.500 $\pm$ 0.707}" in latex
    assert "**3.500 ± 0.707**" in text
    rows = list(csv.DictReader(io.StringIO(tables.csv(results))))
    assert (rows[1]["gap_low_percent"], rows[1]["gap_high_percent"]) == ("4.7156", "8.951")
    assert [(row["arm"], row["gap_percent"]) for row in rows] == [
        ("start", "9.0"),
        ("old", "6.8333"),
        ("new", "3.5"),
    ]


def test_a_profile_counts_from_the_best_arm_of_each_instance() -> None:
    losses = profile_losses(study(RESULTS))
    assert losses["new"].tolist() == [0.0] * 12
    assert losses["old"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0]


def test_a_domain_with_a_score_of_its_own_is_told_in_scores() -> None:
    scored = study(
        [
            result("old", 1, [-85.0, -86.0], measure=SCORE),
            result("new", 1, [-88.0, -89.0], measure=SCORE),
        ]
    )
    text = tables.markdown(scored)
    assert "| domain | arm | score | in seconds | objective | gain | won, lost |" in text
    assert "held-out scores" in text
    assert "**0.885 ± 0.000**" in text
    assert "| +0.030 (0.030 to 0.030) |" in text
    assert "gap" not in text
    start, old, new = csv.DictReader(io.StringIO(tables.csv(scored)))
    assert (start["score"], old["score"], new["score"]) == ("-0.09", "0.855", "0.885")
    assert (new["gain_score"], new["gap_percent"], new["gain_points"]) == ("0.03", "", "")


def test_what_the_runs_used_is_a_table_and_a_file_of_its_own() -> None:
    results = study([RESULTS[0], RESULTS[2], replace(RESULTS[3], usage=Usage(70.0, 40.0, 2**29, 20, 1000))])
    text = tables.markdown(results)
    assert (
        "| domain | arm | calls | tokens | US $ | seconds | CPU s | memory, MiB | evaluations | work |"
        in text
    )
    assert "| jsp | new | 4.0 | 100 | 0.5000 | 60.0 | 30.0 | 512 | 16 | 950 |" in text
    assert r"jsp & old & 4.0 & 100 & 0.5000 & 50.0 & 20.0 & 256 & 12 & 900 \\" in tables.latex(results)
    further = tables.further_csv(results)
    assert further.keys() == {"resources", "course"}
    old, new = csv.DictReader(io.StringIO(further["resources"]))
    assert (old["cpu_s"], new["cpu_s"], new["peak_mib"], new["runs"]) == ("20.0", "30.0", "512.0", "2")
    first = next(csv.DictReader(io.StringIO(further["course"])))
    assert (first["seconds"], first["evaluations"], first["gap_percent"]) == ("50.0", "12", "5.0")


def test_logs_that_do_not_say_what_was_used_leave_a_gap() -> None:
    silent = replace(RESULTS[0], usage=Usage(50.0, evaluations=3))
    assert "| jsp | old | 4.0 | 100 | 0.5000 | 50.0 |  |  | 3 | 0 |" in tables.markdown(study([silent]))


def test_groups_and_budgets_of_the_test_have_tables_of_their_own() -> None:
    def shifted(run: CellResult) -> CellResult:
        arms = {"evolved": run.gaps, "baseline": run.start}
        return replace(run, test_groups=("g", "g/[01]"), by_seconds={0.5: arms, 10.0: arms})

    results = study([shifted(run) for run in (RESULTS[0], *RESULTS[2:])])
    text = tables.markdown(results)
    assert "| arm | g | g/[01] |" in text
    assert "| old | 6.667 ± 0.000 | 5.500 ± 0.000 |" in text
    assert "| new | **3.500 ± 0.707** | **3.500 ± 0.707** |" in text
    assert "| arm | 0.5 s | 10 s |" in text
    assert text.count("| start | 9.000 ± 0.000 | 9.000 ± 0.000 |") == 2
    assert "<td><strong>3.500 ± 0.707</strong></td><td><strong>3.500" in tables.html(results)
    assert tables.further_csv(results).keys() == {"groups", "seconds", "resources", "course"}


async def test_time_between_two_processes_is_not_the_searchs() -> None:
    def events() -> list[RecordedEvent]:
        closed = [
            GenerationCompleted(generation=n, state_digest="", used=ProcessUse(cpu_s=cpu, peak_bytes=peak))
            for n, cpu, peak in ((1, 3.0, 10), (2, 2.0, 30), (3, 5.0, 20))
        ]
        resumed = RunResumed(code_version="", epoch=2, changed={})
        paused = RunPaused(reason="")
        written = [(0, paused), (4, closed[0]), (5, paused), (60, resumed), (61, closed[1]), (64, closed[2])]
        return [
            recorded(seq, Draft("conductor", payload))._replace(recorded_at=second * 1_000_000)
            for seq, (second, payload) in enumerate(written, start=1)
        ]

    async def stream() -> AsyncIterator[RecordedEvent]:
        for event in events():
            yield event

    assert await usage_by_generation(stream()) == {
        1: Usage(4.0, 3.0, 10),
        2: Usage(6.0, 5.0, 30),
        3: Usage(9.0, 8.0, 30),
    }
