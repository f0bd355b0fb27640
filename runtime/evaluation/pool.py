"""The evaluator pool: runs untrusted pipelines for many callers on a fixed number of workers."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, NamedTuple, Self

import anyio
from anyio import to_thread

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance, unit_seconds_of
from dga2d.domains.core.oracle import oracle_data
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.tunables import compiled_part
from dga2d.domains.source_rules import check_source
from dga2d.events.payloads import FailureKind
from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.answers import EvaluationFailure, compiled_code, read_ending, verdict
from dga2d.runtime.evaluation.compiled_code import CompiledCodeStore, bytecode_name
from dga2d.runtime.evaluation.decoders import decoder_address, load_domain_file
from dga2d.runtime.evaluation.errors import CacheFolderError, WireError
from dga2d.runtime.evaluation.launch import Zygote, launch
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.worker import Worker, ZygoteSettings
from dga2d.runtime.evaluation.worker_pool import Job, Parcel, Urgency, WorkerPool
from dga2d.runtime.user_files import KEY_BYTES, user_key

_WORLDS_KEPT = 64
_PROGRAMS_KEPT = 1024
_PREPARATION_S = 1e9
"""Others wait for preparations, so these start before every evaluation, the longest texts first."""
_HANDOVER_BYTES_PER_S = 32 << 20
"""What an evaluation's time limit allows for, besides its grace, while its instance is handed over."""


Deadlines = tuple[float, float, float]
"""Seconds to load, to run and in all."""


class _Budget(NamedTuple):
    amount: float
    unit: Literal["s", "work"]


class _World(NamedTuple):
    """An instance in the form in which its evaluations receive it."""

    environment: Parcel
    oracle: Parcel | None
    """What its oracle is made of; ``None`` where the domain has none."""


