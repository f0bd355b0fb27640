"""Supervision of one run: its agents work until it ends, is interrupted or fails, and the log says which."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from dga2d.agents.agent import Agent, is_live, run_agent
from dga2d.agents.conductor import Conductor
from dga2d.agents.credit_keeper import CreditKeeper
from dga2d.agents.edge_evolver import EdgeEvolver
from dga2d.agents.evaluator_pool import EvaluatorPoolAgent, SourceReader
from dga2d.agents.implementation_evolver import ImplementationEvolver
from dga2d.agents.initializer import Initializer
from dga2d.agents.kernel_evolver import KernelEvolver
from dga2d.agents.method_runner import MethodRunner
from dga2d.agents.operator_evolver import OperatorEvolver
from dga2d.agents.pipeline_sampler import PipelineSampler
from dga2d.agents.policy.archive import PolicyArchive
from dga2d.agents.policy.contract import PipelinePolicy
from dga2d.agents.proposing.errors import ModelUnavailableError
from dga2d.agents.proposing.models import ModelPool, Models
from dga2d.agents.proposing.tasks import PromptContext
from dga2d.agents.racer import Racer
from dga2d.agents.smoke_trials import TrialRunner
from dga2d.agents.validator import Validator
from dga2d.agents.work_calibration import NOTHING_KNOWN, KnownRates
from dga2d.events import Draft, RunId
from dga2d.events.payloads import RunFailed, RunForked, RunPaused, RunResumed
from dga2d.replay.projection import Subscription, project
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.bank.choosing import NO_ENTRIES, BankOfRun
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.evaluator import OutsideEvaluator, RunEvaluator, open_run_evaluator
from dga2d.runtime.gateway import OutageRecorder, open_models
from dga2d.runtime.gateway.recorded import RecordedModel
from dga2d.runtime.runs.code_version import code_version, plugin_mark
from dga2d.runtime.runs.interruption import Interruption
from dga2d.runtime.runs.own_processes import ProcessMeter
from dga2d.runtime.runs.policies import create_policy, restore_policy
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.start import baseline_of, measure_references, policy_prompt_context, run_started
from dga2d.runtime.runs.states import SNAPSHOT_INTERVAL, keep_snapshot, load_state
from dga2d.runtime.runs.work_budget import settle_work
from dga2d.runtime.terminal.diagnostics import logger
from dga2d.runtime.terminal.progress import Progress
from dga2d.store import EventStore, EventWriter, ForeignDatabaseError, StoreError, UnknownRunError, open_store


@dataclass(frozen=True)
class Surroundings:
    """What a run needs beside its log."""

    problem: Problem
    settings: RunSettings
    """With the budget in work units, where it was asked for in seconds."""
    policy: PipelinePolicy
    model: Models
    evaluator: RunEvaluator
    outages: OutageRecorder
    """Records when the model's endpoint goes down and comes back."""
    archive: PolicyArchive | None = None
    """Where the policy is saved; ``None`` if it is not."""
    known_rates: KnownRates = NOTHING_KNOWN
    """Rates of work units that an earlier run measured."""


@asynccontextmanager
async def open_surroundings(
    url: str,
    problem: Problem,
    settings: RunSettings,
    seed: int,
    archive: PolicyArchive | None = None,
    outside: OutsideEvaluator | None = None,
) -> AsyncIterator[Surroundings]:
    """Open policy, language model and evaluation workers for the length of the block.

    `outside` is an evaluator of the user's choosing that has the last word.

    Whatever is missing is raised here, before any event is written. `url` is the database in which a recorded
    model and known work rates are looked up.
    """
    outages = OutageRecorder()
    async with open_models(settings, url, outages) as model:
        _refuse_foreign(model, problem)
        known_rates = await read_rates(url, settings, model)
        try:
            settings, known_rates = await settle_work(problem, settings, seed, known_rates, outside)
            policy = create_policy(settings, seed)
            async with open_run_evaluator(problem.domain.name, settings) as pool:
                evaluator = pool if outside is None else outside.around(pool)
                yield Surroundings(problem, settings, policy, model, evaluator, outages, archive, known_rates)
        except BaseExceptionGroup as group:  # the pool's own task group wraps what its block raises
            raise find_first_error(group) from None


