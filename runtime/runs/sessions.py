"""What a user does with a run: start it, continue it, test it. One function per command."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dga2d.agents.conductor import end_reason, held_out_test
from dga2d.events import Draft, RunId
from dga2d.events.payloads import LibraryOperator, TestStarted
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import CodeChangedError, RunStateError, UsageError
from dga2d.runtime.evaluator import OutsideEvaluator, check_evaluator
from dga2d.runtime.runs.code_version import present_version
from dga2d.runtime.runs.config import call_quotas, make_settings
from dga2d.runtime.runs.interruption import Interruption
from dga2d.runtime.runs.outside import note_chosen, refuse_unchosen, without_unchosen
from dga2d.runtime.runs.policies import policy_archive
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.start import bank_of, checked_run_id, hand_tuned_baseline, new_run_id, shared_batch
from dga2d.runtime.runs.states import load_state, refuse_training
from dga2d.runtime.runs.supervisor import append_run_started, open_surroundings, rejoin, run_to_end
from dga2d.runtime.terminal.progress import Progress
from dga2d.store import EventStore, open_store

NO_LEARNING = {"policy": "uniform", "llm": "offline"}
"""Settings of a held-out test, which samples nothing and asks no model: it needs neither keys nor weights."""


@dataclass(frozen=True)
class Finished:
    """A run as a command left it."""

    run_id: RunId
    state: RunState
    head_hash: str
    """Hexadecimal hash of the last event; keep it to find out later whether the log was rewritten."""


def lease_holder() -> str:
    """Return the name of this process, for people who find a run busy."""
    return f"dga2d on {socket.gethostname()}, process {os.getpid()}"


async def evolve(
    url: str,
    domain: str,
    settings: RunSettings,
    seed: int,
    data_dir: Path | None,
    watcher: Progress,
    run_id: RunId | None = None,
    *,
    stop: Interruption | None = None,
    outside: OutsideEvaluator | None = None,
) -> Finished:
    """Start a new run and follow it to its end, or until `stop` ends it (see `run_to_end`).

    `outside` is an evaluator of the user's choosing (see `OutsideEvaluator`).

    Raises
    ------
    Dga2dError, DomainError
        Something the run needs is missing (before any event is written), or an agent failed.
    """
    problem = Problem.open(domain, data_dir, settings.group, settings.suite, settings.test_group)
    name = new_run_id(domain) if run_id is None else checked_run_id(run_id)
    shared_batch(problem, settings, seed)  # refuses a batch larger than the split before a run is created
    bank = bank_of(problem, settings)
    archive = policy_archive(url, name, settings)
    async with (
        open_surroundings(url, problem, settings, seed, archive, outside) as around,
        open_store(url) as store,
    ):
        quotas = call_quotas(settings)
        async with store.write(name, holder=lease_holder(), create=True, quotas=quotas) as writer:
            state = await append_run_started(writer, around, seed, data_dir, bank)
            note_chosen(name, state, settings)
            if stop is not None:
                stop.go_on = f"dga2d resume {name}"
            state = await run_to_end(store, writer, around, state, watcher, stop)
        return await finish(store, name, state)


async def resume(
    url: str,
    run_id: RunId,
    watcher: Progress,
    changed: dict[str, Any],
    data_dir: Path | None = None,
    accept_code_change: bool = False,
    rebuild_policy: bool = False,
    *,
    stop: Interruption | None = None,
    outside: OutsideEvaluator | None = None,
) -> Finished:
    """Continue a run that was paused or killed, or give it more generations.

    `rebuild_policy` repeats all updates of the policy instead of loading its saved files.

    Raises
    ------
    RunStateError
        The run is complete under its settings, or they reach out of it and this user did not choose that.
    CodeChangedError
        Another version of the program wrote the log and `accept_code_change` is not given.
    """
    async with open_store(url, create=False) as store:
        before = await started_state(store, run_id)
        settings = make_settings(before.settings.model_dump(), changed)
        refuse_changes(run_id, before.settings, settings)
        _refuse_pointless(run_id, before, settings)
        refuse_unchosen(run_id, before, changed)
        check_code(run_id, before, accept_code_change)
        check_evaluator(run_id, before.header.sandbox, outside)
        problem = reopen_problem(before, data_dir)
        async with (
            store.write(run_id, holder=lease_holder()) as writer,
            open_surroundings(
                url, problem, settings, before.header.seed, policy_archive(url, run_id, settings), outside
            ) as around,
        ):
            state = await rejoin(store, writer, around, changed, rebuild_policy)
            note_chosen(run_id, state, settings)
            state = await run_to_end(store, writer, around, state, watcher, stop)
        return await finish(store, run_id, state)


async def hold_out_test(
    url: str,
    run_id: RunId,
    watcher: Progress,
    force: bool = False,
    data_dir: Path | None = None,
    accept_code_change: bool = False,
    hand_tuned: bool = False,
    *,
    evaluators: int | str | None = None,
    stop: Interruption | None = None,
    outside: OutsideEvaluator | None = None,
) -> Finished:
    """Evaluate the best validated algorithm and the safe baseline once on the held-out split.

    With `hand_tuned` the whole library's safe baseline takes part, too, where the run began with another.
    `evaluators` replaces the run's setting of that name.

    Raises
    ------
    SettingsError
        `evaluators` is neither a number nor a cluster.
    RunStateError
        Nothing has been validated yet, or the run was tested before and `force` is not given.
    """
    elsewhere: dict[str, Any] = {}
    if evaluators is not None:
        elsewhere = {"evaluators": make_settings({}, {"evaluators": evaluators}).evaluators}
    async with open_store(url, create=False) as store:
        before = await started_state(store, run_id)
        unfinished = before.test is not None and before.test.mean_gaps is None
        if before.test is not None and not unfinished and not force:
            raise RunStateError(
                f"run {run_id} was tested already (attempt {before.test.attempt}); a held-out set is for one "
                "test. --force tests again and the log will say so"
            )
        check_code(run_id, before, accept_code_change)
        check_evaluator(run_id, before.header.sandbox, outside)
        problem = reopen_problem(before, data_dir)
        async with (
            store.write(run_id, holder=lease_holder()) as writer,
            open_surroundings(
                url,
                problem,
                without_unchosen(run_id, before).model_copy(update={**NO_LEARNING, **elsewhere}),
                0,
                outside=outside,
            ) as around,
        ):
            state = before
            if not unfinished:
                yardstick = hand_tuned_baseline(problem, before) if hand_tuned else ()
                draft = Draft("conductor", test_started(run_id, before, yardstick))
                texts = [step.implementation.source.encode() for step in problem.domain.safe_baseline()]
                state = fold(before, (await writer.append([draft], texts if yardstick else ()))[0])
            state = await run_to_end(store, writer, around, state, watcher, stop)
        return await finish(store, run_id, state)


def test_started(run_id: RunId, state: RunState, hand_tuned: Sequence[LibraryOperator]) -> TestStarted:
    """Return the event that decides what a test compares, and on which instances."""
    if state.checkpoint is None:
        raise RunStateError(
            f"run {run_id} has no validated algorithm yet; let it reach a validation first (`dga2d resume`)"
        )
    if not state.header.splits.test:
        raise RunStateError(f"run {run_id} has no held-out instances to be tested on")
    return held_out_test(state, hand_tuned)


def reopen_problem(state: RunState, data_dir: Path | None) -> Problem:
    """Open the instances a run began with; others that were added since are in none of its splits.

    Raises
    ------
    RunStateError
        The instances found now are not those of the log.
    """
    recorded = state.header.data_dir
    folder = data_dir or (Path(recorded) if recorded is not None else None)
    settings = state.settings
    problem = Problem.open(state.header.domain, folder, settings.group, settings.suite, settings.test_group)
    try:
        return problem.recorded(state.header.splits)
    except UsageError as error:
        raise RunStateError(
            f"the {state.header.domain} instances {'in ' + str(folder) if folder else 'generated here'} are "
            f"not those the run began with ({error}); name their folder with --data"
        ) from error


UNCHANGEABLE = (
    "preset",
    "group",
    "suite",
    "test_group",
    "test_seconds",
    "work_seconds",
    "method",
    "space",
    "population",
    "library",
    "bank",
    "batch_size",
    "structure",
    "credit_context",
    "credit_rate",
    "policy_dtype",
    "learning_rate",
    "max_gradient_norm",
    "policy_entropy",
    "lora_rank",
    "llm_calls",
    "llm_tokens",
    "llm_money_usd",
)
"""Settings on which everything in the log depends."""


def refuse_changes(run_id: RunId, before: RunSettings, after: RunSettings) -> None:
    """Raise RunStateError if a setting differs that a run cannot change (`UNCHANGEABLE`)."""
    for name in UNCHANGEABLE:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            raise RunStateError(
                f"run {run_id} has {name} = {old!r} for good; a new run is needed for {new!r}"
            )
    if before.kernels == "off" != after.kernels:  # which there are is in the first event
        raise RunStateError(
            f"run {run_id} began with kernels = 'off'; a new run is needed for {after.kernels!r}"
        )


def _refuse_pointless(run_id: RunId, before: RunState, settings: RunSettings) -> None:
    if before.status != "completed":
        return
    reason = end_reason_under(before, settings)
    if reason is not None and not settings.evolves_pipelines:
        raise RunStateError(
            f"run {run_id} is complete ({reason}); a run of {settings.method} ends with its calls, and their "
            "limit cannot be changed. Start a new one"
        )
    if reason is not None:
        raise RunStateError(
            f"run {run_id} is complete ({reason}); `dga2d resume {run_id} --{_extending(before, settings)}` "
            "extends it"
        )


def _extending(before: RunState, settings: RunSettings) -> str:
    """Return the option that gives a complete run more to do."""
    is_over = before.completed >= settings.generations or before.ledger.spent_reason is not None
    return "generations N" if is_over else "rejection-limit N"


def end_reason_under(state: RunState, settings: RunSettings) -> str | None:
    """Return why the run would end at once under other settings; ``None`` if it would continue."""
    return end_reason(replace(state, settings=settings))


def check_code(run_id: RunId, state: RunState, accept: bool) -> None:
    """Raise CodeChangedError if another version of program or plug-in wrote the log, unless `accept`."""
    if accept:
        return
    present = present_version(state.header.domain)
    if state.code_version != present:
        raise CodeChangedError(run_id, state.code_version, present)


async def started_state(store: EventStore, run_id: RunId) -> RunState:
    """Return the present state. Raises as `load_state`, and RunStateError for a run without events."""
    state = await load_state(store, run_id)
    refuse_training(run_id, state)
    if state.started is None:
        raise RunStateError(f"run {run_id} has no events; it was killed before it began. Start a new one")
    return state


async def finish(store: EventStore, run_id: RunId, state: RunState) -> Finished:
    """Return `state` with the hash of the log's last event: what a command leaves behind."""
    return Finished(run_id, state, (await store.head(run_id)).hash.hex())