TRIAL_PART = 0.1
"""Part of the time of a trial that its budget is to take where a unit of work takes long."""


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
        Folder for machine code, kept between runs; no candidate can read or write there.
    budget
        Amount and unit of requests that bring no budget of their own; without it they must.
    domain_file
        Trusted Python file that defines ``DOMAIN``, instead of a registered domain.
    launched
        The first worker's process, if it was launched ahead; the pool takes it over when it is entered.
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
        launched: Zygote | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError(f"expected at least one worker, got {workers}")
        self._domain_name = domain_name
        self._domain_file = domain_file
        self._n_workers = workers
        self._limits = limits or EvaluationLimits()
        self._mode: SandboxMode = sandbox
        self._cache = cache_dir.resolve()
        self._budget = None if budget is None else _Budget(*budget)
        self._launched = launched
        self._has_source_rules = has_source_rules
        self._violations: dict[str, EvaluationFailure | None] = {}
        self._preparations: dict[str, EvaluationFailure | None] = {}
        self._preparing: dict[str, anyio.Lock] = {}
        self._worlds: OrderedDict[str, tuple[Instance, _World]] = OrderedDict()
        self._programs: OrderedDict[str, Parcel] = OrderedDict()
        self._worker_pool: WorkerPool
        self._compiled: CompiledCodeStore
        self._domain: Domain
        self._rehearsal: Instance
        self._unit_s: float

    # ---------------------------------------------------------------- life

    async def __aenter__(self) -> Self:
        """Start the workers.

        Raises
        ------
        SandboxUnavailableError
            The mode is ``strict`` and a layer is missing.
        WorkerStartError
            A worker did not come up.
        CacheFolderError
            The folder for machine code cannot be made or written to.
        """
        prepare_folder(self._cache)
        worker = Worker(self._launched or launch(self._mode, self._cache))
        try:
            settings = await to_thread.run_sync(self._settings)
            self._worker_pool = await WorkerPool(settings, self._n_workers, worker).__aenter__()
        except BaseException:
            await worker.stop()
            raise
        key = user_key("machine-code") or secrets.token_bytes(KEY_BYTES)  # or this pool's own
        self._compiled = CompiledCodeStore(self._cache, key, self._worker_pool.platform)
        return self

    def _settings(self) -> ZygoteSettings:
        self._domain = self._load_domain()
        smoke = self._world_of(self._domain.smoke_instance())
        self._rehearsal = self._domain.rehearsal_instance()
        self._unit_s = unit_seconds_of(self._domain)
        address = decoder_address(self._domain_name, self._domain_file)
        oracle = b"" if smoke.oracle is None else smoke.oracle.data
        return ZygoteSettings(self._mode, self._limits, self._cache, address, smoke.environment.data, oracle)

    async def __aexit__(self, *failure: object) -> None:
        await self._worker_pool.__aexit__(*failure)

    def _load_domain(self) -> Domain:
        if self._domain_file is not None:
            return load_domain_file(self._domain_file)
        return get_domain(self._domain_name)

    @property
    def sandbox_status(self) -> dict[str, str]:
        """Layers of the sandbox, each ``active``, as a self-test showed, or the reason why it is not."""
        return dict(self._worker_pool.sandbox_status)

    @property
    def workers(self) -> int:
        """Number of evaluations that can run at the same time."""
        return self._n_workers

    @property
    def busy(self) -> int:
        """Number of workers that evaluate or compile at this moment."""
        return self._worker_pool.busy

    @property
    def compiling(self) -> int:
        """Number of implementations whose first compilation is under way or waited for."""
        return sum(lock.locked() for lock in self._preparing.values())

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
        ended = await self.run(request)
        return await verdict(self._domain, request, ended)

    async def run(self, request: EvaluationRequest) -> wire.Message | EvaluationFailure:
        """Run `request` in a child of its own and return what came back, unverified; raises as `evaluate`."""
        failure = self._check_sources(request.steps)
        if failure is None:
            failure = await self.prepare(request.steps)
        if failure is not None:
            return failure
        world = await self._world(request.instance)
        budget = self._budget_of(request)
        job = await self._job(world, request.steps, budget, request.seed, self._deadlines(budget, world))
        job.fields |= {
            "scales": list(request.scales),
            "call_costs": list(request.call_costs),
            "shares": list(request.shares),
            "run_cpu_s": request.cpu_limit_s,
        }
        ended = await self._worker_pool.submit(job, urgency(request, self._budget))
        if ended is None:
            return EvaluationFailure("crashed", "the evaluation worker died twice while it ran this task")
        return {**ended, "environment_bytes": len(world.environment.data)}

    def _budget_of(self, request: EvaluationRequest) -> _Budget:
        if request.budget is not None:
            return _Budget(request.budget, request.unit)
        if self._budget is None:
            raise ValueError(f"{request.key} has no budget and the pool has none for it")
        return self._budget

    def _deadlines(self, budget: _Budget, world: _World) -> Deadlines:
        limits = self._limits
        run_s = budget.amount + limits.wall_grace_s if budget.unit == "s" else limits.work_wall_s
        run_s += len(world.environment.data) / _HANDOVER_BYTES_PER_S
        return limits.load_s, run_s, limits.load_s + run_s

    def _check_sources(self, steps: Sequence[Implementation]) -> EvaluationFailure | None:
        if not self._has_source_rules:
            return None
        for step in steps:
            if step.digest not in self._violations:
                self._violations[step.digest] = _violation(step)
            if (failure := self._violations[step.digest]) is not None:
                return failure
        return None

    # ---------------------------------------------------------------- first compilation

    async def count_uncompiled(self, steps: Sequence[Implementation]) -> int:
        """Return how many of `steps` have no compiled code from before and will be compiled first."""
        missing = {step.digest: step for step in steps if step.id not in self._preparations}
        return sum([not await to_thread.run_sync(self._is_kept, step) for step in missing.values()])

    def _is_kept(self, step: Implementation) -> bool:
        kept = self._compiled.load(_code_name(step))
        return kept is not None and _holds(kept, step)

    async def prepare(self, steps: Sequence[Implementation]) -> EvaluationFailure | None:
        """Compile each implementation once, all at the same time; return the first failure in their order."""
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

    async def _trial(self, step: Implementation, is_first: bool) -> EvaluationFailure | None:
        """Run `step` on the smoke instance and keep what it compiled.

        It runs alone or behind the library's initialiser, so that what comes back is its own.
        """
        if await to_thread.run_sync(self._is_kept, step):  # it passed before
            return None
        steps: tuple[Implementation, ...] = (step,)
        if not self._is_initialiser(step, is_first):
            steps = (self._initialiser(), step)
            await self._prepare_step(steps[0], True)
        limits = self._limits
        deadlines = (limits.prepare_run_s, limits.prepare_run_s, limits.prepare_s)
        world = await self._world(self._domain.smoke_instance())
        budget = _Budget(self._trial_work(world.oracle is not None), "work")
        ended = await self._run_preparation(world, steps, budget, deadlines)
        if ended is None:
            return EvaluationFailure(
                "crashed", "the evaluation worker died twice while it compiled this text"
            )
        outcome = read_ending(ended)
        if isinstance(outcome, EvaluationFailure):
            return outcome
        code = compiled_code(ended, limits.file_bytes)
        if code is not None:
            await to_thread.run_sync(self._keep, step, code)
            if ended["has_compiled"]:
                await self._rehearse(steps)
        return None

    def _trial_work(self, asks: bool) -> int:
        """Return the units of a trial: as many as fit well into its time where each takes long."""
        limits = self._limits
        units = min(limits.prepare_work, limits.prepare_questions) if asks else limits.prepare_work
        if self._unit_s > 0.0:
            units = min(units, int(TRIAL_PART * limits.prepare_run_s / self._unit_s))
        return max(units, 1)

    async def _rehearse(self, steps: Sequence[Implementation]) -> None:
        """Run what was just compiled on an instance of ordinary size, and keep what else compiles there.

        Small instances seldom reach all functions. What fails here fails in evaluations, where it counts.
        """
        limits = self._limits
        seconds = min(limits.prepare_run_s, limits.prepare_s)  # compilation included: it is worth no more
        deadlines = (seconds, seconds, seconds)
        world = await self._world(self._rehearsal)
        ended = await self._run_preparation(world, steps, _Budget(limits.rehearsal_s, "s"), deadlines)
        code = None if ended is None else compiled_code(ended, limits.file_bytes)
        if code is not None:
            await to_thread.run_sync(self._keep, steps[-1], code)

    async def _run_preparation(
        self, world: _World, steps: Sequence[Implementation], budget: _Budget, deadlines: Deadlines
    ) -> wire.Message | None:
        """Run `steps` to see what the last of them compiles."""
        job = await self._job(world, steps, budget, (0,), deadlines)
        job.fields["is_preparation"] = True
        job.answer_bytes += self._limits.file_bytes
        return await self._worker_pool.submit(job, Urgency(0, -_PREPARATION_S - len(steps[-1].source)))

    def _keep(self, step: Implementation, code: bytes) -> None:
        self._programs[step.id] = _program(step, code)
        if self._compiled.load(_code_name(step)) != code:
            with suppress(OSError):  # a full disk, say: this pool has it in memory, the next compiles again
                self._compiled.save(_code_name(step), code)

    def _is_initialiser(self, step: Implementation, is_first: bool) -> bool:
        for operator in self._domain.operators():
            if operator.id == step.operator:
                return operator.is_initialiser
        return is_first

    def _initialiser(self) -> Implementation:
        return self._domain.safe_baseline()[0].implementation

    # ---------------------------------------------------------------- jobs

    async def _world(self, instance: Instance) -> _World:
        known = self._worlds.get(instance.key)
        if known is not None and known[0] is instance:
            self._worlds.move_to_end(instance.key)
            return known[1]
        world = await to_thread.run_sync(self._world_of, instance)
        self._worlds[instance.key] = (instance, world)
        while len(self._worlds) > _WORLDS_KEPT:
            self._worlds.popitem(last=False)
        return world

    def _world_of(self, instance: Instance) -> _World:
        data = oracle_data(self._domain, instance)
        oracle = None if data is None else Parcel(wire.encode(data))
        return _World(Parcel(wire.encode(self._domain.environment(instance))), oracle)

    async def _job(
        self,
        world: _World,
        steps: Sequence[Implementation],
        budget: _Budget,
        seed: Sequence[int],
        deadlines: Deadlines,
    ) -> Job:
        programs = [await self._program(step) for step in steps]
        fields = {
            "budget": budget.amount,
            "unit": budget.unit,
            "seed": list(seed),
            "scales": [],
            "call_costs": [],
            "shares": [],
            "deadlines": list(deadlines),
            "run_cpu_s": None,
            "is_preparation": False,
        }
        limit = self._limits.answer_bytes
        return Job(programs, world.environment, fields, deadlines[2], limit, world.oracle)

    async def _program(self, step: Implementation) -> Parcel:
        if step.id not in self._programs:
            code = await to_thread.run_sync(self._compiled.load, _code_name(step))
            self._programs[step.id] = _program(step, code)
        self._programs.move_to_end(step.id)
        while len(self._programs) > _PROGRAMS_KEPT:
            self._programs.popitem(last=False)
        return self._programs[step.id]


