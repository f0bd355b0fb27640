"""The policy of a run: created from its settings, and restored to where the log left it."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from dga2d.agents.pipeline_sampler import PipelineSampler
from dga2d.agents.policy.archive import PolicyArchive
from dga2d.agents.policy.contract import PipelinePolicy, PolicySettings
from dga2d.agents.policy.errors import PolicyCheckpointError
from dga2d.agents.policy.policies import UniformPolicy, make_policy
from dga2d.events import RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError, SettingsError
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.terminal.diagnostics import logger
from dga2d.store import EMPTY_LOG, EventStore, Head, verify_events

SMALL = ("uniform", "embedded")
"""Policies that are rebuilt from the log in moments and need no files."""


def create_policy(settings: RunSettings, seed: int) -> PipelinePolicy:
    """Return the policy with its initial parameters.

    Raises
    ------
    PolicyLoadError
        It cannot be loaded; see its subclasses.
    SettingsError
        There is no such device.
    """
    if not settings.evolves_pipelines:
        return UniformPolicy()
    if settings.policy_device == "cuda" and settings.policy != "uniform":
        import torch

        if not torch.cuda.is_available():
            raise SettingsError("setting policy_device = 'cuda': torch finds no GPU")
    return make_policy(
        settings.policy,
        seed,
        PolicySettings(
            learning_rate=settings.learning_rate,
            max_gradient_norm=settings.max_gradient_norm,
            entropy_bonus=settings.policy_entropy,
            dtype=settings.policy_dtype,
            threads=settings.policy_threads,
            device=settings.policy_device,
            lora_rank=settings.lora_rank,
            gradient_checkpointing=settings.gradient_checkpointing,
        ),
    )


def policy_archive(url: str, run_id: RunId, settings: RunSettings) -> PolicyArchive | None:
    """Return where the run's policy is saved, ``<database>.policies/<run>``; ``None`` if it is not saved.

    The path is relative to the database, so the two can be moved together.
    """
    choice = settings.policy_checkpoints
    if not settings.evolves_pipelines:
        return None
    if choice == "off" or (choice == "auto" and settings.policy in SMALL):
        return None
    database = Path(url.partition(":///")[2])
    return PolicyArchive(database.with_name(f"{database.name}.policies") / run_id)


async def restore_policy(
    store: EventStore,
    run_id: RunId,
    sampler: PipelineSampler,
    policy: PipelinePolicy,
    from_log: bool,
    accepts_drift: bool,
) -> None:
    """Bring the new `policy` to the state it had at the end of the log.

    Its last saved files are loaded, if there are any; later updates are repeated from the recorded walks and
    rewards, and only the events after the files are read. `from_log` repeats all updates. The digest is
    compared after each of them, and where there is none, with that of the last; where the run accepts drift
    (`RunSettings.policy_drift`), a repeated update may give other parameters.

    Raises
    ------
    RunStateError
        The model is not the one the run began with, its saved files are lost, or a repeated update
        gives other parameters.
    """
    whole = await load_state(store, run_id)
    identity = f"{policy.name} {policy.digest()}"
    if identity != whole.header.policy:
        raise RunStateError(
            f"run {run_id} began with the policy {_short(whole.header.policy)}, this is {_short(identity)}; "
            "resume it with the same model and settings"
        )
    learned = 0 if from_log else await _load(run_id, sampler, whole)
    if policy.name == "uniform" and not from_log:
        learned = whole.policy_updates  # they change nothing
    if learned == 0:
        await _repeat_updates(store, run_id, sampler, RunState(), EMPTY_LOG, accepts_drift)
        return
    start = whole
    if learned < whole.policy_updates:
        start = await load_state(store, run_id, whole.saved_policies[-1].seq)
    if await anyio.to_thread.run_sync(policy.digest) != start.policy_digest:
        raise _other_parameters(run_id, start.seq)
    [event] = [event async for event in store.read(run_id, start.seq - 1, start.seq)]
    await _repeat_updates(store, run_id, sampler, start, Head(start.seq, event.hash), accepts_drift)


async def _repeat_updates(
    store: EventStore,
    run_id: RunId,
    sampler: PipelineSampler,
    state: RunState,
    head: Head,
    accepts_drift: bool,
) -> None:
    """Repeat the updates after `head`, where the run was in `state`."""
    first_drift = None
    async for event in verify_events(store.read(run_id, head.seq), head):
        before, state = state, fold(state, event)
        if event.type != "PolicyUpdated":
            continue
        if await anyio.to_thread.run_sync(sampler.rebuild, before) != state.policy_digest:
            if not accepts_drift:
                raise _other_parameters(run_id, event.seq)
            first_drift = first_drift or event.seq
    if first_drift is not None:
        logger(run=run_id).warning(
            "the policy rebuilt from the log has other parameters than the log says, which is accepted",
            event_seq=first_drift,
        )


def _other_parameters(run_id: RunId, seq: int) -> RunStateError:
    return RunStateError(
        f"run {run_id}: the policy rebuilt from the log differs at event {seq}; "
        "was it written by another version of torch or on another kind of processor? To go on with what was "
        """rebuilt: --set policy_drift='"accept"'"""
    )


async def _load(run_id: RunId, sampler: PipelineSampler, state: RunState) -> int:
    try:
        return await anyio.to_thread.run_sync(sampler.restore, state)
    except PolicyCheckpointError as error:
        raise RunStateError(
            f"run {run_id}: {error}. Put the files back, or make the policy's {state.policy_updates} updates "
            f"again from the log: `dga2d resume {run_id} --rebuild-policy`"
        ) from error


def _short(identity: str) -> str:
    """Return the name and the first digits of the digest."""
    name, _, digest = identity.rpartition(" ")
    return f"{name} ({digest[:12]})"
