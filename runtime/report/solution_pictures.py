"""The solutions of the best program found, and their pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING

from markupsafe import Markup

from dga2d.domains.core.contract import normalised_gap
from dga2d.domains.core.errors import DomainError
from dga2d.domains.drawing import Drawing, Picture
from dga2d.domains.drawing.figure import figure_of
from dga2d.domains.drawing.layout import USUAL, Size
from dga2d.domains.drawing.svg import svg_element, svg_file
from dga2d.events import BlobDigest, Dga2dError, InstanceKey
from dga2d.events.payloads import InstanceEntry, RunStarted
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.notes import Evaluation, Notes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, target: Path | IO[bytes], kind: str) -> None:
    """Write `figure` in the format `kind` (``svg``, ``png``, ``pdf``), without date and with stable names."""
    import matplotlib  # slow to import, and optional

    with matplotlib.rc_context({"svg.hashsalt": "dga2d", "svg.fonttype": "none", "savefig.dpi": 200}):
        figure.savefig(target, format=kind, metadata={"Date": None} if kind == "svg" else None)


_drawing = Lock()
"""Draw one picture at a time: matplotlib's settings and font cache belong to the process."""


class NoPictureError(Dga2dError):
    """A solution cannot be drawn here; the message says why."""


@dataclass(frozen=True)
class Incumbent:
    """What the best program found on an instance of the training batch."""

    seq: int
    instance: InstanceKey
    objective: float
    reference: float
    gap_percent: float
    solution: BlobDigest


@dataclass(frozen=True)
class SolutionPicture:
    """The picture of a solution, or why there is none."""

    instance: InstanceKey
    svg: Markup = field(default_factory=Markup)
    """Its element; empty for a figure of matplotlib."""
    image: str = ""
    """Address of such a figure, for ``<img>``."""
    file: str = ""
    """Address of the picture as a file, where there is one."""
    fault: str = ""


@dataclass(frozen=True)
class Improvement:
    """A solution that was the best known of its instance when it was found."""

    generation: int
    solution: Incumbent


def incumbents(state: RunState, notes: Notes) -> tuple[Incumbent, ...]:
    """Return the solutions of A* by instance; empty while there is none."""
    best = state.best
    if best is None:
        return ()
    entries = _training_entries(state)
    found = [
        solution
        for seq, e in notes.evaluations
        if (e.split, e.generation, e.candidate) == ("train", best.generation, best.candidate)
        and (solution := _solution(state, entries, seq, e)) is not None
    ]
    return tuple(sorted(found, key=lambda incumbent: incumbent.instance))


def improvements(state: RunState, notes: Notes) -> dict[InstanceKey, list[Improvement]]:
    """Return for each training instance the solutions of candidates that improved on all before, in their
    order."""
    entries = _training_entries(state)
    found: dict[InstanceKey, list[Improvement]] = {}
    for seq, e in notes.evaluations:
        solution = _solution(state, entries, seq, e) if e.split == "train" else None
        if solution is None:
            continue
        known = found.setdefault(e.instance, [])
        if not known or solution.gap_percent < known[-1].solution.gap_percent:
            known.append(Improvement(e.generation, solution))
    return found


def _training_entries(state: RunState) -> dict[InstanceKey, InstanceEntry]:
    return {entry.key: entry for entry in state.header.splits.train}


def _solution(
    state: RunState, entries: Mapping[InstanceKey, InstanceEntry], seq: int, evaluation: Evaluation
) -> Incumbent | None:
    """Return what an evaluation of a training instance found; ``None`` for nothing that is kept."""
    if evaluation.objective is None or evaluation.solution is None:
        return None
    entry = entries[evaluation.instance]
    gap = normalised_gap(evaluation.objective, entry.reference, state.header.sense, entry.scale)
    return Incumbent(
        seq, evaluation.instance, evaluation.objective, entry.reference, 100.0 * gap, evaluation.solution
    )


def draw_solutions(header: RunStarted, instance: InstanceKey, solutions: Sequence[bytes]) -> list[Picture]:
    """Return pictures of `solutions` of a training `instance`.

    This takes seconds the first time: the domain is imported and its instances are generated.

    Raises
    ------
    NoPictureError
        There is no such domain or no picture of it, its instances are not where they were, or it is drawn by
        matplotlib, which is not there.
    """
    from dga2d.domains.core.optional_parts import draw_picture
    from dga2d.runtime.runs.problem import Problem
    from dga2d.runtime.runs.solving import decode_solution

    try:
        folder = None if header.data_dir is None else Path(header.data_dir)
        problem = Problem.open(header.domain, folder, suite=header.settings.get("suite", "any"))
        loaded = problem.instance(instance)
        return [draw_picture(problem.domain, loaded, decode_solution(solution)) for solution in solutions]
    except (DomainError, Dga2dError) as error:
        raise NoPictureError(str(error)) from error
    except ModuleNotFoundError as error:
        raise _missing(error) from error


def _missing(error: ModuleNotFoundError) -> NoPictureError:
    if (error.name or "").partition(".")[0] not in ("matplotlib", "mpl_toolkits"):
        return NoPictureError(f"its picture needs a module that is not installed: {error}")
    return NoPictureError("no matplotlib: pip install 'dga2d[figures]'")


def solution_figure(header: RunStarted, instance: InstanceKey, solution: bytes) -> Figure:
    """Return a figure of the `solution` of a training `instance`. Raises NoPictureError."""
    (picture,) = draw_solutions(header, instance, [solution])
    try:
        return figure_of(picture)
    except ModuleNotFoundError as error:
        raise _missing(error) from error


def save_picture(picture: Picture, target: Path | IO[bytes], kind: str) -> None:
    """Write `picture` in the format `kind`; only an SVG of a drawing needs no matplotlib."""
    if kind != "svg" or not isinstance(picture, Drawing):
        with _drawing:
            save_figure(figure_of(picture), target, kind)
    elif isinstance(target, Path):
        target.write_text(svg_file(picture), encoding="utf-8")
    else:
        target.write(svg_file(picture).encode())


def picture_file(picture: Picture) -> bytes:
    """Return an SVG file of a picture."""
    written = io.BytesIO()
    save_picture(picture, written, "svg")
    return written.getvalue()


def inline_svg(picture: Picture, size: Size = USUAL) -> Markup:
    """Return the SVG element of a drawing; nothing for a figure, whose SVG is a page of its own."""
    return Markup(svg_element(picture, size)) if isinstance(picture, Drawing) else Markup()


def embedded_picture(header: RunStarted, incumbent: Incumbent, solution: bytes) -> SolutionPicture:
    """Return the picture with all its data, for a page that must stand alone."""
    try:
        (picture,) = draw_solutions(header, incumbent.instance, [solution])
        svg = inline_svg(picture)
        encoded = "" if svg else base64.b64encode(picture_file(picture)).decode()
    except NoPictureError as error:
        return SolutionPicture(incumbent.instance, fault=str(error))
    image = "data:image/svg+xml;base64," + encoded
    return SolutionPicture(incumbent.instance, svg, image="" if svg else image)
