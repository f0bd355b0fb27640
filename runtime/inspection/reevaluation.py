"""Reevaluation of recorded evaluations: identical under a work budget, compared under a time limit."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from anyio import create_task_group

from dga2d.agents.evaluator_pool import Evaluate, SourceReader, evaluation_request
from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.events import RunId, blob_digest
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.evaluator import check_evaluator, open_evaluator
from dga2d.runtime.runs.code_version import present_version
from dga2d.runtime.runs.outside import without_unchosen
from dga2d.runtime.runs.sessions import reopen_problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore, open_store, verify_events

AT_ONCE = 64
"""Evaluations handed to the pool together; it queues those that wait for a worker."""
OF_THE_MACHINE = frozenset({"timeout", "out_of_memory", "crashed"})
"""Failures that depend on the speed or memory of a machine, also under a work budget."""
QUANTILES = (0, 5, 25, 50, 75, 95, 100)


class Recorded(NamedTuple):
    """An evaluation of the log and the request behind it."""

    seq: int
    payload: EvaluationRecorded
    settings: RunSettings
    request: EvaluationRequest

    @property
    def unit(self) -> str:
        """What its budget was in: ``s`` or ``work``."""
        return self.settings.budget[1] if self.request.budget is None else self.request.unit


class Reevaluated(NamedTuple):
    """The same evaluation then and now."""

    recorded: Recorded
    reply: EvaluationReply


async def reevaluate_run(url: str, run_id: str, fraction: float, data_dir: Path | None) -> dict[str, Any]:
    """Evaluate a sample of a run's evaluations again.

    Their names alone decide which ones: a run and its replays choose the same, and a greater `fraction`,
    0 < fraction ≤ 1, chooses these and more; at least one.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    UsageError
        The instances of the run cannot be found.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state = await load_state(store, RunId(run_id))
        count, sample = 0, list[Recorded]()
        if state.started is not None:
            check_evaluator(run_id, state.header.sandbox, None)
            count, sample = await _sample(store, RunId(run_id), state, fraction, data_dir)
    repeated = [pair async for pair in _reevaluate(sample)]
    under_work = [pair for pair in repeated if pair.recorded.unit == "work"]
    under_clock = [pair for pair in repeated if pair.recorded.unit == "s"]
    differences = [row for row in map(_difference, under_work) if row is not None]
    return {
        "fraction": fraction,
        "same_program": state.started is None or state.code_version == present_version(state.header.domain),
        "recorded": count,
        "made_again": len(repeated),
        "identical": sum(_result(pair.recorded.payload) == _outcome(pair.reply) for pair in repeated),
        "undecided": [pair.recorded.seq for pair in under_work if _is_undecided(pair)],
        "differences": differences,
        "spread": _spread(under_clock) if under_clock else None,
    }


async def _sample(
    store: EventStore, run_id: RunId, last: RunState, fraction: float, data_dir: Path | None
) -> tuple[int, list[Recorded]]:
    """Return the number of evaluations up to the state `last`, and the chosen ones in the log's order."""
    problem, sources = reopen_problem(last, data_dir), SourceReader(store)
    state, count, chosen = RunState(), 0, list[Recorded]()
    least: tuple[float, Recorded] | None = None
    async for event in verify_events(store.read(run_id, until=last.seq)):
        before, state = state, fold(state, event)
        payload = event.payload
        if not isinstance(payload, EvaluationRecorded):
            continue
        count += 1
        place = _place(str(payload.operation()))
        if place >= fraction and least is not None and place >= least[0]:
            continue
        duty = Evaluate(
            event.caused_by or 0, payload.split, payload.generation, payload.candidate, payload.instance
        )
        request = await evaluation_request(before, duty, sources, problem)
        recorded = Recorded(event.seq, payload, without_unchosen(run_id, before), request)
        if place < fraction:
            chosen.append(recorded)
        if least is None or place < least[0]:
            least = place, recorded
    return count, chosen or ([least[1]] if least else [])


def _place(operation: str) -> float:
    """Return a number in [0, 1) that depends on nothing but the name."""
    return int.from_bytes(hashlib.sha256(operation.encode()).digest()[:6]) / 2**48


async def _reevaluate(sample: Sequence[Recorded]) -> AsyncIterator[Reevaluated]:
    """Yield the sample's evaluations, each under the settings of its time."""
    for settings, group in itertools.groupby(sample, key=lambda recorded: recorded.settings):
        many = list(group)
        async with open_evaluator(many[0].request.instance.domain, settings) as evaluator:
            for first in range(0, len(many), AT_ONCE):
                chunk = many[first : first + AT_ONCE]
                for recorded, reply in zip(chunk, await _replies(evaluator, chunk), strict=True):
                    yield Reevaluated(recorded, reply)


async def _replies(evaluator: Evaluator, chunk: Sequence[Recorded]) -> list[EvaluationReply]:
    found: dict[int, EvaluationReply] = {}

    async def ask(recorded: Recorded) -> None:
        found[recorded.seq] = await evaluator.evaluate(recorded.request)

    async with create_task_group() as tasks:
        for recorded in chunk:
            tasks.start_soon(ask, recorded)
    return [found[recorded.seq] for recorded in chunk]


def _result(payload: EvaluationRecorded) -> dict[str, Any]:
    return {
        "objective": payload.objective,
        "failure": payload.failure,
        "work": payload.work,
        "solution": payload.solution,
    }


def _outcome(reply: EvaluationReply) -> dict[str, Any]:
    solution = None if reply.solution is None else blob_digest(reply.solution)
    return {
        "objective": reply.objective,
        "failure": reply.failure,
        "work": reply.work,
        "solution": solution,
    }


def _is_undecided(pair: Reevaluated) -> bool:
    """Return whether the results differ, but a limit of the machine ended one of the two."""
    failures = {pair.recorded.payload.failure, pair.reply.failure}
    return not failures.isdisjoint(OF_THE_MACHINE) and _result(pair.recorded.payload) != _outcome(pair.reply)


def _difference(pair: Reevaluated) -> dict[str, Any] | None:
    """Return the first field in which the results under a work budget differ; ``None`` if there is none."""
    then, now = _result(pair.recorded.payload), _outcome(pair.reply)
    if then == now or _is_undecided(pair):
        return None
    field = next(name for name in then if then[name] != now[name])
    return {
        "seq": pair.recorded.seq,
        "evaluation": pair.recorded.request.key,
        "field": field,
        "recorded": then[field],
        "again": now[field],
    }


def _spread(pairs: Sequence[Reevaluated]) -> dict[str, Any]:
    """Return how far objectives under a clock are from the recorded ones, in percent of these."""
    objectives = [
        (pair.recorded.payload.objective, pair.reply.objective)
        for pair in pairs
        if pair.recorded.payload.objective is not None and pair.reply.objective is not None
    ]
    relative = [100 * (again - then) / max(abs(then), 1e-12) for then, again in objectives]
    values = np.percentile(relative, QUANTILES) if relative else None
    return {
        "made_again": len(pairs),
        "compared": len(relative),
        "mean_percent": float(np.mean(relative)) if relative else None,
        "quantiles_percent": None
        if values is None
        else {str(q): float(value) for q, value in zip(QUANTILES, values, strict=True)},
        "failed_then": sum(pair.recorded.payload.failure is not None for pair in pairs),
        "failed_again": sum(pair.reply.failure is not None for pair in pairs),
    }
