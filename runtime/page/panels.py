"""What each panel of a run's page shows after one of its events."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.page.chart_values import gap_values, heat_values, transition_values
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.data import ReportData, ReportPart
from dga2d.runtime.report.graph_drawing import GraphDrawing, draw_graph
from dga2d.runtime.report.notes import Notes
from dga2d.runtime.report.render import context_of
from dga2d.runtime.report.solution_pictures import improvements

PARTS: dict[str, frozenset[ReportPart]] = {
    "overview": frozenset({"algorithm", "milestones", "incumbents"}),
    "progress": frozenset({"utilisation", "milestones"}),
    "graph": frozenset({"edges", "credit"}),
    "evaluations": frozenset({"evaluations", "outcomes"}),
    "walks": frozenset(),
    "algorithm": frozenset({"algorithm", "edits"}),
    "incumbent": frozenset({"incumbents"}),
    "lineage": frozenset({"edits"}),
    "calls": frozenset({"calls"}),
    "events": frozenset(),
    "checking": frozenset(),
}
"""Panel → what its template needs of the report data."""
LISTS: dict[str, frozenset[ReportPart]] = {
    "generations": frozenset(),
    "programs": frozenset(),
    "families": frozenset({"edits"}),
    "earlier-edits": frozenset({"edits"}),
    "earlier-calls": frozenset({"calls"}),
}
"""Long lists within panels, which are asked for when they are opened; their parts as those of panels."""
GROUPS = {
    "": ("overview",),
    "search": ("progress", "graph", "evaluations", "walks"),
    "algorithm": ("algorithm", "incumbent", "lineage"),
    "model": ("calls",),
    "log": ("events", "checking"),
}
"""The panels in their order, by what they are about."""
TAB_WORDS = {"walks": "walk", "incumbent": "incumbent", "lineage": "lineage", "events": "event"}
"""Panel → the word of the glossary that its tab's name is."""
EVENTS_SHOWN = 60
LATEST = 40
"""Edits and calls that are listed at once; those before them are a list to open."""
MOST_RELATED = 40
"""Implementations in family trees that are shown whole at once."""
PICTURES_SHOWN = 6
FRAMES_SHOWN = 12


async def context_for(panel: str, timeline: Timeline, seq: int) -> dict[str, Any]:
    """Return what the template of `panel` refers to after event `seq`."""
    data = await timeline.report_data(seq, (PARTS | LISTS)[panel])
    context = context_of(data) | {"seq": seq, "latest": LATEST, "most_related": MOST_RELATED}
    if panel == "graph":
        context["picture"] = await _graph(timeline, seq, data)
        context["transitions"] = transition_values(data)
        context["credits"] = heat_values(data.credit, "credit", "", 4)
    elif panel == "evaluations" and data.evaluated is not None:
        context["improvements"] = heat_values(data.evaluated.improvement, "improvement", " %", 3)
    elif panel in ("overview", "progress"):
        context["told"] = gap_values(data)
    elif panel == "incumbent":
        context["n_pictures"] = PICTURES_SHOWN
        context["films"] = _films(timeline.run_id, await timeline.state_at(seq), timeline.notes.until(seq))
    elif panel == "walks":
        context["walks"] = await timeline.walks_until(seq)
    elif panel == "events":
        context["event"] = await timeline.event_at(seq)
        context["events"] = list(reversed(await timeline.events_until(seq, EVENTS_SHOWN)))
    return context


def _films(run_id: RunId, state: RunState, notes: Notes) -> list[dict[str, Any]]:
    """Return for each training instance how its best solution came about: addresses of pictures, with words.

    Of many improvements the first and the last ones are shown.
    """
    run = quote(run_id, safe="")
    films = []
    for instance, steps in sorted(improvements(state, notes).items()):
        shown = steps if len(steps) <= FRAMES_SHOWN else [steps[0], *steps[1 - FRAMES_SHOWN :]]
        among = ",".join(str(step.solution.seq) for step in shown)
        frames = [
            {
                "address": f"/runs/{run}/solutions/{step.solution.seq}?among={among}",
                "words": f"generation {step.generation}: {step.solution.objective:.10g}",
                "seq": step.solution.seq,
            }
            for step in shown
        ]
        films.append({"instance": instance, "frames": frames, "improvements": len(steps)})
    return films


async def _graph(timeline: Timeline, seq: int, data: ReportData) -> GraphDrawing:
    state, before = await timeline.state_at(seq), await timeline.generation_start(seq)
    credits = {(source, target): credit for source, target, credit in data.edges}
    return draw_graph(state.header, state, before, credits, data.first_edges)
