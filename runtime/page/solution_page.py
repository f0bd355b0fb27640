"""Pictures of the solutions that a run found, each drawn when it is first asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from dga2d.domains.drawing import Drawing, Picture, align_axes
from dga2d.domains.drawing.layout import SMALL, USUAL
from dga2d.events import BlobDigest, InstanceKey
from dga2d.events.payloads import EvaluationRecorded
from dga2d.runtime.page.answers import RunTimelines, number_in_path, piece_answer, wanted_event
from dga2d.runtime.page.panels import FRAMES_SHOWN
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.solution_pictures import (
    NoPictureError,
    SolutionPicture,
    draw_solutions,
    inline_svg,
    picture_file,
)
from dga2d.store import StoreError

PICTURES_KEPT = 24


class SolutionPage:
    """The handlers of the addresses of pictures."""

    def __init__(self, runs: RunTimelines) -> None:
        self._runs = runs
        self._pictures = Pictures()

    async def solution(self, request: Request) -> Response:
        """Return the picture of the solution that an evaluation found, as a file."""
        try:
            _, picture = await self._drawn(request)
        except NoPictureError as error:
            raise HTTPException(404, str(error)) from error
        file = await to_thread.run_sync(picture_file, picture)
        # what an event found never changes; a step of the slider need not fetch it again
        return Response(file, media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})

    async def picture(self, request: Request) -> Response:
        """Return that picture as a part of the page, or why there is none; ``size=small`` fits a column."""
        size = SMALL if request.query_params.get("size") == "small" else USUAL
        file = f"{request.url.path}.svg"
        try:
            instance, picture = await self._drawn(request)
            svg = await to_thread.run_sync(inline_svg, picture, size)
            drawn = SolutionPicture(instance, svg, image="" if svg else file, file=file)
        except NoPictureError as error:
            _, evaluation = await self._evaluation(request, number_in_path(request, "seq"))
            drawn = SolutionPicture(evaluation.instance, fault=str(error))
        answer = piece_answer("picture", {"drawn": drawn})
        if not drawn.fault:
            answer.headers["cache-control"] = "private, max-age=600"
        return answer

    async def _drawn(self, request: Request) -> tuple[InstanceKey, Picture]:
        """Return the picture that the address names, with the axes of all those ``among`` which it stands."""
        timeline, payload = await self._evaluation(request, number_in_path(request, "seq"))
        assert payload.solution is not None
        among: list[BlobDigest] = []
        for number in filter(None, request.query_params.get("among", "").split(",")):
            _, other = await self._evaluation(request, wanted_event(number))
            if other.instance != payload.instance or len(among) == FRAMES_SHOWN:
                raise HTTPException(400, f"expected at most {FRAMES_SHOWN} solutions of {payload.instance}")
            assert other.solution is not None
            among.append(other.solution)
        return payload.instance, await self._pictures.get(timeline, payload.instance, payload.solution, among)

    async def _evaluation(self, request: Request, seq: int) -> tuple[Timeline, EvaluationRecorded]:
        """Return the evaluation with a solution that event `seq` recorded."""
        timeline = await self._runs.timeline(request.path_params["run"])
        payload = (await timeline.event_at(seq)).payload if 1 <= seq <= timeline.length else None
        if not isinstance(payload, EvaluationRecorded) or payload.solution is None:
            raise HTTPException(404, f"event {seq} brought no solution")
        return timeline, payload


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
        return align_axes([picture, *others])[0] if among else picture


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
