"""What each panel of a run's page shows after one of its events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from anyio import to_thread

from dga2d.domains.drawing import Drawing, Picture, aligned
from dga2d.events import BlobDigest, InstanceKey, RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.page.chart_values import gap_values
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.data import ReportData, ReportPart
from dga2d.runtime.report.graph_drawing import GraphDrawing, draw_graph
from dga2d.runtime.report.notes import Notes
from dga2d.runtime.report.render import context_of
from dga2d.runtime.report.solution_pictures import NoPictureError, draw_solutions, improvements
from dga2d.store import StoreError

PARTS: dict[str, frozenset[ReportPart]] = {
    "overview": frozenset({"algorithm"}),
    "progress": frozenset({"utilisation"}),
    "graph": frozenset({"edges", "credit"}),
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
PICTURES_KEPT = 24
FRAMES_SHOWN = 12


class Pictures:
    """Pictures of solutions, each drawn once, the last `PICTURES_KEPT` kept."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[BlobDigest, Picture | NoPictureError] = OrderedDict()

    async def get(
        self,
        timeline: Timeline,
        instance: InstanceKey,
        solution: BlobDigest,
        among: Sequence[BlobDigest] = (),
    ) -> Picture:
        """Return the picture of a solution of a training instance.

        Its axes cover what those `among` which it is shown need, so that they can be compared.

        Raises
        ------
        NoPictureError
            It cannot be drawn here.
        """
        wanted = dict.fromkeys([solution, *among])
        found = {one: self._drawn[one] for one in wanted if one in self._drawn}
        found |= await _draw(timeline, instance, [one for one in wanted if one not in found])
        self._drawn.update(found)
        while len(self._drawn) > PICTURES_KEPT:
            self._drawn.popitem(last=False)
        picture = found[solution]
        if isinstance(picture, NoPictureError):
            raise picture
        if not isinstance(picture, Drawing):
            return picture
        others = [one for one in found.values() if isinstance(one, Drawing) and one is not picture]
        return aligned([picture, *others])[0] if among else picture


async def _draw(
    timeline: Timeline, instance: InstanceKey, solutions: Sequence[BlobDigest]
) -> dict[BlobDigest, Picture | NoPictureError]:
    drawn: dict[BlobDigest, Picture | NoPictureError] = {}
    texts: dict[BlobDigest, bytes] = {}
    for solution in solutions:
        try:
            texts[solution] = await timeline.get_blob(solution)
        except StoreError as error:
            drawn[solution] = NoPictureError(str(error))
    if not texts:
        return drawn
    header = timeline.latest.header
    try:
        pictures = await to_thread.run_sync(draw_solutions, header, instance, list(texts.values()))
    except NoPictureError as error:
        return drawn | dict.fromkeys(texts, error)
    return drawn | dict(zip(texts, pictures, strict=True))


async def context_for(panel: str, timeline: Timeline, seq: int) -> dict[str, Any]:
    """Return what the template of `panel` refers to after event `seq`."""
    data = await timeline.report_data(seq, PARTS[panel])
    context = context_of(data) | {"seq": seq}
    if panel == "graph":
        context["picture"] = await _graph(timeline, seq, data)
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
