"""States of runs as the commands of this user load and keep them, and runs in files that ``export`` wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dga2d.events import RunId
from dga2d.replay import snapshots
from dga2d.replay.archive import import_run
from dga2d.replay.snapshots import IgnoredSnapshot, SnapshotSeal, save_snapshot
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.runs.code_version import code_version
from dga2d.runtime.user_files import user_key
from dga2d.store import EventStore, StoreError, open_store

SNAPSHOT_INTERVAL = 5000
"""Events from one snapshot of the state to the next; shorter runs are folded from their beginning."""


def snapshot_seal() -> SnapshotSeal | None:
    """Return the seal of this user's snapshots; ``None`` where there is no place for a key."""
    key = user_key("snapshots")
    return None if key is None else SnapshotSeal(key, code_version())


async def load_state(store: EventStore, run_id: RunId, until: int | None = None) -> RunState:
    """Return the state after event `until` (the last by default), from the last snapshot that this user's
    program sealed.

    Snapshots that bear no such seal are ignored, with a line of diagnostics for each.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    seal = snapshot_seal()
    state = await snapshots.load_state(store, run_id, until, seal=seal, on_ignored=_report_ignored)
    if state.started is not None:
        recall_problem(state)
    return state


async def load_generation(store: EventStore, run_id: RunId, generation: int) -> RunState | None:
    """Return the state when `generation` had closed; ``None`` if it never did. Raises as `load_state`."""
    state = await snapshots.load_generation(store, run_id, generation)
    if state is not None and state.started is not None:
        recall_problem(state)
    return state


def recall_problem(state: RunState) -> None:
    """Let the problem of a run that began with a problem's file be found by its name."""
    if state.header.problem_file is not None:
        from dga2d.domains.core.plugins import recall_problem_file  # listing runs does without

        digest = state.code_version.rpartition("+")[2]
        recall_problem_file(state.header.domain, Path(state.header.problem_file), digest)


def refuse_training(run_id: str, state: RunState) -> None:
    """Raise RunStateError where a run is the training of a learned solver, which evolves nothing."""
    if state.training is not None:
        raise RunStateError(
            f"run {run_id} is the training of a learned solver: `dga2d show {run_id}` shows it, and "
            f"`dga2d train {state.training.started.method} --resume` goes on with it"
        )


def _report_ignored(snapshot: IgnoredSnapshot) -> None:
    from dga2d.runtime.terminal.diagnostics import logger  # structlog; listing runs does without

    logger(run=snapshot.run_id).warning(
        "a snapshot is ignored and the log read instead", event_seq=snapshot.seq, reason=snapshot.reason
    )


async def keep_snapshot(store: EventStore, run_id: RunId, state: RunState, event_hash: bytes) -> None:
    """Save the state of a long run for its next reader to start from; a full disk is no reason to stop."""
    seal = snapshot_seal()
    if state.seq >= SNAPSHOT_INTERVAL and seal is not None:
        with suppress(StoreError):
            await save_snapshot(store, run_id, state, event_hash, seal)


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
