"""The Python interface on a finished run: results, tables, graph, replay, fork, HTML."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from tests.system.conftest import Program

import dga2d
from dga2d.events import RunId
from dga2d.runtime.api import following
from dga2d.runtime.inspection import tables
from dga2d.store import UnknownRunError

pytestmark = pytest.mark.timeout(180)


def opened(program: Program) -> dga2d.Run:
    return dga2d.open(program.database)["done"]


def test_a_run_says_what_the_commands_say(finished: Program) -> None:
    run, shown = opened(finished), finished.run("show", "done", "--json").json
    assert run.view() == shown
    assert run.view(generation=1)["completed_generations"] == 1
    assert run.results == {key: shown[key] for key in run.results}
    assert {"best", "checkpoint", "test", "verdict"} <= set(run.results)
    assert run.verdict == shown["verdict"]["sentence"]
    assert repr(run) == "<run done: tsp, completed, 3 generations>"
    best = run.best
    assert best.operators == tuple(step["operator"] for step in shown["checkpoint"]["pipeline"])
    assert (best.split, best.gap_percent) == ("validation", shown["checkpoint"]["gap_percent"])
    assert all("def run(" in source for source in best.sources)
    replayed = run.replay(verify=True)
    assert (replayed["difference"], replayed["state_digest"]) == (None, shown["state_digest"])
    assert replayed["decisions"] > 10


def test_tables_have_a_row_per_thing_with_and_without_pandas(
    finished: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(finished)
    frames = {name: getattr(run, name) for name in ("history", "evaluations", "calls")}
    assert {type(frame).__name__ for frame in frames.values()} == {"DataFrame"}
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    rows = {name: getattr(run, name) for name in frames}
    recorded = [row for row in finished.rows("done") if row.type == "EvaluationRecorded"]
    assert [row["seq"] for row in rows["evaluations"]] == [row.seq for row in recorded]
    assert [row["objective"] for row in rows["evaluations"]] == [row.fields["objective"] for row in recorded]
    assert all(row["gap_percent"] is not None and row["pipeline"] for row in rows["evaluations"])
    assert [row["generation"] for row in rows["history"]] == [1, 2, 3]
    assert [row["call"] for row in rows["calls"]] == list(range(1, len(rows["calls"]) + 1))
    for name, frame in frames.items():
        assert list(frame.columns) == list(rows[name][0])
        assert len(frame) == len(rows[name])


def test_the_graph_has_credits(finished: Program) -> None:
    run = opened(finished)
    graph, view = run.graph, run.view()
    assert {tuple(edge) for edge in view["graph"]["edges"]} == set(graph.edges)
    assert nx.has_path(graph, "START", "END")
    credits = {row["operator"]: row["credit"] for row in view["operators"]}
    assert {node: data["credit"] for node, data in graph.nodes(data=True) if data} == credits


def test_everything_works_inside_a_running_event_loop(finished: Program) -> None:
    async def cell() -> tuple[list[str], str]:
        runs = dga2d.open(finished.database)
        return list(runs), runs["done"].verdict

    assert asyncio.run(cell())[0] == ["done"]


def test_html_shows_the_run_and_lets_nothing_through(
    finished: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, runs = opened(finished), dga2d.open(finished.database)
    monkeypatch.setattr(dga2d.Run, "verdict", "<script>alert(1)</script>\u202e")
    html = run._repr_html_()
    assert all(part in html for part in ("done", "<svg", "<polyline", *run.best.operators))
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "\u202e" not in html
    assert "<td>done</td>" in runs._repr_html_()


def test_an_unknown_run_is_a_key_error_that_names_a_similar_one(finished: Program) -> None:
    runs = dga2d.open(finished.database)
    assert "don" not in runs
    with pytest.raises(
        UnknownRunError, match=r"^there is no run 'don' in this database; did you mean 'done'\?$"
    ):
        runs["don"]
    with pytest.raises(KeyError):
        runs["zzz"]


def test_a_fork_is_a_paused_run(doomed: Program) -> None:
    fork = opened(doomed).fork(generation=1, run_id="other", pipelines=2)
    assert (fork.name, fork.status, fork.state.completed) == ("other", "paused", 1)
    assert fork.state.settings.pipelines == 2
    assert fork.state.parent is not None
    assert fork.state.parent[0] == "done"


def test_report_and_solver_are_written(finished: Program, tmp_path: Path) -> None:
    run = opened(finished)
    assert "<svg" in run.report(tmp_path / "r.html").read_text()
    assert run.report(tmp_path / "r.md").read_text().startswith("# done")
    assert "PIPELINE = (" in run.solver(tmp_path / "s.py").read_text()


def test_progress_is_drawn_in_the_cell(finished: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not following.is_notebook()
    frames: list[str] = []

    class Handle:
        def update(self, shown: Any) -> None:
            frames.append(shown._repr_html_())

    class Display:
        @staticmethod
        def display(shown: Any, display_id: bool) -> Handle:
            frames.append(shown._repr_html_())
            return Handle()

    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    state = opened(finished).state
    with following.NotebookProgress() as progress:
        progress._state = state
        progress.refresh()
        progress.announce_stop()
    assert "starting" in frames[0]
    assert '<progress max="3" value="3"' in frames[1]
    assert "stopping at the next event" in frames[2]
    assert RunId("done") == opened(finished).name


def test_show_separates_results_from_internals(finished: Program, command: Any) -> None:
    plain = command("show", "done", program=finished).out
    both = command("show", "done", "--internals", program=finished).out
    assert both.startswith(plain)
    assert all(word in plain for word in ("verdict", "checkpoint", "calls", "so far %"))
    assert not any(word in plain for word in ("digest", "credit", "graph"))
    assert all(word in both[len(plain) :] for word in ("digest", "credit", "graph", "entropy"))
