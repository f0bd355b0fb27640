"""Forks: a new run that begins at a closed generation of another one and shares its events."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dga2d.events import Draft, RunId
from dga2d.events.payloads import RunPaused
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluator import check_evaluator
from dga2d.runtime.runs.code_version import recorded_mark
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.interruption import Interruption
from dga2d.runtime.runs.outside import note_chosen, refuse_unchosen
from dga2d.runtime.runs.policies import policy_archive
from dga2d.runtime.runs.sessions import (
    Finished,
    check_code,
    end_reason_under,
    finish,
    lease_holder,
    refuse_changes,
    reopen_problem,
)
from dga2d.runtime.runs.start import checked_run_id, new_run_id
from dga2d.runtime.runs.states import load_generation, load_state
from dga2d.runtime.runs.supervisor import open_surroundings, rejoin, resumption_event, run_to_end
from dga2d.runtime.terminal.progress import Progress
from dga2d.store import EventStore, open_store


@dataclass(frozen=True)
class Fork:
    """What to fork, where, and with which changes."""

    parent: RunId
    generation: int
    """The last generation that the two share; 0 for the initial graph alone."""
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from there on."""
    run_id: RunId | None = None
    """Name of the new run; ``None`` for a fresh one."""


async def create_fork(url: str, fork: Fork, accept_code_change: bool = False) -> Finished:
    """Create the fork and leave it paused.

    Raises
    ------
    RunStateError
        The generation was never closed, a setting cannot be changed, the fork would be over at once, or the
        log names something outside that this user did not choose.
    CodeChangedError
        Another version of the program wrote the parent and `accept_code_change` is not given.
    """
    async with open_store(url, create=False) as store:
        before, settings, name = await _prepare(store, fork, accept_code_change)
        origin = (fork.parent, before.seq)
        async with store.write(name, holder=lease_holder(), create=True, fork_of=origin) as writer:
            mark = recorded_mark(before.code_version)  # no code of the domain is run here
            resumption = resumption_event(writer, mark, dict(fork.changed), fork.parent)
            paused = RunPaused(reason="forked and not yet gone on with")
            await writer.append([Draft("conductor", resumption), Draft("conductor", paused)])
        note_chosen(name, before, settings)
        _share_policies(url, fork.parent, name, before)
        return await finish(store, name, await load_state(store, name))


async def fork_run(
    url: str,
    fork: Fork,
    watcher: Progress,
    data_dir: Path | None = None,
    accept_code_change: bool = False,
    rebuild_policy: bool = False,
    *,
    stop: Interruption | None = None,
) -> Finished:
    """Create the fork and follow it to its end. Raises what `create_fork` and ``sessions.resume`` raise."""
    async with open_store(url, create=False) as store:
        before, settings, name = await _prepare(store, fork, accept_code_change)
        check_evaluator(fork.parent, before.header.sandbox, None)
        problem = reopen_problem(before, data_dir)
        archive = policy_archive(url, name, settings)
        _share_policies(url, fork.parent, name, before)
        async with (
            open_surroundings(url, problem, settings, before.header.seed, archive) as around,
            store.write(
                name, holder=lease_holder(), create=True, fork_of=(fork.parent, before.seq)
            ) as writer,
        ):
            state = await rejoin(store, writer, around, dict(fork.changed), rebuild_policy, fork.parent)
            note_chosen(name, before, settings)
            if stop is not None:
                stop.go_on = f"dga2d resume {name}"
            state = await run_to_end(store, writer, around, state, watcher, stop)
        return await finish(store, name, state)


async def _prepare(
    store: EventStore, fork: Fork, accept_code_change: bool
) -> tuple[RunState, RunSettings, RunId]:
    """Return the state at the fork, the settings from there on, and the new run's name."""
    before = await load_generation(store, fork.parent, fork.generation)
    if before is None:
        closed = (await load_state(store, fork.parent)).completed
        raise RunStateError(f"run {fork.parent} has closed {closed} generations, not {fork.generation}")
    settings = make_settings(before.settings.model_dump(), fork.changed)
    refuse_changes(fork.parent, before.settings, settings)
    reason = end_reason_under(before, settings)
    if reason is not None:
        raise RunStateError(
            f"a fork of run {fork.parent} after generation {fork.generation} would be over at once "
            f"({reason}); fork it earlier, or give it more with --set generations=N"
        )
    refuse_unchosen(fork.parent, before, fork.changed)
    check_code(fork.parent, before, accept_code_change)
    name = new_run_id(before.header.domain) if fork.run_id is None else checked_run_id(fork.run_id)
    return before, settings, name


def _share_policies(url: str, parent: RunId, child: RunId, state: RunState) -> None:
    """Give the fork the parent's saved policy: hard links, or copies where the file system has no links."""
    origin, target = (policy_archive(url, run, state.settings) for run in (parent, child))
    if origin is None or target is None or not state.saved_policies:
        return
    source = origin.folder / state.saved_policies[-1].digest
    if source.is_dir():
        shutil.copytree(source, target.folder / source.name, copy_function=_link_or_copy, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
