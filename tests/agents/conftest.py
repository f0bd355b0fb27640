"""A run in memory: the real agents on a small made-up problem, with an evaluator that only hashes."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import settings as hypothesis_settings

from dga2d.agents.agent import Agent, run_agent
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.conductor import Conductor
from dga2d.agents.credit_keeper import CreditKeeper
from dga2d.agents.edge_evolver import EdgeEvolver
from dga2d.agents.evaluator_pool import EvaluatorPoolAgent, SourceReader
from dga2d.agents.implementation_evolver import ImplementationEvolver
from dga2d.agents.initializer import Initializer
from dga2d.agents.pipeline_sampler import PipelineSampler, PolicyBriefing
from dga2d.agents.policy import UniformPolicy
from dga2d.agents.ports import EvaluationReply, EvaluationRequest, EventAppender, EventSource
from dga2d.agents.proposing import Completion, CompletionRequest, LanguageModel, OfflineModel, Quote
from dga2d.agents.trials import TrialRunner
from dga2d.agents.validator import Validator
from dga2d.domains.contract import Card, Implementation, Instance, Operator, SolutionKind
from dga2d.domains.contract import OperatorId as DomainOperatorId
from dga2d.events import (
    BlobDigest,
    Draft,
    ImplementationId,
    InstanceKey,
    OperatorId,
    RecordedEvent,
    RunId,
    blob_digest,
    check_owner,
    encode_payload,
)
from dga2d.events.payloads import (
    InstanceEntry,
    LibraryImplementation,
    LibraryOperator,
    LLMCallReserved,
    PositionTrace,
    RunResumed,
    RunStarted,
    SplitManifest,
    Step,
)
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import stream
from dga2d.store import DuplicateOperationError, QuotaExceededError

hypothesis_settings.register_profile("untimed", deadline=None)
hypothesis_settings.load_profile("untimed")

RUN = RunId("simulated")
CARD = Card("Imaginary", "cost", "a permutation", "a sum", {"n": "places"}, "each place once")
SOURCE = """NAME = "{name}"
ROUNDS = 5  # tunable: int 1..40
NOISE = 0.5  # tunable: float 0.0..1.0


def run(env_data, state, calc_makespan_fn):
    return state
"""


def _operator(name: str, category: str, requires: SolutionKind, n: int = 1) -> Operator:
    operator = DomainOperatorId(name)
    texts = [SOURCE.format(name=f"{name}{i}") for i in range(n)]
    return Operator(
        operator,
        name.title(),
        f"What {name} does.",
        category,
        requires,
        "complete",
        "basic",
        "O(1)",
        "made up",
        tuple(Implementation(operator, text, "library:test") for text in texts),
    )


OPERATORS = (
    _operator("build", "initialisation", "none", 2),
    _operator("climb", "local_search", "complete", 2),
    _operator("intensify", "intensification", "complete"),
    _operator("kick", "perturbation", "complete"),
    _operator("start", "initialisation", "none"),
)


class MemoryLog:
    """Appender and source of events with the store's rules, and nothing else of it."""

    def __init__(self, quota: int = 500, events: Iterable[RecordedEvent] = ()) -> None:
        self.quota = quota
        self.events: list[RecordedEvent] = list(events)
        self.blobs: dict[BlobDigest, bytes] = {}
        self._operations = {o for e in self.events if (o := e.payload.operation()) is not None}
        self._grown = anyio.Event()

    def until(self, seq: int) -> MemoryLog:
        """The log as it would be had the process died after event `seq`."""
        cut = MemoryLog(self.quota, self.events[:seq])
        cut.blobs = dict(self.blobs)
        return cut

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]:
        await anyio.lowlevel.checkpoint()
        operations = [o for d in drafts if (o := d.payload.operation()) is not None]
        for operation in operations:
            if operation in self._operations or operations.count(operation) > 1:
                raise DuplicateOperationError(operation)
        for draft in drafts:
            check_owner(draft.agent, type(draft.payload).__name__)
            if isinstance(draft.payload, LLMCallReserved) and draft.payload.call > self.quota:
                raise QuotaExceededError("llm-call", self.quota)
        added = [recorded(len(self.events) + 1 + i, draft) for i, draft in enumerate(drafts)]
        self._operations.update(operations)
        self.events += added
        self.blobs.update((blob_digest(data), data) for data in blobs)
        self._grown.set()
        self._grown = anyio.Event()
        return added

    async def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]:
        while True:
            grown = self._grown
            for event in self.events[after:]:
                after = event.seq
                yield event
            if after == len(self.events):
                await grown.wait()

    async def get_blob(self, digest: BlobDigest) -> bytes:
        return self.blobs[digest]


