"""Training as a user starts it: the loop in a thread, its log in the database, the weights and their card."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from anyio import from_thread, to_thread

from dga2d.events import Draft, Payload, RunId, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import OutputFileError, RunStateError
from dga2d.runtime.learned.method import device_in_words
from dga2d.runtime.learned.training import Budget, CurvePoint, Training
from dga2d.runtime.learned.weights import digest_of
from dga2d.runtime.runs.code_version import present_version
from dga2d.runtime.runs.sessions import lease_holder
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.terminal.output import Announce
from dga2d.store import EventStore, EventWriter, open_store


@dataclass(frozen=True)
class Trained:
    """A training as a command left it."""

    training: Training
    weights: Path
    card: Path
    checkpoint: Path
    digest: str | None
    """SHA-256 of the weights; ``None`` where the budget is not used up."""


def checkpoint_path(weights: Path) -> Path:
    """Return where the checkpoint of a training lies: beside its weights."""
    return weights.with_name(f"{weights.stem}.checkpoint{weights.suffix}")


def card_path(weights: Path) -> Path:
    """Return where the card of a weights file lies: beside it."""
    return weights.with_name(f"{weights.stem}.card.json")


class Session(NamedTuple):
    """A training, how long it goes on, and what is told meanwhile."""

    training: Training
    budget: Budget
    weights: Path
    is_stopped: Callable[[], bool]
    announce: Announce


async def start_training(url: str, session: Session) -> Trained:
    """Train from the beginning, recorded as the run that it names, and write weights and card.

    Raises
    ------
    OutputFileError
        A file cannot be written.
    StoreError
        The database refuses.
    """
    run_id = RunId(session.training.run_id)
    async with (
        open_store(url) as store,
        store.write(run_id, holder=lease_holder(), create=True) as writer,
    ):
        await _append(writer, _start_event(session.training, session.budget))
        return await _train(writer, session, -1)


async def resume_training(url: str, session: Session) -> Trained:
    """Go on with the training of a checkpoint.

    Raises
    ------
    RunStateError
        The database does not hold its run, or one that is further than the checkpoint.
    """
    training, run_id = session.training, RunId(session.training.run_id)
    async with open_store(url, create=False) as store:
        state = await _load_training(store, run_id)
        assert state.training is not None
        if state.training.step > training.step:
            raise RunStateError(
                f"the checkpoint is of step {training.step}, but run {run_id} has measured step "
                f"{state.training.step}: it is older than the log"
            )
        async with store.write(run_id, holder=lease_holder()) as writer:
            await _append(writer, _resume_event(training, session.budget))
            return await _train(writer, session, state.training.step)


async def _load_training(store: EventStore, run_id: RunId) -> RunState:
    state = await load_state(store, run_id)
    if state.training is None:
        raise RunStateError(f"run {run_id} is not the training of a learned solver")
    return state


async def _train(writer: EventWriter, session: Session, recorded: int) -> Trained:
    training, budget, weights, is_stopped, announce = session
    checkpoint, card = checkpoint_path(weights), card_path(weights)

    def measured(point: CurvePoint, digest: str) -> None:
        draft = p.TrainingCheckpointed(checkpoint=digest, **point.model_dump())
        from_thread.run(_append, writer, draft)

    for point in training.curve:  # what was measured, but not recorded before the process was killed
        if point.step > recorded:
            await _append(writer, p.TrainingCheckpointed(checkpoint="", **point.model_dump()))
    loop = partial(training.train, budget, checkpoint, is_stopped, measured, announce)
    if not await to_thread.run_sync(loop):
        await _append(writer, p.TrainingPaused(step=training.step, reason="stopped by its user"))
        return Trained(training, weights, card, checkpoint, None)
    data = training.save_weights(weights)
    _write_card(card, card_of(training, weights, data, budget))
    last = training.curve[-1]
    finished = p.TrainingFinished(
        step=last.step, seconds=last.seconds, cpu_seconds=last.cpu_seconds, weights=blob_digest(data)
    )
    await writer.append([Draft("trainer", finished)], [data])
    training.finish(checkpoint)
    return Trained(training, weights, card, checkpoint, digest_of(data))


async def _append(writer: EventWriter, payload: Payload) -> None:
    await writer.append([Draft("trainer", payload)])


def _start_event(training: Training, budget: Budget) -> p.TrainingStarted:
    method, settings = training.method, training.settings
    return p.TrainingStarted(
        method=method.name,
        domain=method.domain,
        seed=settings.seed,
        settings=settings.model_dump(),
        data=method.data,
        cost=method.cost,
        parameters=sum(parameter.numel() for parameter in training.network.parameters()),
        device=device_in_words(training.device),
        code_version=present_version(method.domain),
        torch_version=torch.__version__,
        budget_steps=budget.steps,
        budget_hours=budget.hours,
    )


def _resume_event(training: Training, budget: Budget) -> p.TrainingResumed:
    return p.TrainingResumed(
        step=training.step,
        device=device_in_words(training.device),
        code_version=present_version(training.method.domain),
        torch_version=torch.__version__,
        budget_steps=budget.steps,
        budget_hours=budget.hours,
    )


def card_of(training: Training, weights: Path, data: bytes, budget: Budget) -> dict[str, Any]:
    """Return the card of a weights file: what it was trained on, for how long, and how it went."""
    method, last = training.method, training.curve[-1]
    return {
        "method": method.name,
        "domain": method.domain,
        "weights": weights.name,
        "sha256": digest_of(data),
        "bytes": len(data),
        "parameters": sum(parameter.numel() for parameter in training.network.parameters()),
        "run": training.run_id,
        "data": method.data,
        "cost": method.cost,
        "settings": training.settings.model_dump(),
        "budget": {"steps": budget.steps, "hours": budget.hours},
        "used": {
            "steps": last.step,
            "instances": last.instances,
            "seconds": round(last.seconds, 1),
            "cpu_seconds": round(last.cpu_seconds, 1),
            "device": device_in_words(training.device),
            "torch": torch.__version__,
        },
        "published_budget": method.published,
        "curve": [point.model_dump() for point in training.curve],
    }


def _write_card(path: Path, card: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputFileError(path, error.strerror or str(error)) from error
