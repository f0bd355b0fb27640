"""The report of a run: complete, self-contained, and safe whatever a model wrote."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from dga2d.events.payloads import CallsResumed, CallsSuspended, LLMCallRefused
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report import ReportData, read_report_data, render_html, render_markdown
from dga2d.runtime.report.charts import comparison, convergence, draw_chart
from dga2d.runtime.report.milestones import EditMark, Level, Milestones, ValidatedBest
from dga2d.runtime.report.notes import Incident, Notes, note

HOSTILE = '</pre><script>alert(1)</script><img src="http://example.org/x" onerror=alert(2)>\n```\n# heading'


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def data(finished: Any) -> ReportData:
    return anyio.run(read_report_data, f"sqlite+aiosqlite:///{finished.database}", "done")


def test_report_tells_results_algorithm_code_calls_and_head(
    finished: Any, command: Any, data: ReportData
) -> None:
    outcome = command("report", "done", "-o", "told.html", "--json", program=finished)
    assert outcome.code == 0, outcome.err
    told = outcome.json
    assert told == {
        "run": "done",
        "report": "told.html",
        "format": "html",
        "figures": None,
        "head_hash": finished.rows("done")[-1].hash.hex(),
    }
    page = (finished.folder / "told.html").read_text(encoding="utf-8")
    shown = command("show", "done", "--json", program=finished).json
    assert shown["state_digest"] in page
    assert told["head_hash"] in page
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="drawn"') == page.count("<desc>") == 1
    assert [step.operator for step in data.algorithm] == [
        step["operator"] for step in shown["checkpoint"]["pipeline"]
    ]
    for step in data.algorithm:
        assert "def run(env_data, state, calc_makespan_fn)" in step.source
    assert sum(sum(counts.values()) for counts in data.evaluations.values()) == sum(
        row.type == "EvaluationRecorded" for row in finished.rows("done")
    )
    assert len(data.calls) == shown["ledger"]["used"] > 0
    assert all(call["prompt_text"] and call["response_text"] for call in data.calls)


def test_report_runs_no_script_and_asks_nothing_of_the_network(data: ReportData) -> None:
    for tag, attributes in Elements(render_html(data)).found:
        assert tag not in {"script", "iframe", "link", "object", "embed"}
        assert tag != "img" or (attributes["src"] or "").startswith("data:image/svg+xml;base64,")
        assert not any(name.startswith("on") for name in attributes)
        # a namespace is a name, which nobody fetches
        asked = [value or "" for name, value in attributes.items() if name != "xmlns"]
        assert not any(re.match(r"\s*(https?:|//|javascript:)", value) for value in asked)


def test_hostile_text_stays_text(data: ReportData) -> None:
    calls = tuple({**call, "prompt_text": HOSTILE, "response_text": HOSTILE, "diagnostic": HOSTILE,
                   "model": HOSTILE, "subject": HOSTILE} for call in data.calls)  # fmt: skip
    hostile = replace(
        data,
        calls=calls,
        edits=tuple(replace(edit, what=HOSTILE, code=HOSTILE) for edit in data.edits),
        algorithm=tuple(replace(step, source=HOSTILE, operator=HOSTILE) for step in data.algorithm),
        start=(HOSTILE,),
        incidents=(Incident(1, 0, HOSTILE),),
    )
    tags = {tag for tag, _ in Elements(render_html(hostile)).found}
    assert tags == {tag for tag, _ in Elements(render_html(data)).found}
    assert "&lt;script&gt;alert(1)" in render_html(hostile)


def test_outages_and_refused_calls_are_told(data: ReportData) -> None:
    payloads = (
        CallsSuspended(reason="connection refused"),
        CallsResumed(waited_s=12.4),
        LLMCallRefused(
            purpose="connect",
            subject="connect/3/0",
            attempt=1,
            limit="tokens",
            reason="900 of 1000 spent",
        ),
    )
    notes = Notes()
    for seq, payload in enumerate(payloads, start=7):
        event: Any = SimpleNamespace(seq=seq, recorded_at=0, payload=payload)
        note(notes, RunState(), event)
    troubled = replace(data, incidents=tuple(notes.incidents))
    for text in (render_html(troubled), render_markdown(troubled)):
        assert "the endpoint does not work, calls wait: connection refused" in text
        assert "the endpoint works again after 12 s" in text
        assert "connect/3/0 was refused by the limit on tokens: 900 of 1000 spent" in text
    assert "outages" not in render_html(data)


def test_markdown_fences_are_longer_than_any_in_the_code(data: ReportData) -> None:
    hostile = replace(data, algorithm=tuple(replace(s, source=HOSTILE) for s in data.algorithm[:1]))
    lines = render_markdown(hostile).splitlines()
    start = lines.index("````")
    assert lines[start + 1 :].index("````") == len(HOSTILE.splitlines())


def test_report_says_where_it_cannot_be_written(finished: Any, command: Any, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing" / "told.html")
    outcome = command("report", "done", "-o", missing, program=finished)
    assert outcome.code == 2
    assert outcome.error == (
        f"error: cannot write {tmp_path}/missing/told.html: there is no directory {tmp_path}/missing; "
        "name another file"
    )


def row(generation: int, best: float | None, so_far: float | None) -> dict[str, Any]:
    return {
        "generation": generation,
        "best_gap_percent": best,
        "best_so_far_percent": so_far,
        "validation_gap_percent": None,
    }


def test_plot_keeps_every_mark_inside_and_says_which_are_clipped() -> None:
    plot = convergence([row(1, None, None), row(2, 10.0, 10.0), row(3, 90.0, 10.0), row(4, 2.0, 2.0)])
    assert plot is not None
    chart = draw_chart(plot)
    series = {one.name: one for one in chart.series}
    assert [mark.is_clipped for mark in series["best of generation"].marks] == [False, True, False]
    heights = [mark.y for mark in series["best so far"].marks]
    assert heights[0] == heights[1] < heights[2]
    assert all(0 <= mark.y <= 280 and 0 <= mark.x <= 720 for one in chart.series for mark in one.marks)
    assert json.dumps([label for _, label in chart.x_ticks]) == '["1", "2", "3", "4"]'


def test_validations_the_baseline_and_the_held_out_gap_lie_inside_the_plot() -> None:
    history = [row(1, 3.0, 3.0) | {"validation_gap_percent": 9.0}, row(2, 1.0, 1.0)]
    told = Milestones(
        (ValidatedBest(1, 9.0, (2.0, 16.0), 8),),
        (Level("start, validation", 11.0), Level("evolved, held-out", -1.0)),
        (EditMark(1, 40, "climb.new added"), EditMark(1, 41, "kick.new added"), EditMark(3, 99, "later")),
    )
    plot = convergence(history, milestones=told)
    assert plot is not None
    chart = draw_chart(plot)
    (mark,) = chart.series[2].marks
    assert not mark.is_clipped
    assert mark.low is not None
    assert mark.high is not None
    assert 0 < mark.high < mark.y < mark.low < 280
    assert mark.label == "generation 1: 9.00 % on 8 instances, 95 % interval 2.00 to 16.00"
    assert [level.name for level in chart.levels] == ["start, validation", "evolved, held-out"]
    assert 0 < chart.levels[0].y < mark.y < chart.levels[1].y < 280
    assert [(edit.seq, edit.text) for edit in chart.edits] == [
        (40, "climb.new added"),
        (41, "kick.new added"),
    ]
    assert chart.edits[0].x == chart.edits[1].x
    assert chart.edits[0].y != chart.edits[1].y


def test_runs_compared_fill_their_plot() -> None:
    runs = [("a", [row(1, 1.2, 1.2), row(2, 0.9, 0.9)], ()), ("b", [row(1, 1.1, 1.1)], ()), ("c", [], ())]
    plot = comparison(runs)
    assert plot is not None
    assert [curve.name for curve in plot.curves] == ["a", "b"]
    chart = draw_chart(plot)
    assert max(float(label) for _, label in chart.y_ticks) == 1.0
    assert comparison([("c", [], ())]) is None


def test_plot_of_failures_alone_is_left_out() -> None:
    assert convergence([row(1, None, None)]) is None
    assert convergence([]) is None
