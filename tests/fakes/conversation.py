"""The smallest run that asks a model: a real store, a real gateway, and the Initializer alone.

Its graph is never proposed well, so that it asks as often as it may.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.agents.made_up_library import CARD, first_step

from dga2d.agents.agent import is_live, run_agent
from dga2d.agents.initializer import Initializer
from dga2d.agents.proposing.errors import ModelUnavailableError
from dga2d.agents.proposing.tasks import PromptContext
from dga2d.domains.core.contract import Implementation, Operator, OperatorName
from dga2d.events import Draft, InstanceKey, RunId
from dga2d.events.payloads import InstanceEntry, RunPaused, RunResumed, RunStarted, SplitManifest
from dga2d.replay.projection import project
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.gateway import OutageRecorder, open_model
from dga2d.runtime.gateway.retries import RetryPolicy
from dga2d.runtime.runs.start import library_operator
from dga2d.store import LLM_CALLS, LLM_MICROUSD, LLM_TOKENS, EventStore, open_store, verify_events

OPERATOR = OperatorName("build")
SOURCE = "def run(env_data, state, calc_makespan_fn):\n    return state\n"
LIBRARY = Operator(
    OPERATOR,
    "Build",
    "Builds.",
    "initialisation",
    "none",
    "complete",
    "basic",
    "O(1)",
    "made up",
    (Implementation(OPERATOR, SOURCE, "library:test"),),
)
KEY = "sk-fake-0123456789abcdefghijklmnop"
HASTE = RetryPolicy(
    outage_limit_s=5.0,
    first_wait_s=0.005,
    longest_wait_s=0.05,
    first_pause_s=0.02,
    longest_pause_s=0.1,
)


def started(settings: RunSettings) -> Draft:
    """``RunStarted`` with a library of one operator."""
    entry = InstanceEntry(key=InstanceKey("g/a"), reference=1.0)
    payload = RunStarted(
        domain="imaginary",
        sense="min",
        seed=1,
        settings=settings.model_dump(),
        code_version="test",
        library=(library_operator(LIBRARY),),
        baseline=(first_step(LIBRARY),),
        splits=SplitManifest(train=(entry,), validation=(), test=(), digest="d"),
        batch=(entry.key,),
        policy="uniform",
        llm=settings.llm,
        sandbox={},
        data_dir=None,
    )
    return Draft("conductor", payload)


async def converse(
    url: str,
    run: str,
    settings: RunSettings,
    environment: Mapping[str, str],
    policy: RetryPolicy = HASTE,
) -> None:
    """Start the run or go on with it, until it has a graph or its model is unavailable."""
    run_id, outages = RunId(run), OutageRecorder()
    quotas = {
        LLM_CALLS: settings.llm_calls,
        LLM_TOKENS: settings.llm_tokens,
        LLM_MICROUSD: settings.llm_microusd,
    }
    granted = {kind: amount for kind, amount in quotas.items() if amount is not None}
    async with (
        open_model(settings, url, outages, environment, policy) as model,
        open_store(url) as store,
    ):
        is_new = run_id not in [summary.run_id for summary in await store.runs()]
        async with store.write(run_id, create=is_new, quotas=granted) as writer:
            outages.connect(writer)
            state = await state_of(store, run)
            first = (
                started(settings)
                if state.started is None
                else Draft("conductor", RunResumed(code_version="test", epoch=writer.epoch, changed={}))
            )
            state = fold(state, (await writer.append([first], [SOURCE.encode()]))[0])
            if state.graph is not None:
                return
            agent = Initializer(writer, store, model, PromptContext.of(CARD, (LIBRARY,)))
            try:
                await _until_graph(agent, store, run_id, state)
            except* ModelUnavailableError as group:
                error: Any = group
                while isinstance(error, BaseExceptionGroup):
                    error = error.exceptions[0]
                await writer.append([Draft("conductor", RunPaused(reason=error.reason))])


async def _until_graph(agent: Initializer, store: EventStore, run_id: RunId, state: RunState) -> None:
    import anyio

    async with project(store, run_id, state) as run:
        with run.subscribe() as changes:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run_agent, agent, run)
                async for _, state in changes:
                    if state.graph is not None or not is_live(state):
                        tasks.cancel_scope.cancel()


async def state_of(store: EventStore, run: str) -> RunState:
    """Verified and folded log of a run."""
    state = RunState()
    async for event in verify_events(store.read(RunId(run))):
        state = fold(state, event)
    return state


async def read_state(url: str, run: str) -> RunState:
    """`state_of` in a database that nobody has open."""
    async with open_store(url, create=False, read_only=True) as store:
        return await state_of(store, run)