def urgency(request: EvaluationRequest, budget: tuple[float, Literal["s", "work"]] | None) -> Urgency:
    """Return when an evaluation's turn is, compared with others that wait; `budget` is the run's."""
    if request.budget is None:
        return Urgency(request.turn, 0.0 if budget is None else -budget[0])
    return Urgency(request.turn, -request.budget if request.unit == "s" else 0.0)


def _code_name(step: Implementation) -> str:
    """Return the name of the machine code of a text, which configurations of one text have in common."""
    try:
        return hashlib.sha256(compiled_part(step.source).encode()).hexdigest()
    except SyntaxError:
        return step.digest


def _holds(code: bytes, step: Implementation) -> bool:
    """Return whether `code` is of this very text and not only of one with other constants."""
    try:
        return bytecode_name(step.source) in wire.decode(code)
    except WireError:
        return False


def _program(step: Implementation, code: bytes | None) -> Parcel:
    fields = {
        "operator": step.operator,
        "path": f"/dga2d/impl_{_code_name(step)[:12]}.py",
        "source": step.source,
    }
    return Parcel(wire.encode(fields if code is None else {**fields, "compiled": code}))


def _violation(step: Implementation) -> EvaluationFailure | None:
    found = check_source(step.source)
    if not found:
        return None
    kind: FailureKind = "compile_error" if found[0].rule == "syntax" else "forbidden"
    listed = "\n".join(f"line {v.line}: {v.message}" for v in found[:10])
    return EvaluationFailure(kind, f"the source of {step.operator} breaks the rules:\n{listed}"[:1500])


def prepare_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CacheFolderError(folder, (error.strerror or str(error)).lower()) from error
