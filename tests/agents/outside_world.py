"""What lies outside a simulated run: an evaluator that only hashes, instances, slow and scripted models."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import anyio.lowlevel

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.proposing.models import Completion, CompletionRequest, LanguageModel, Quote
from dga2d.agents.proposing.offline import OfflineModel
from dga2d.agents.proposing.tasks import ConnectTask, ImplementTask, OperatorTask, Task
from dga2d.domains.core.contract import Implementation, Instance
from dga2d.events.payloads import PositionTrace

if TYPE_CHECKING:
    import pytest
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

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


class CountingEvaluator(HashEvaluator):
    """Every position uses up its share of the budget, and takes as long as its `rate` says."""

    requests: ClassVar[list[EvaluationRequest]] = []

    def rate(self, step: Implementation, instance: Instance) -> float:
        """Return the units that `step` makes in a second of the processor."""
        raise NotImplementedError

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        self.requests.append(request)
        reply = await super().evaluate(request)
        scales = request.scales or (1.0,) * len(request.steps)
        share = (request.budget or 1000.0) / len(request.steps)
        seconds = [
            share / scale / self.rate(step, request.instance)
            for step, scale in zip(request.steps, scales, strict=True)
        ]
        trace = tuple(
            PositionTrace(score_before=None, score_after=1.0, elapsed_s=s, work=round(share)) for s in seconds
        )
        if request.cpu_limit_s is not None and sum(seconds) > request.cpu_limit_s:
            return EvaluationReply(
                None, "timeout", "too much", sum(seconds), 0, (), None, request.cpu_limit_s
            )
        return replace(reply, trace=trace, work=round(share * len(seconds)), cpu_s=sum(seconds))

    @classmethod
    def takes_over(cls, monkeypatch: pytest.MonkeyPatch) -> list[EvaluationRequest]:
        """Let simulations evaluate with it, and return the list of what they will ask."""
        asked: list[EvaluationRequest] = []
        monkeypatch.setattr("tests.agents.simulation.HashEvaluator", cls)
        monkeypatch.setattr(cls, "requests", asked)
        return asked


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

    def size(self, key: str) -> int:
        return 10 * (1 + self.index(key))


class Tardy:
    """A language model whose answers take their time, the longer the higher the `patience`."""

    def __init__(self, model: LanguageModel, order: random.Random, patience: int = 1) -> None:
        self.name = model.name
        self._model = model
        self._order = order
        self._patience = patience

    async def ready(self) -> None:
        await _wait(self._order)
        await self._model.ready()

    def quote(self, request: CompletionRequest) -> Quote:
        return self._model.quote(request)

    async def complete(self, request: CompletionRequest) -> Completion:
        for _ in range(self._patience):
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


class AskedRun(NamedTuple):
    """A run whose model keeps what it is asked."""

    simulation: Simulation
    log: MemoryLog
    tasks: list[Task]

    @property
    def code(self) -> list[ImplementTask]:
        return [task for task in self.tasks if isinstance(task, ImplementTask)]

    @property
    def edges(self) -> list[ConnectTask]:
        return [task for task in self.tasks if isinstance(task, ConnectTask)]

    @property
    def operators(self) -> list[OperatorTask]:
        return [task for task in self.tasks if isinstance(task, OperatorTask)]


def asked_run(simulation: Simulation, **settings: Any) -> AskedRun:
    """Carry out a simulation under other settings, with the offline proposer as its model."""
    model = Answers({})
    talking = replace(simulation.changed(**settings), model=model)
    log = talking.run()[1]
    return AskedRun(talking, log, [request.task for request in model.requests])
