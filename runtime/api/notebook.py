"""Runs in notebooks: a display of progress, and HTML in which everything is escaped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from dga2d.events import RecordedEvent
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.call_views import rejections_view
from dga2d.runtime.inspection.measures import GAP, measure_of
from dga2d.runtime.inspection.views import best_gap
from dga2d.runtime.report import charts
from dga2d.runtime.report.render import environment
from dga2d.runtime.terminal.phase import clock, phase, time_left_s
from dga2d.runtime.terminal.run_metrics import RunMetrics, Workload

REDRAWN_S = 0.5
"""Least seconds between two frames."""


def render(template: str, **values: Any) -> str:
    """Return a template of this package, filled in."""
    found = environment(escapes=True, package="dga2d.runtime.api").get_template(template)
    return found.render(plot=charts, **values)


def is_notebook() -> bool:
    """Return whether the program runs in a kernel of Jupyter."""
    loaded = sys.modules.get("IPython")
    shell = None if loaded is None else loaded.get_ipython()
    return hasattr(shell, "kernel")


class NotebookProgress:
    """Shows what a run does in the cell that started it; the last frame stays."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._state = RunState()
        self._metrics = RunMetrics(clock)
        self._drawn_at = clock()
        self._handle: Any = None

    def __enter__(self) -> NotebookProgress:
        from IPython.display import display

        self._handle = display(self, display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._handle.update(self)

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        self._metrics.record_event(event)
        self._state = state
        self._redraw_in_event_loop()

    def show_workload(self, workload: Workload) -> None:
        self._metrics.workload = workload

    def announce_stop(self) -> None:
        self._metrics.is_stopping = True

    def announce_abort(self) -> None: ...

    def refresh(self) -> None:
        """Draw a new frame; called in the thread of the cell."""
        self._drawn_at = self._clock()
        self._handle.update(self)

    def _redraw_in_event_loop(self) -> None:
        """Draw where nobody else calls `refresh`: events come in the thread of the cell itself."""
        import threading

        is_cell = threading.current_thread() is threading.main_thread()
        if is_cell and self._clock() - self._drawn_at > REDRAWN_S:
            self.refresh()

    def _repr_html_(self) -> str:
        state = self._state
        measured = self._metrics.measure(state)
        left = time_left_s(state, measured)
        gap = best_gap(state)
        measure = GAP if state.started is None else measure_of(state.header)
        return render(
            "progress.html.j2",
            run=measured.run,
            now="stopping at the next event" if measured.is_stopping else phase(state),
            done=state.completed,
            total=state.settings.generations
            if state.started is not None and state.settings.evolves_pipelines
            else None,
            elapsed=clock(measured.elapsed_s),
            left=None if left is None else clock(left),
            evaluations=measured.evaluations,
            calls=state.ledger.used,
            word=measure.word,
            figure="–" if gap is None else measure.text(gap),
            warning=rejections_view(state.ledger)["sentence"],
        )
