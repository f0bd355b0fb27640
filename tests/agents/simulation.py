"""A run in memory: the real agents on a small made-up problem, with an evaluator that only hashes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio
from tests.agents.made_up_library import CARD, OPERATORS, first_step, made_up_operator
from tests.agents.memory_log import RUN, MemoryLog
from tests.agents.outside_world import Fails, HashEvaluator, Instances, Tardy

from dga2d.agents.agent import Agent, run_agent
from dga2d.agents.conductor import Conductor
from dga2d.agents.credit_keeper import CreditKeeper
from dga2d.agents.decision_replay import DecisionVerifier
from dga2d.agents.edge_evolver import EdgeEvolver
from dga2d.agents.evaluator_pool import EvaluatorPoolAgent, SourceReader
from dga2d.agents.implementation_evolver import ImplementationEvolver
from dga2d.agents.initializer import Initializer
from dga2d.agents.kernel_evolver import KernelEvolver
from dga2d.agents.method_runner import MethodRunner
from dga2d.agents.operator_evolver import OperatorEvolver
from dga2d.agents.pipeline_sampler import PipelineSampler, PolicyPromptContext
from dga2d.agents.policy.policies import UniformPolicy
from dga2d.agents.ports import BlobSource, Evaluator, EventAppender
from dga2d.agents.proposing.models import ModelPool, Models
from dga2d.agents.proposing.offline import OfflineModel
from dga2d.agents.proposing.tasks import PromptContext
from dga2d.agents.racer import Racer
from dga2d.agents.smoke_trials import TrialRunner
from dga2d.agents.validator import Validator
from dga2d.domains.core.contract import Card, Operator, OperatorName
from dga2d.domains.core.kernels import Kernel
from dga2d.events import Draft, InstanceKey, RecordedEvent, RunId
from dga2d.events.payloads import InstanceEntry, ProcessUse, RunResumed, RunStarted, ScoreEntry, SplitManifest
from dga2d.replay.projection import EventFeed, project
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM
from dga2d.replay.streams import stream
from dga2d.runtime.bank.choosing import NO_ENTRIES, BankOfRun
from dga2d.runtime.runs.start import library_kernel, library_operator

METHOD_AGENTS = (
    *("conductor", "initializer", "pipeline_sampler", "evaluator_pool", "credit_keeper", "validator"),
)
"""Agents of every run; one of complete programs has a method runner besides."""


class Source(EventFeed, BlobSource, Protocol):
    """A log as agents read it."""


@dataclass(frozen=True)
class Simulation:
    """A small run; every part of it can be replaced."""

    settings: RunSettings
    seed: int = 1
    order: int = 0
    """Seed of the order in which things outside the log finish."""
    patience: int = 1
    """How long answers of the model take."""
    model: Models = field(default_factory=OfflineModel)
    fails: Fails = lambda request: False
    operators: tuple[Operator, ...] = OPERATORS
    baseline: tuple[str, ...] = ("build", "climb")
    domain: str = "imaginary"
    card: Card = CARD
    run_id: RunId = RUN
    bank: BankOfRun = NO_ENTRIES
    own_score: ScoreEntry | None = None
    kernels: tuple[Kernel, ...] = ()
    evaluator: Callable[[random.Random, Fails], Evaluator] | None = None
    """Another one than `HashEvaluator`."""
    meter: Callable[[], ProcessUse] | None = None
    """Measures what the process used."""

    def changed(self, **settings: Any) -> Simulation:
        return replace(self, settings=RunSettings.model_validate({**self.settings.model_dump(), **settings}))

    @property
    def first_operators(self) -> tuple[Operator, ...]:
        """What ``RunStarted`` names: for a method of complete programs also the baseline as one."""
        if self.settings.evolves_pipelines:
            return self.operators
        return (*self.operators, made_up_operator(PROGRAM, "program", "none"))

    @property
    def prompt_context(self) -> PromptContext:
        return PromptContext.of(self.card, self.operators)

    def log(self) -> MemoryLog:
        return MemoryLog(self.settings.llm_calls)

    def run(self, log: MemoryLog | None = None, **process: Any) -> tuple[RunState, MemoryLog]:
        """A whole process: from the log's end to the end of the run."""
        there = self.log() if log is None else log.until(len(log.events))
        anyio.run(lambda: self.process(there, there, **process))
        return fold_all(there.events), there

    def run_in(self, log: MemoryLog) -> tuple[RunState, MemoryLog]:
        """A whole run that is written to `log` itself."""
        anyio.run(lambda: self.process(log, log))
        return fold_all(log.events), log

    async def begin(self, log: EventAppender, events: Sequence[RecordedEvent]) -> RunState:
        """Append ``RunStarted`` or ``RunResumed``."""
        if not events:
            draft, sources = self.started()
            return fold_all(await log.append([draft], sources))
        state = fold_all(events)
        epoch = getattr(log, "epoch", 2)  # a real log has one
        resumed = RunResumed(code_version="test", epoch=epoch, changed={})
        return fold_all(await log.append([Draft("conductor", resumed)]), state)

    async def process(
        self,
        log: EventAppender,
        source: Source,
        events: Sequence[RecordedEvent] | None = None,
        late: str = "",
        stop_after: int | None = None,
    ) -> None:
        """Run all agents to the end; the one called `late` begins long after the others.

        The process dies when it has seen event `stop_after`.
        """
        if events is None:
            assert isinstance(log, MemoryLog)
            events = list(log.events)
        state = await self.begin(log, events)
        async with anyio.create_task_group() as life:
            if stop_after is not None:
                life.start_soon(_stop_after, source, stop_after, life.cancel_scope)
            async with project(source, self.run_id, state) as run, anyio.create_task_group() as tasks:
                for agent in self.agents(log, source, state):
                    if agent.name != late:
                        tasks.start_soon(run_agent, agent, run)
                for agent in self.agents(log, source, state):
                    if agent.name == late:
                        await anyio.sleep(0.05)
                        tasks.start_soon(run_agent, agent, run)
            life.cancel_scope.cancel()

    def made_again(self, log: MemoryLog) -> int:
        """How many decisions of the log were made again; raises at the first difference."""
        verifier = DecisionVerifier(self.prompt_context, log)

        async def check() -> None:
            state = RunState()
            for event in log.events:
                before, state = state, fold(state, event)
                await verifier.check(before, event)

        anyio.run(check)
        return verifier.decisions

    def agents(self, log: EventAppender, source: Source, state: RunState) -> tuple[Agent[Any], ...]:
        order = random.Random(self.order)
        evaluator = (self.evaluator or HashEvaluator)(order, self.fails)
        model: Models = (
            ModelPool({name: Tardy(one, order, self.patience) for name, one in self.model.models.items()})
            if isinstance(self.model, ModelPool)
            else Tardy(self.model, order, self.patience)
        )
        splits = state.header.splits
        keys = [entry.key for part in (splits.train, splits.validation, splits.test) for entry in part]
        instances = Instances(keys)
        trials = TrialRunner(evaluator, instances, SourceReader(source))
        words = PolicyPromptContext("imaginary", "small", {})
        agents: list[Agent[Any]] = [
            Conductor(log, self.meter),
            Initializer(log, source, model, self.prompt_context),
            PipelineSampler(log, UniformPolicy(), words),
            EvaluatorPoolAgent(log, source, evaluator, instances),
            CreditKeeper(log),
            ImplementationEvolver(log, model, trials, self.prompt_context),
            EdgeEvolver(log, model, trials, self.prompt_context),
            OperatorEvolver(log, model, trials, self.prompt_context),
            KernelEvolver(log, model, trials, self.prompt_context),
            Racer(log, source, self.prompt_context),
            Validator(log),
        ]
        if not state.settings.evolves_pipelines:
            agents = [agent for agent in agents if agent.name in METHOD_AGENTS]
            agents.append(MethodRunner(log, model, SourceReader(source), self.prompt_context))
        order.shuffle(agents)
        return tuple(agents)

    def started(self) -> tuple[Draft, list[bytes]]:
        """``RunStarted`` and the library's sources."""
        train = [InstanceKey(f"g/train{i}") for i in range(6)]
        drawn = stream(self.seed, "batch").choice(6, self.settings.batch_size, replace=False)
        by_id = {op.id: op for op in self.operators}
        payload = RunStarted(
            domain=self.domain,
            sense="min" if self.own_score is None else "max",
            seed=self.seed,
            settings=self.settings.model_dump(),
            code_version="test",
            library=tuple(library_operator(op) for op in self.first_operators),
            baseline=tuple(first_step(by_id[OperatorName(name)]) for name in self.baseline),
            splits=SplitManifest(
                train=self._entries(train),
                validation=self._entries([InstanceKey(f"g/validation{i}") for i in range(2)]),
                test=self._entries([InstanceKey(f"g/test{i}") for i in range(2)]),
                digest="d",
            ),
            batch=tuple(sorted(train[i] for i in drawn)),
            policy="uniform uniform",
            llm=self.model.name,
            sandbox={},
            data_dir=None,
            bank=self.bank.entries,
            own_score=self.own_score,
            kernels=tuple(map(library_kernel, self.kernels)) or None,
        )
        sources = [i.source.encode() for op in self.first_operators for i in op.implementations]
        sources += [kernel.source.encode() for kernel in self.kernels]
        return Draft("conductor", payload), [*sources, *self.bank.sources]

    def _entries(self, keys: Sequence[InstanceKey]) -> tuple[InstanceEntry, ...]:
        reference, scale = (100.0, None) if self.own_score is None else (0.0, 1.0)
        return tuple(InstanceEntry(key=key, reference=reference, size="n = 10", scale=scale) for key in keys)


async def _stop_after(source: EventFeed, seq: int, scope: anyio.CancelScope) -> None:
    async for event in source.subscribe(RUN):
        if event.seq >= seq:
            scope.cancel()
            return


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

EVERY_RULE: dict[str, Any] = {
    "edit_scope": "walks",
    "min_samples": 2,
    "trial_samples": 1,
    "last_edits": False,
    "no_change": True,
    "no_change_rest": 1,
    "configurations": True,
    "near_copy_lines": 1,
    "call_costs": True,
    "incumbent_edits": 2,
    "race_assemblies": 1,
    "race_behind": "stay",
    "race_children": 1,
    "race_opening": 1,
    "race_blocks": 1,
    "race_drops": 1,
    "screen_functions": 2,
    "screen_instances": 3,
    "screen_interval": 3,
    "screen_levels": 3,
    "screen_stretch": 2.0,
    "race_substitutes": 1,
    "gate_instances": 3,
    "gate_patience": 1.0,
    "gate_rivals": "edit",
    "prompt_edition": 2,
}
"""Settings under which edits waste no calls and work on the incumbent."""
