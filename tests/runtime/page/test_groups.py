"""Runs of equal settings as one curve: the mean, and a band from the lowest to the highest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dga2d.replay.settings import RunSettings
from dga2d.runtime.page import groups as page_groups
from dga2d.runtime.page.groups import GroupedRun, RunGroup, compare_groups, group_plot
from dga2d.runtime.report.charts import draw_chart


def run(name: str, gaps: list[float | None], held_out: float | None = None, **settings: Any) -> GroupedRun:
    state: Any = SimpleNamespace(
        header=SimpleNamespace(domain="tsp", own_score=None),
        settings=RunSettings(**settings),
        ledger=SimpleNamespace(used=len(gaps), cost_usd=0.5),
    )
    history = [{"generation": g, "best_so_far_percent": gap} for g, gap in enumerate(gaps, 1)]
    test = None if held_out is None else {"gap_percent": {"evolved": held_out}}
    verdict = {"outcome": "improved" if held_out is not None else "baseline kept"}
    results = {"best": {"gap_percent": gaps[-1]}, "checkpoint": None, "test": test, "verdict": verdict}
    return GroupedRun(name, state, results, history)


def test_a_group_is_drawn_as_its_mean_within_its_band() -> None:
    group = RunGroup("dg", (run("a", [8.0, 4.0, 1.0], 2.0), run("b", [None, 2.0, 2.0, 0.5], 4.0)))
    plot = group_plot([group])
    assert plot is not None
    (curve,) = plot.curves
    assert curve.name == "dg (2 runs)"
    # generation 1 has a run without a figure, generation 4 only one run
    assert [(p.x, p.value, p.low, p.high) for p in curve.points] == [(2, 3, 2, 4), (3, 1.5, 1, 2)]
    assert [(level.name, level.gap_percent) for level in plot.levels] == [("dg: held-out", 3.0)]
    assert draw_chart(plot).series[0].band.count(",") == 6  # there and back in steps
    assert group_plot([]) is None
    assert group_plot([RunGroup("none", (run("a", [None]),))]) is None


def test_a_band_of_one_run_is_not_drawn() -> None:
    plot = group_plot([RunGroup("dg", (run("a", [8.0, 4.0]),))])
    assert plot is not None
    assert draw_chart(plot).series[0].band == ""


def test_groups_are_named_by_what_they_differ_in() -> None:
    firsts = [run("s.dg.1", [1.0]), run("s.dag.1", [1.0], structure="dag")]
    assert page_groups._names(firsts) == ["structure = dg", "structure = dag"]
    assert page_groups._names(firsts[:1]) == ["all runs"]
    many = run("s.other.1", [1.0], structure="dag", epsilon=0.1, pipelines=7, temperature=0.2)
    assert page_groups._names([firsts[0], many]) == ["like s.dg.1", "like s.other.1"]


def test_the_table_has_means_with_deviations_and_the_settings_that_differ() -> None:
    groups = [
        RunGroup("dg", (run("a", [3.0], 2.0), run("b", [1.0]))),
        RunGroup("dag", (run("c", [5.0], 2.5, structure="dag"),)),
    ]
    rows = {row.name: row.values for row in compare_groups(groups)}
    assert rows["runs"] == ("a, b", "c")
    assert rows["best on training"] == ("2.00 % ± 1.41", "5.00 %")
    assert rows["evolved, held-out"] == ("2.00 % (1 of 2 runs)", "2.50 %")
    assert rows["improved"] == ("1 of 2 runs", "1 of 1 run")
    assert rows["structure"] == ("dg", "dag")
    assert "epsilon" not in rows
