"""Runs in files that ``export`` wrote, read without a place in the user's database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dga2d.events import RunId
from dga2d.replay.archive import import_run
from dga2d.store import EventStore, open_store


def is_file(source: str) -> bool:
    """Return whether a name is that of a file rather than of a run of the database."""
    return "/" in source or source.endswith(".zip")


@asynccontextmanager
async def open_file(path: Path) -> AsyncIterator[tuple[EventStore, RunId]]:
    """Verify the run of an exported file and open it, alone in a database that goes with the block.

    Raises
    ------
    ArchiveError
        The file is not a run, damaged or incomplete; names the place.
    """
    with TemporaryDirectory(prefix="dga2d-run-") as folder:
        async with open_store(f"sqlite+aiosqlite:///{folder}/run.db") as store:
            manifest = await import_run(store, path)
            yield store, manifest.run