def _refuse_foreign(model: Models, problem: Problem) -> None:
    """Raise SettingsError if recorded answers are those of another domain's run."""
    if isinstance(model, ModelPool):
        for one in model.models.values():
            _refuse_foreign(one, problem)
    if isinstance(model, RecordedModel) and model.recording.domain != problem.domain.name:
        recording = model.recording
        raise SettingsError(
            f"setting llm: run {recording.run} is of domain {recording.domain}, not {problem.domain.name}"
        )


async def read_rates(url: str, settings: RunSettings, model: Models) -> KnownRates:
    """Return the work rates of the run of the database `url` that the settings name.

    Without one, those of the run whose recorded answers `model` gives: they belong together.

    Raises
    ------
    SettingsError
        There is no such run, or it measured nothing.
    """
    run = settings.work_rates
    if not run:
        return model.recording.rates if isinstance(model, RecordedModel) else NOTHING_KNOWN
    try:
        async with open_store(url, create=False, read_only=True) as store:
            state = await load_state(store, RunId(run))
    except (UnknownRunError, ForeignDatabaseError) as error:
        raise SettingsError(f"setting work_rates = {run!r}: {error}") from None
    if not state.work_rates.measured:
        raise SettingsError(f"setting work_rates = {run!r}: the run measured no rates of work units")
    return KnownRates(run, dict(state.work_rates.measured))


async def append_run_started(
    writer: EventWriter,
    around: Surroundings,
    seed: int,
    data_dir: Path | None,
    bank: BankOfRun = NO_ENTRIES,
) -> RunState:
    """Append ``RunStarted`` and return the state after it; measures the references that are not known."""
    baseline = baseline_of(around.problem.domain, around.settings)
    measured = await measure_references(around.problem, baseline, around.evaluator, seed)
    draft, sources = run_started(
        around.problem,
        around.settings,
        seed,
        policy=f"{around.policy.name} {around.policy.digest()}",
        llm=around.model.name,
        sandbox=around.evaluator.sandbox_status,
        data_dir=data_dir,
        measured=measured,
        bank=bank,
    )
    return fold(RunState(), (await writer.append([draft], sources))[0])


async def rejoin(
    store: EventStore,
    writer: EventWriter,
    around: Surroundings,
    changed: dict[str, object],
    rebuild_policy: bool = False,
    parent: RunId | None = None,
) -> RunState:
    """Rebuild state and policy from the log; append ``RunResumed``, or ``RunForked`` for a fork of `parent`.

    Raises
    ------
    RunStateError
        The policy cannot be rebuilt from the log.
    """
    recorded_state = await load_state(store, writer.run_id)
    words = policy_prompt_context(around.problem, recorded_state.header.batch)
    sampler = PipelineSampler(writer, around.policy, words, around.archive)
    drift = changed.get("policy_drift", recorded_state.settings.policy_drift)
    await restore_policy(
        store, writer.run_id, sampler, around.policy, rebuild_policy, accepts_drift=drift == "accept"
    )
    resumption = resumption_event(writer, plugin_mark(around.problem.domain.name), changed, parent)
    return fold(recorded_state, (await writer.append([Draft("conductor", resumption)]))[0])


def resumption_event(
    writer: EventWriter, mark: str, changed: dict[str, object], parent: RunId | None
) -> RunResumed | RunForked:
    """Return the event with which a process continues a run, or begins a fork of `parent`.

    `mark` is what a plug-in domain adds to the version.
    """
    version = code_version() + mark
    if parent is None:
        return RunResumed(code_version=version, epoch=writer.epoch, changed=changed)
    return RunForked(
        parent=parent,
        parent_seq=writer.head.seq,
        code_version=version,
        epoch=writer.epoch,
        changed=changed,
    )