def recorded(seq: int, draft: Draft) -> RecordedEvent:
    """The event a draft becomes; not linked to a chain."""
    data = encode_payload(draft.payload)
    name = type(draft.payload).__name__
    return RecordedEvent(
        RUN, seq, str(seq), name, 1, draft.agent, draft.generation, draft.caused_by, 0, data, b"", b""
    )


Fails = Callable[[EvaluationRequest], bool]


class HashEvaluator:
    """Objective in [100, 200) from a hash of pipeline and instance; answers come in any order."""

    def __init__(self, order: random.Random, fails: Fails = lambda request: False) -> None:
        self._order = order
        self._fails = fails
        self.keys: list[str] = []

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        self.keys.append(request.key)
        await _wait(self._order)
        if self._fails(request):
            return EvaluationReply(None, "runtime_error", "ValueError: no", 0.1, 3, (), None)
        text = f"{request.instance.key}|{[step.digest for step in request.steps]}"
        value = 100.0 + int.from_bytes(hashlib.sha256(text.encode()).digest()[:2]) / 655.36
        before: list[float | None] = [None, *[value + i for i in range(len(request.steps), 1, -1)]]
        trace = tuple(
            PositionTrace(score_before=score, score_after=value, elapsed_s=0.1, work=10 * (i + 1))
            for i, score in enumerate(before)
        )
        return EvaluationReply(value, None, "", 0.1, 60, trace, text.encode())


async def _stop_after(source: EventSource, seq: int, scope: anyio.CancelScope) -> None:
    async for event in source.subscribe(RUN):
        if event.seq >= seq:
            scope.cancel()
            return


async def _wait(order: random.Random) -> None:
    for _ in range(order.randrange(6)):
        await anyio.lowlevel.checkpoint()


