"""The runs of a database by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from dga2d.events import RunId
from dga2d.runtime.api import threads
from dga2d.runtime.api.evolving import store_url
from dga2d.runtime.api.notebook import render
from dga2d.runtime.api.run import Run
from dga2d.runtime.api.threads import FilePath
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.inspection.runs import list_runs, run_names
from dga2d.store import UnknownRunError, shown_url


class Runs(Mapping[str, Run]):
    """All runs of a database, oldest first, as they are at the moment of asking."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __getitem__(self, name: str) -> Run:
        """Return the run called `name`.

        Raises
        ------
        UnknownRunError
            There is none; the message names a similar one. It is a `KeyError`.
        """
        names = list(self)
        if name not in names:
            raise UnknownRunError(name, names)
        return Run(self.url, RunId(name))

    def __iter__(self) -> Iterator[str]:
        return iter(threads.call(partial(run_names, self.url)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row per run, as ``dga2d runs --json`` prints it."""
        return threads.call(partial(list_runs, self.url))

    def __repr__(self) -> str:
        return f"<{len(self)} runs of {shown_url(self.url)}>"

    def _repr_html_(self) -> str:
        rows = []
        for row in self.table:
            gap = row["best_gap_percent"]
            rows.append({**row, "best": "" if gap is None else measure_in(row).text(gap)})
        return render("runs.html.j2", rows=rows, url=shown_url(self.url))


def open(store: FilePath | None = None) -> Runs:
    """Return the runs of the database `store` (a path or URL; ``DGA2D_STORE`` or ``dga2d.db`` by default)."""
    return Runs(store_url(store))
