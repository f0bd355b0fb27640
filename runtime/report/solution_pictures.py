"""The solutions of the best program found, and their pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING

from dga2d.domains.core.contract import normalised_gap
from dga2d.domains.core.errors import DomainError
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
    """The picture of an incumbent, or why there is none."""

    incumbent: Incumbent
    address: str
    """Address of the picture, for ``<img>``."""
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


def solution_figure(header: RunStarted, instance: InstanceKey, solution: bytes) -> Figure:
    """Return a figure of the `solution` of a training `instance`.

    This takes seconds the first time: the domain is imported and its instances are generated.

    Raises
    ------
    NoPictureError
        There is no matplotlib, no such domain or no picture of it, or its instances are not where they were.
    """
    from dga2d.domains.core.optional_parts import draw_picture
    from dga2d.runtime.runs.problem import Problem
    from dga2d.runtime.runs.solving import decode_solution

    try:
        folder = None if header.data_dir is None else Path(header.data_dir)
        problem = Problem.open(header.domain, folder, suite=header.settings.get("suite", "any"))
        return draw_picture(problem.domain, problem.instance(instance), decode_solution(solution))
    except (DomainError, Dga2dError) as error:
        raise NoPictureError(str(error)) from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("matplotlib", "mpl_toolkits"):
            raise NoPictureError(f"its picture needs a module that is not installed: {error}") from error
        raise NoPictureError("no matplotlib: pip install 'dga2d[figures]'") from error


def solution_svg(header: RunStarted, instance: InstanceKey, solution: bytes) -> bytes:
    """Return the same as SVG. Raises NoPictureError."""
    drawn = io.BytesIO()
    with _drawing:
        save_figure(solution_figure(header, instance, solution), drawn, "svg")
    return drawn.getvalue()


def embedded_picture(header: RunStarted, incumbent: Incumbent, solution: bytes) -> SolutionPicture:
    """Return the picture with its data in its address, for a page that must stand alone."""
    try:
        drawn = solution_svg(header, incumbent.instance, solution)
    except NoPictureError as error:
        return SolutionPicture(incumbent, "", str(error))
    return SolutionPicture(incumbent, "data:image/svg+xml;base64," + base64.b64encode(drawn).decode())