class Instances:
    """Instances without content."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def instance(self, key: str) -> Instance:
        group, name = key.split("/")
        return Instance("imaginary", group, name, {})

    def smoke_instance(self) -> Instance:
        return Instance("imaginary", "smoke", "s", {})

    def index(self, key: str) -> int:
        return self._keys.index(key)


class Tardy:
    """A language model whose answers take their time."""

    def __init__(self, model: LanguageModel, order: random.Random) -> None:
        self.name = model.name
        self._model = model
        self._order = order

    async def ready(self) -> None:
        await _wait(self._order)
        await self._model.ready()

    def quote(self, request: CompletionRequest) -> Quote:
        return self._model.quote(request)

    async def complete(self, request: CompletionRequest) -> Completion:
        await _wait(self._order)
        return await self._model.complete(request)


@dataclass
class Answers:
    """A language model that gives fixed answers by kind of task, then the offline ones."""

    given: dict[str, list[str]]
    """Task class name → answers, by attempt."""
    name: str = "scripted"
    requests: list[CompletionRequest] = field(default_factory=list)

    async def ready(self) -> None:
        return

    def quote(self, request: CompletionRequest) -> Quote:
        return Quote(OfflineModel().quote(request).tokens, 0.25)

    async def complete(self, request: CompletionRequest) -> Completion:
        self.requests.append(request)
        texts = self.given.get(type(request.task).__name__, [])
        if request.task.attempt < len(texts):
            return Completion(texts[request.task.attempt], 7, 5, False, 0.25)
        return await OfflineModel().complete(request)


@dataclass(frozen=True)
class Simulation:
    """A small run; every part of it can be replaced."""

    settings: RunSettings
    seed: int = 1
    order: int = 0
    """Seed of the order in which things outside the log finish."""
    model: LanguageModel = field(default_factory=OfflineModel)
    fails: Fails = lambda request: False
    operators: tuple[Operator, ...] = OPERATORS
    baseline: tuple[str, ...] = ("build", "climb")
    domain: str = "imaginary"
    card: Card = CARD
    run_id: RunId = RUN

    def changed(self, **settings: Any) -> Simulation:
        return replace(self, settings=RunSettings.model_validate({**self.settings.model_dump(), **settings}))

    @property
    def briefing(self) -> DomainBriefing:
        return DomainBriefing.of(self.card, self.operators)

    def log(self) -> MemoryLog:
        return MemoryLog(self.settings.llm_calls)

    def run(self, log: MemoryLog | None = None, **process: Any) -> tuple[RunState, MemoryLog]:
        """A whole process: from the log's end to the end of the run."""
        there = self.log() if log is None else log.until(len(log.events))
        anyio.run(lambda: self.process(there, there, **process))
        return fold_all(there.events), there

    async def begin(self, log: EventAppender, events: Sequence[RecordedEvent]) -> RunState:
        """Append ``RunStarted`` or ``RunResumed``."""
        if not events:
            draft, sources = self.started()
            return fold_all(await log.append([draft], sources))
        state = fold_all(events)
        resumed = RunResumed(code_version="test", epoch=2, changed={})
        return fold_all(await log.append([Draft("conductor", resumed)]), state)

    async def process(
        self,
        log: EventAppender,
        source: EventSource,
        events: Sequence[RecordedEvent] | None = None,
        late: str = "",
        stop_after: int | None = None,
    ) -> None:
        """Run all agents to the end; the one called `late` begins long after the others, at event 1.

        The process dies when it has seen event `stop_after`.
        """
        if events is None:
            assert isinstance(log, MemoryLog)
            events = list(log.events)
        state = await self.begin(log, events)
        async with anyio.create_task_group() as life:
            if stop_after is not None:
                life.start_soon(_stop_after, source, stop_after, life.cancel_scope)
            async with anyio.create_task_group() as tasks:
                for agent in self.agents(log, source, state):
                    if agent.name != late:
                        tasks.start_soon(run_agent, agent, source, self.run_id, state)
                for agent in self.agents(log, source, state):
                    if agent.name == late:
                        await anyio.sleep(0.05)
                        tasks.start_soon(run_agent, agent, source, self.run_id, state)
            life.cancel_scope.cancel()

    def agents(self, log: EventAppender, source: EventSource, state: RunState) -> tuple[Agent, ...]:
        order = random.Random(self.order)
        model, evaluator = Tardy(self.model, order), HashEvaluator(order, self.fails)
        splits = state.header.splits
        keys = [entry.key for part in (splits.train, splits.validation, splits.test) for entry in part]
        instances = Instances(keys)
        trials = TrialRunner(evaluator, instances, SourceReader(source))
        words = PolicyBriefing("imaginary", "small", {})
        agents: list[Agent] = [
            Conductor(log),
            Initializer(log, source, model, self.briefing),
            PipelineSampler(log, UniformPolicy(), words),
            EvaluatorPoolAgent(log, source, evaluator, instances),
            CreditKeeper(log),
            ImplementationEvolver(log, source, model, trials, self.briefing),
            EdgeEvolver(log, source, model, self.briefing),
            Validator(log),
        ]
        order.shuffle(agents)
        return tuple(agents)

    def started(self) -> tuple[Draft, list[bytes]]:
        """``RunStarted`` and the library's sources."""
        train = [InstanceKey(f"g/train{i}") for i in range(6)]
        drawn = stream(self.seed, "batch").choice(6, self.settings.batch_size, replace=False)
        by_id = {op.id: op for op in self.operators}
        payload = RunStarted(
            domain=self.domain,
            sense="min",
            seed=self.seed,
            settings=self.settings.model_dump(),
            code_version="test",
            library=tuple(_recorded(op) for op in self.operators),
            baseline=tuple(_first_step(by_id[DomainOperatorId(name)]) for name in self.baseline),
            splits=SplitManifest(
                train=_entries(train),
                validation=_entries([InstanceKey(f"g/validation{i}") for i in range(2)]),
                test=_entries([InstanceKey(f"g/test{i}") for i in range(2)]),
                digest="d",
            ),
            batch=tuple(sorted(train[i] for i in drawn)),
            policy="uniform uniform",
            llm=self.model.name,
            sandbox={},
            data_dir=None,
        )
        sources = [i.source.encode() for op in self.operators for i in op.implementations]
        return Draft("conductor", payload), sources


def _entries(keys: Sequence[InstanceKey]) -> tuple[InstanceEntry, ...]:
    return tuple(InstanceEntry(key=key, reference=100.0) for key in keys)


def _first_step(operator: Operator) -> Step:
    first = ImplementationId(operator.implementations[0].id)
    return Step(operator=OperatorId(operator.id), implementation=first)


def _recorded(operator: Operator) -> LibraryOperator:
    return LibraryOperator(
        id=OperatorId(operator.id),
        category=operator.category,
        requires=operator.requires,
        provides=operator.provides,
        tier=operator.tier,
        implementations=tuple(
            LibraryImplementation(id=ImplementationId(i.id), source=blob_digest(i.source.encode()))
            for i in operator.implementations
        ),
    )


SMALL = RunSettings(
    generations=3,
    pipelines=3,
    batch_size=2,
    max_length=4,
    pool_limit=3,
    validation_interval=2,
    beam_width=2,
    policy="uniform",
    work=100,
    llm_calls=50,
)


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    """Three generations of three pipelines on two instances."""
    return Simulation(SMALL)


@pytest.fixture
def answers() -> type[Answers]:
    return Answers


@pytest.fixture
def record() -> Callable[[int, Draft], RecordedEvent]:
    return recorded
