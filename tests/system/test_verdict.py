"""What came of a run is said in one sentence, the same wherever it is said."""

from __future__ import annotations

import html
import re
from typing import Any

import anyio
from tests.system.conftest import Command, Tested

from dga2d.events import RunId
from dga2d.runtime.page.panels import context_for
from dga2d.runtime.page.timeline import Timeline
from dga2d.store import open_store


def test_every_command_and_file_says_the_same(tested: Tested, command: Command) -> None:
    program, view = tested
    sentence = view["verdict"]["sentence"]
    assert sentence.startswith(("improved", "no clear improvement", "not improved"))
    assert command("show", "done", "--json", program=program).json["verdict"] == view["verdict"]
    assert f"verdict      {sentence}\n" in command("show", "done", program=program).out
    page = (program.folder / "report.html").read_text(encoding="utf-8")
    told = " ".join(html.unescape(re.sub("<[^>]+>", "", page)).split())
    assert sentence[1:] in re.sub(r" in equal (work|seconds)(?= on )", "", told)
    command("report", "done", "-o", "report.md", program=program)
    assert f"Verdict: {sentence}.\n" in (program.folder / "report.md").read_text(encoding="utf-8")
    assert sentence in command("solver", "done", "-o", "solver.py", program=program).out
    assert f"Result: {sentence}\n" in (program.folder / "solver.py").read_text(encoding="utf-8")

    async def panel() -> dict[str, Any]:
        async with open_store(program.url, create=False, read_only=True) as store:
            timeline = Timeline(store, RunId("done"))
            await timeline.catch_up()
            return await context_for("overview", timeline, timeline.length)

    assert anyio.run(panel)["view"]["verdict"] == view["verdict"]


def test_the_solver_bears_the_figures_of_the_program_in_it(tested: Tested, command: Command) -> None:
    """The best program on the training batch is another one here; its gap is none of the solver's."""
    program, view = tested
    assert view["best"]["pipeline"] != view["checkpoint"]["pipeline"]
    exported = command("solver", "done", "-o", "solver.py", "--json", program=program).json
    assert exported["pipeline"] == [step["operator"] for step in view["checkpoint"]["pipeline"]]
    validation, held_out, sentence = exported["results"]
    assert validation.startswith(f"validation gap {view['checkpoint']['gap_percent']:.2f} % (1 instance)")
    label = "baseline" if view["checkpoint"]["is_safe_baseline"] else "evolved"
    assert held_out.startswith(f"held-out gap {view['test']['gap_percent'][label]:.2f} % (1 instance)")
    assert sentence == view["verdict"]["sentence"]
    text = (program.folder / "solver.py").read_text(encoding="utf-8")
    assert "training" not in text.split("import", 1)[0]


def test_a_kept_baseline_is_tested_once_and_named(tested: Tested, command: Command) -> None:
    program, view = tested
    evaluations = [row for row in program.rows("done") if row.type == "EvaluationRecorded"]
    arms = {row.fields["candidate"] for row in evaluations if row.fields["split"] == "test"}
    is_kept = view["checkpoint"]["is_safe_baseline"]
    assert is_kept == (view["verdict"]["outcome"] == "baseline kept")
    assert len(arms) == (1 if is_kept else 2)
    assert set(view["test"]["gap_percent"]) == {"evolved", "baseline"}
    shown = command("show", "done", program=program).out
    assert ("evolved" in shown.partition("\nheld-out ")[2].partition("\n")[0]) != is_kept
    assert command("replay", "done", "--verify", program=program).code == 0
