"""Writes the figures of a run, each as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import OutputFileError
from dga2d.runtime.figures import save_figure
from dga2d.runtime.page.picture import draw
from dga2d.runtime.report.figures import convergence_figure, credit_figure, graph_figure
from dga2d.runtime.report.incumbent import NoPictureError, solution_figure
from dga2d.runtime.report.story import RunStory, read_run, tell
from dga2d.store import open_store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")


class Drawable(NamedTuple):
    """What the figures show."""

    state: RunState
    story: RunStory
    solution: bytes | None
    """The best program's solution of its first training instance; ``None`` while there is none."""


class Drawn(NamedTuple):
    """What was written, and what could not be."""

    files: list[Path]
    head_hash: str
    faults: list[str]


async def read_drawable(url: str, run_id: str) -> Drawable:
    """Read, check and fold the log of a run.

    Raises
    ------
    UnknownRunError, RunStateError, CorruptEventError, InvariantError
        As `read_story`.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state, notes = await read_run(store, run_id)
        head = (await store.head(RunId(run_id))).hash.hex()
        story = await tell(store, run_id, state, notes, head, frozenset({"edges"}))
        first = story.incumbents[:1]
        return Drawable(state, story, await store.get_blob(first[0].solution) if first else None)


def write_figures(drawable: Drawable, folder: Path) -> Drawn:
    """Write ``convergence``, ``graph``, ``credit`` and ``incumbent`` into `folder`, which is made if need be.

    What there is nothing to draw of yet is left out; an incumbent that cannot be drawn is a fault.

    Raises
    ------
    OutputFileError
        The system refused.
    """
    files: list[Path] = []
    faults: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in _figures(drawable, faults):
            for kind in FORMATS:
                files.append(folder / f"{name}.{kind}")
                save_figure(figure, files[-1], kind)
    except OSError as error:
        raise OutputFileError(files[-1] if files else folder, error.strerror or str(error)) from error
    return Drawn(files, drawable.story.head_hash, faults)


def _figures(drawable: Drawable, faults: list[str]) -> Iterator[tuple[str, Figure]]:
    state, story, solution = drawable
    convergence = convergence_figure(story.view["history"])
    if convergence is not None:
        yield "convergence", convergence
    if state.graph is not None:
        credits = {(source, target): credit for source, target, credit in story.edges}
        yield "graph", graph_figure(draw(state.header, state, state, credits))
    credit = credit_figure(story.credit)
    if credit is not None:
        yield "credit", credit
    if solution is not None:
        try:
            yield "incumbent", solution_figure(state.header, story.incumbents[0].instance, solution)
        except NoPictureError as error:
            faults.append(f"no picture of the incumbent: {error}")
