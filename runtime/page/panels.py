"""What each panel of a run's page shows after one of its events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from anyio import to_thread

from dga2d.events import BlobDigest, InstanceKey, RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.page.chart_values import gap_values
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.data import ReportData, ReportPart
from dga2d.runtime.report.graph_drawing import GraphDrawing, draw_graph
from dga2d.runtime.report.notes import Notes
from dga2d.runtime.report.render import context_of
from dga2d.runtime.report.solution_pictures import (
    Incumbent,
    NoPictureError,
    SolutionPicture,
    improvements,
    solution_svg,
)
from dga2d.store import StoreError

PARTS: dict[str, frozenset[ReportPart]] = {
    "overview": frozenset({"algorithm"}),
    "progress": frozenset(),
    "graph": frozenset({"edges"}),
    "evaluations": frozenset({"evaluations"}),
    "walks": frozenset(),
    "algorithm": frozenset({"algorithm", "edits"}),
    "incumbent": frozenset(),
    "lineage": frozenset({"edits"}),
    "calls": frozenset(),
    "events": frozenset(),
    "checking": frozenset(),
}
"""Panel → what its template needs of the report data."""
GROUPS = {
    "": ("overview",),
    "search": ("progress", "graph", "evaluations", "walks"),
    "algorithm": ("algorithm", "incumbent", "lineage"),
    "model": ("calls",),
    "log": ("events", "checking"),
}
"""The panels in their order, by what they are about."""
EVENTS_SHOWN = 60
PICTURES_SHOWN = 6
PICTURES_KEPT = 64
FRAMES_SHOWN = 12


class Pictures:
    """Pictures of solutions, each drawn once, the last `PICTURES_KEPT` kept."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[BlobDigest, bytes | NoPictureError] = OrderedDict()

    async def svg(self, timeline: Timeline, instance: InstanceKey, solution: BlobDigest) -> bytes:
        """Return the picture of a solution of a training instance.

        Raises
        ------
        NoPictureError
            It cannot be drawn here.
        """
        if solution not in self._drawn:
            self._drawn[solution] = await self._draw(timeline, instance, solution)
            if len(self._drawn) > PICTURES_KEPT:
                self._drawn.popitem(last=False)
        drawn = self._drawn[solution]
        if isinstance(drawn, NoPictureError):
            raise drawn
        return drawn

    async def _draw(
        self, timeline: Timeline, instance: InstanceKey, solution: BlobDigest
    ) -> bytes | NoPictureError:
        header = timeline.latest.header
        try:
            data = await timeline.get_blob(solution)
        except StoreError as error:
            return NoPictureError(str(error))
        try:
            return await to_thread.run_sync(solution_svg, header, instance, data)
        except NoPictureError as error:
            return error


async def context_for(panel: str, timeline: Timeline, seq: int, pictures: Pictures) -> dict[str, Any]:
    """Return what the template of `panel` refers to after event `seq`."""
    data = await timeline.report_data(seq, PARTS[panel])
    context = context_of(data) | {"seq": seq}
    if panel == "graph":
        context["picture"] = await _graph(timeline, seq, data)
    elif panel in ("overview", "progress"):
        context["told"] = gap_values(data)
    elif panel == "incumbent":
        context["pictures"] = await _drawn(timeline, data.incumbents[:PICTURES_SHOWN], pictures)
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
        frames = [
            {
                "address": f"/runs/{run}/solutions/{step.solution.seq}.svg",
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


async def _drawn(
    timeline: Timeline, incumbents: Sequence[Incumbent], pictures: Pictures
) -> list[SolutionPicture]:
    """Return the pictures of incumbents.

    The first one is drawn at once and shows whether any can be; the others are drawn when the browser asks
    for them.
    """
    run = quote(timeline.run_id, safe="")
    found: list[SolutionPicture] = []
    for incumbent in incumbents:
        fault = ""
        if not found or found[0].fault:
            try:
                await pictures.svg(timeline, incumbent.instance, incumbent.solution)
            except NoPictureError as error:
                fault = str(error)
        address = "" if fault else f"/runs/{run}/solutions/{incumbent.seq}.svg"
        found.append(SolutionPicture(incumbent, address, fault))
    return found
