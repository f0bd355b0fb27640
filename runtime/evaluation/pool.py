"""The evaluator pool: many callers, a fixed number of warm zygotes, no trust."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio import to_thread

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance
from dga2d.domains.core.registry import get_domain, loaded_plugin
from dga2d.domains.source_rules import check_source
from dga2d.events.payloads import FailureKind
from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.answers import Failure, failed, judge, read_ending
from dga2d.runtime.evaluation.domain_file import load_domain_file
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.source_cache import SourceCache
from dga2d.runtime.evaluation.worker import ZygoteSettings
from dga2d.runtime.evaluation.worker_pool import Job, WorkerPool, World

_WORLDS_KEPT = 64
_PREPARATION_S = 1e9
"""Others wait for preparations, so these start before every evaluation, the longest texts first."""
_WARMINGS = 4
"""Times an implementation may compile, outside its budget, what no run of it had met before."""


class EvaluatorPool:
    """Evaluates untrusted pipelines of one domain in `workers` isolated processes.

    Use as an async context manager; on leaving it, by whatever way, no process is left. :meth:`evaluate` may
    be called by any number of tasks at once. Waiting tasks start longest expected first.

    Parameters
    ----------
    domain_name
        Name in :mod:`dga2d.domains.core.registry`.
    workers
        Number of zygotes, ≥ 1: evaluations that run at the same time.
    cache_dir
        Folder for implementations and their machine code; kept between runs.
    budget
        Amount and unit of requests that bring no budget of their own; without it they must.
    domain_file
        Trusted Python file that defines ``DOMAIN``, instead of a registered domain.
    has_source_rules
        Whether texts that break the static rules are refused unseen; only tests of the sandbox switch it off.
    """

    def __init__(
        self,
        domain_name: str,
        workers: int,
        limits: EvaluationLimits | None = None,
        sandbox: SandboxMode = "best-effort",
        cache_dir: Path = Path(".dga2d-cache"),
        domain_file: Path | None = None,
        has_source_rules: bool = True,
        budget: tuple[float, Literal["s", "work"]] | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError(f"expected at least one worker, got {workers}")
        self._domain_name = domain_name
        self._domain_file = domain_file
        self._n_workers = workers
        self._limits = limits or EvaluationLimits()
        self._mode: SandboxMode = sandbox
        self._sources = SourceCache(cache_dir)
        self._budget = budget
        self._has_source_rules = has_source_rules
        self._violations: dict[str, Failure | None] = {}
        self._preparations: dict[str, Failure | None] = {}
        self._preparing: dict[str, anyio.Lock] = {}
        self._worlds: OrderedDict[str, tuple[Instance, World]] = OrderedDict()
        self._warmings: Counter[str] = Counter()
        self._is_warming = anyio.Lock()
        self._worker_pool: WorkerPool
        self._domain: Domain

    # ---------------------------------------------------------------- life

    async def __aenter__(self) -> Self:
        """Start the workers.

        Raises
        ------
        SandboxUnavailableError
            The mode is ``strict`` and a layer is missing.
        WorkerStartError
            A worker did not come up.
        """
        self._domain = await to_thread.run_sync(self._load_domain)
        plugin = None if self._domain_file is not None else loaded_plugin(self._domain_name)
        settings = ZygoteSettings(
            self._domain_name,
            self._domain_file,
            self._mode,
            self._limits,
            self._sources.root,
            plugin=None if plugin is None else plugin.address(),
        )
        self._worker_pool = await WorkerPool(settings, self._n_workers).__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._worker_pool.__aexit__(exc_type, exc, traceback)

    def _load_domain(self) -> Domain:
        if self._domain_file is not None:
            return load_domain_file(self._domain_file)
        return get_domain(self._domain_name)

    @property
    def sandbox_status(self) -> dict[str, str]:
        """Layer of the sandbox → ``active``, proven by a self-test, or why it is not."""
        return dict(self._worker_pool.sandbox_status)

    @property
    def workers(self) -> int:
        """Evaluations that can run at the same time."""
        return self._n_workers

    @property
    def busy(self) -> int:
        """How many of the workers evaluate or compile at this moment."""
        return self._worker_pool.busy

    # ---------------------------------------------------------------- callers

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        """Run `request` in a child of its own and verify what comes back.

        Everything a candidate can do is a reply. Cancelling the call ends the child.

        Raises
        ------
        WorkerStartError
            A dead worker could not be replaced.
        PoolClosedError
            The pool was left while the task waited.
        """
        failure = self._check_sources(request.steps)
        if failure is None:
            failure = await self._prepare(request.steps)
        if failure is not None:
            return failed(failure.kind, failure.diagnostic)
        world = await self._world(request.instance)
        budget, unit = self._budget_of(request)
        is_timed = unit == "s"
        expected_s = budget if is_timed or request.budget is None else 0.0
        while True:
            warmings = self._n_warmings(request)
            job = self._job(
                world,
                request.steps,
                budget,
                unit,
                request.seed,
                self._deadlines(budget, is_timed),
                scales=request.scales,
            )
            ended = await self._worker_pool.submit(job, expected_s)
            if ended is None:
                return failed("crashed", "the evaluation worker died twice while it ran this task")
            if not (
                is_timed and ended["has_compiled"] and await self._warm(world, request, budget, warmings)
            ):
                break
        outcome = read_ending(ended)
        return await to_thread.run_sync(judge, self._domain, request.instance, ended, outcome)

    def _budget_of(self, request: EvaluationRequest) -> tuple[float, Literal["s", "work"]]:
        if request.budget is not None:
            return request.budget, request.unit
        if self._budget is None:
            raise ValueError(f"{request.key} has no budget and the pool has none for it")
        return self._budget

    def _deadlines(self, budget: float, is_timed: bool) -> tuple[float, float, float]:
        limits = self._limits
        run_s = budget + limits.wall_grace_s if is_timed else limits.work_wall_s
        return limits.load_s, run_s, limits.load_s + run_s

    def _check_sources(self, steps: Sequence[Implementation]) -> Failure | None:
        if not self._has_source_rules:
            return None
        for step in steps:
            if step.digest not in self._violations:
                self._violations[step.digest] = _violation(step)
            if (failure := self._violations[step.digest]) is not None:
                return failure
        return None

    # ---------------------------------------------------------------- first compilation

    async def _prepare(self, steps: Sequence[Implementation]) -> Failure | None:
        """See each implementation compiled once, all at the same time; the failure of the first that
        cannot be."""
        if any(step.id not in self._preparations for step in steps):
            try:
                async with anyio.create_task_group() as group:
                    for position, step in enumerate(steps):
                        group.start_soon(self._prepare_step, step, position == 0)
            except ExceptionGroup as errors:  # all of one cause: the pool is closed or cannot start workers
                raise errors.exceptions[0] from errors
        for step in steps:
            if (failure := self._preparations[step.id]) is not None:
                return failure
        return None

    async def _prepare_step(self, step: Implementation, is_first: bool) -> None:
        async with self._preparing.setdefault(step.id, anyio.Lock()):
            if step.id not in self._preparations:
                self._preparations[step.id] = await self._trial(step, is_first)

    async def _trial(self, step: Implementation, is_first: bool) -> Failure | None:
        """Run `step` on the smoke instance where it may fill its compiler cache."""
        steps: tuple[Implementation, ...] = (step,)
        if not self._is_initialiser(step, is_first):
            steps = (self._initialiser(), step)
            await self._prepare_step(steps[0], True)
        world = await self._world(self._domain.smoke_instance())
        return await self._fill_cache(world, steps, steps[-1:])

    def _is_initialiser(self, step: Implementation, is_first: bool) -> bool:
        for operator in self._domain.operators():
            if operator.id == step.operator:
                return operator.is_initialiser
        return is_first

    def _initialiser(self) -> Implementation:
        return self._domain.safe_baseline()[0].implementation

    async def _warm(self, world: World, request: EvaluationRequest, budget: float, before: int) -> bool:
        """Let `request` compile on its own instance what no run had met; whether it is worth another try.

        `before` is the number of its steps' warmings when it was run. Code that compiles something new
        whenever it runs is no business of ours: its time is its own.
        """
        async with self._is_warming:
            if self._n_warmings(request) > before:
                return True
            if any(self._warmings[step.id] >= _WARMINGS for step in request.steps):
                return False
            self._warmings.update({step.id for step in request.steps})
            run_s = budget + self._limits.prepare_run_s
            deadlines = (self._limits.load_s, run_s, run_s + self._limits.prepare_s)
            job = self._job(world, request.steps, budget, "s", request.seed, deadlines, request.steps)
            await self._worker_pool.submit(job, _PREPARATION_S)
            return True

    def _n_warmings(self, request: EvaluationRequest) -> int:
        return sum(self._warmings[step.id] for step in request.steps)

    async def _fill_cache(
        self, world: World, steps: Sequence[Implementation], filled: Sequence[Implementation]
    ) -> Failure | None:
        limits = self._limits
        deadlines = (limits.prepare_run_s, limits.prepare_run_s, limits.prepare_s)
        job = self._job(world, steps, limits.prepare_work, "work", (0,), deadlines, filled)
        ended = await self._worker_pool.submit(job, _PREPARATION_S + max(len(step.source) for step in filled))
        if ended is None:
            return Failure("crashed", "the evaluation worker died twice while it compiled this text")
        outcome = read_ending(ended)
        return outcome if isinstance(outcome, Failure) else None

    # ---------------------------------------------------------------- jobs

    async def _world(self, instance: Instance) -> World:
        known = self._worlds.get(instance.key)
        if known is not None and known[0] is instance:
            self._worlds.move_to_end(instance.key)
            return known[1]
        data = wire.encode(await to_thread.run_sync(self._domain.environment, instance))
        world = World(hashlib.sha256(data).hexdigest(), data)
        self._worlds[instance.key] = (instance, world)
        while len(self._worlds) > _WORLDS_KEPT:
            self._worlds.popitem(last=False)
        return world

    def _job(
        self,
        world: World,
        steps: Sequence[Implementation],
        budget: float,
        unit: str,
        seed: Sequence[int],
        deadlines: tuple[float, float, float],
        filled: Sequence[Implementation] = (),
        scales: Sequence[float] = (),
    ) -> Job:
        paths = [self._sources.place(step) for step in steps]
        writable = {str(self._sources.machine_code(self._sources.place(step))) for step in filled}
        fields = {
            "op": "evaluate",
            "programs": [
                [step.operator, str(path), step.source, scale]
                for step, path, scale in zip(steps, paths, scales or (1.0,) * len(steps), strict=True)
            ],
            "budget": budget,
            "unit": unit,
            "seed": list(seed),
            "deadlines": list(deadlines),
            "writable": sorted(writable),
        }
        return Job(world, fields, deadlines[2])


def _violation(step: Implementation) -> Failure | None:
    found = check_source(step.source)
    if not found:
        return None
    kind: FailureKind = "compile_error" if found[0].rule == "syntax" else "forbidden"
    listed = "\n".join(f"line {v.line}: {v.message}" for v in found[:10])
    return Failure(kind, f"the source of {step.operator} breaks the rules:\n{listed}"[:1500])