async def run_to_end(
    store: EventStore,
    writer: EventWriter,
    around: Surroundings,
    state: RunState,
    watcher: Progress,
    stop: Interruption | None = None,
) -> RunState:
    """Let all agents work from `state` on until the run, or its test, is over; return the final state.

    SIGINT or SIGTERM stops all work at the next event and records ``RunPaused``; a second signal (`stop`
    counts those of the whole command) ends the process at once. A model that stays unavailable until somebody
    acts pauses the run, too. An error of an agent is recorded as ``RunFailed``, if the log still accepts
    events, and raised.
    """
    around.outages.connect(writer)
    agents = make_agents(store, writer, around, state)
    log = logger(run=writer.run_id, epoch=writer.epoch)
    log.info("agents start", event_seq=state.seq, sandbox=around.evaluator.sandbox_status)
    watcher.show_workload(around.evaluator)
    stop = Interruption(watcher) if stop is None else stop
    try:
        with anyio.CancelScope() as scope, stop.handles_signals(), stop.cancels(scope):
            await _run_agents(agents, store, writer.run_id, state, watcher)
    except BaseExceptionGroup as group:
        error = find_first_error(group)
        if isinstance(error, ModelUnavailableError):
            log.warning("the model is unavailable", reason=error.reason)
            return await _append_end(store, writer, RunPaused(reason=error.reason), watcher)
        log.info("run failed", error=type(error).__name__)
        await _record_failure(store, writer, error, watcher)
        raise error from None
    finally:
        stop.finish()
    with anyio.CancelScope(shield=True):
        final = await load_state(store, writer.run_id)
        if scope.cancelled_caught and is_live(final):
            log.info("interrupted", signal=stop.signal_name)
            paused = RunPaused(reason=f"interrupted by {stop.signal_name}")
            final = await _append_end(store, writer, paused, watcher)
    await keep_snapshot(store, writer.run_id, final, writer.head.hash)
    return final


def make_agents(
    store: EventStore, writer: EventWriter, around: Surroundings, state: RunState
) -> tuple[Agent[Any], ...]:
    """Return the agents of a run, connected to the log and to their ports."""
    problem, sources = around.problem, SourceReader(store)
    prompt_context = PromptContext.of(problem.domain.card, problem.domain.operators())
    trials = TrialRunner(around.evaluator, problem, sources, problem.domain.card.repeats)
    policy_words = policy_prompt_context(problem, state.header.batch)
    common = (
        Conductor(writer, ProcessMeter()),
        Initializer(writer, store, around.model, prompt_context),
        PipelineSampler(writer, around.policy, policy_words, around.archive),
        EvaluatorPoolAgent(writer, store, around.evaluator, problem, around.known_rates),
        CreditKeeper(writer),
        Validator(writer),
    )
    if not state.settings.evolves_pipelines:
        return (*common, MethodRunner(writer, around.model, sources, prompt_context))
    return (
        *common,
        ImplementationEvolver(writer, around.model, trials, prompt_context),
        EdgeEvolver(writer, around.model, trials, prompt_context),
        OperatorEvolver(writer, around.model, trials, prompt_context),
        KernelEvolver(writer, around.model, trials, prompt_context),
        Racer(writer, store, prompt_context),
    )


async def _run_agents(
    agents: Sequence[Agent[Any]], store: EventStore, run_id: RunId, state: RunState, watcher: Progress
) -> None:
    """Run the agents until none has work left; the log is folded once for all of them."""
    async with project(store, run_id, state) as projection:
        with projection.subscribe() as changes:  # before the first event: the watcher is to miss nothing
            async with anyio.create_task_group() as tasks:
                for agent in agents:
                    tasks.start_soon(run_agent, agent, projection, name=agent.name)
                tasks.start_soon(_watch, store, run_id, changes, watcher)


async def _watch(store: EventStore, run_id: RunId, changes: Subscription, watcher: Progress) -> None:
    log, kept = logger(run=run_id), changes.state.seq
    async for event, state in changes:
        if event.type == "GenerationCompleted" and event.seq - kept >= SNAPSHOT_INTERVAL:
            await keep_snapshot(store, run_id, state, event.hash)
            kept = event.seq
        log.debug("event", seq=event.seq, type=event.type, agent=event.agent, caused_by=event.caused_by)
        watcher(state, event)
        if not is_live(state):
            return


def find_first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error inside nested exception groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _record_failure(
    store: EventStore, writer: EventWriter, error: BaseException, watcher: Progress
) -> None:
    """Record why the run cannot continue, unless the log itself is what failed."""
    if isinstance(error, StoreError) or not isinstance(error, Exception):
        return
    detail = " ".join(str(error).split())[:500]
    await _append_end(store, writer, RunFailed(reason=type(error).__name__, detail=detail), watcher)


async def _append_end(
    store: EventStore, writer: EventWriter, payload: RunPaused | RunFailed, watcher: Progress
) -> RunState:
    """Append why the run stops here, tell the watcher, and return the state after that."""
    with anyio.CancelScope(shield=True):
        (event,) = await writer.append([Draft("conductor", payload)])
        state = await load_state(store, writer.run_id)
    watcher(state, event)
    return state
