"""Carrying out a study: what ``dga2d evolve``, ``resume`` and ``test`` do, each in a process of its own.

A study that was killed, interrupted or stopped at its limit of money goes on where it was: a tested run is
never repeated, a begun one is resumed from its log.

On a Ray cluster, Ray queues the commands, places them and says what was lost. All that a run is stands in the
database, which every node must reach; so a run whose node is lost is resumed on any other.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any, NamedTuple

import anyio
from anyio import to_thread
from anyio.abc import Process

from dga2d.runtime.cluster.connection import ClusterError, ClusterNode, alive_nodes, connect
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.runs.estimate import hours_in_words
from dga2d.runtime.runs.outside import HARMLESS
from dga2d.runtime.runs.own_processes import own_command, own_environment
from dga2d.runtime.study.cells import CellProgress, hours_left, read_progress
from dga2d.runtime.study.plan import Cell, StudyPlan
from dga2d.runtime.terminal.output import Announce

_PR_SET_PDEATHSIG = 1


def carry_out(url: str, arguments: Sequence[str], folder: str) -> CommandEnding:
    """Run a command of ``dga2d`` on this node, on the database at `url`; where this process ends, the command
    pauses its run."""
    with subprocess.Popen(
        own_command(arguments),
        env=own_environment(url),
        cwd=folder if Path(folder).is_dir() else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    ) as process:
        try:
            _, messages = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    return CommandEnding(process.returncode, messages[-KEPT_BYTES:])


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


@dataclass(frozen=True)
class NodesOfStudy:
    """Carries out commands on whichever node has room."""

    url: str
    """The database."""
    workers: int
    """Processors that a command takes."""
    room: int
    """Commands that the nodes present at the start carry out at a time."""

    async def __call__(self, arguments: Sequence[str]) -> CommandEnding:
        """Run a command to its end; where this process is to stop, the command is asked to pause."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        # `SPREAD`, as a node that is full of runs leaves nothing for the next
        options = {"num_cpus": self.workers, "max_retries": 0, "scheduling_strategy": "SPREAD"}
        ended = ray.remote(carry_out).options(**options).remote(self.url, list(arguments), os.getcwd())
        try:
            return await ended
        except RayTaskError as error:
            return CommandEnding(1, str(error.cause).encode())
        except RayError as error:
            return CommandEnding(None, str(error).encode())
        except anyio.get_cancelled_exc_class():
            ray.cancel(ended)
            raise


@asynccontextmanager
async def nodes_for_study(address: str, url: str, workers: int) -> AsyncIterator[NodesOfStudy]:
    """Connect to a cluster for the length of the block.

    Raises
    ------
    UsageError
        Ray is not installed.
    ClusterError
        The cluster cannot be reached, has no node with so many processors, or `url` is a file that some of
        its nodes do not have.
    """
    with ExitStack() as stack:
        await to_thread.run_sync(stack.enter_context, connect(address, "--on ray"))
        nodes = await to_thread.run_sync(alive_nodes)
        _check_shared(url, nodes)
        room = sum(node.cpus // workers for node in nodes)
        if not room:
            raise ClusterError(f"no node of the Ray cluster offers {workers} processors, which a run needs")
        yield NodesOfStudy(url, workers, room)


def _check_shared(url: str, nodes: Sequence[ClusterNode]) -> None:
    elsewhere = sorted({node.host for node in nodes} - {socket.gethostname()})
    if url.startswith("sqlite") and elsewhere:
        raise ClusterError(
            f"--store {url} is a file on this machine, which {', '.join(elsewhere)} cannot write to; "
            "give a database server: --store postgresql+asyncpg://…"
        )


_LEASE_LOOK_S = 2.0
KEPT_BYTES = 20_000
LAST_LINES = 3
"""Lines of a failed command's messages that are shown."""


@dataclass(frozen=True)
class Options:
    """How a study is carried out; nothing of it changes what a run finds."""

    url: str
    data_dir: Path | None = None
    jobs: int = 1
    """Runs at a time."""
    max_cost_usd: float | None = None
    """No further run begins once the runs have cost so much."""
    domain_paths: tuple[Path, ...] = ()
    cluster: str | None = None
    """Address of the Ray cluster that carries it out, empty for this machine's; ``None`` for no cluster."""


class CommandEnding(NamedTuple):
    """How a command ended."""

    code: int | None
    """``None`` where the machine that ran it was lost."""
    messages: bytes
    """The last of them."""

    @property
    def trouble(self) -> str | None:
        """The last lines of the messages of a command that did not end well."""
        if self.code == 0:
            return None
        text = self.messages.decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return " / ".join(lines[-LAST_LINES:]) or f"exit code {self.code}"


CarryOut = Callable[[Sequence[str]], Awaitable[CommandEnding]]


@dataclass(frozen=True)
class StudyOutcome:
    """A study as a command left it."""

    cells: tuple[CellProgress, ...]
    failures: dict[str, str]
    """Run → the last lines of the command that failed."""
    stopped: str | None
    """Why cells were left undone; ``None`` where none were, or only failed ones."""

    @property
    def exit_code(self) -> ExitCode:
        is_done = all(cell.status == "tested" for cell in self.cells)
        return ExitCode.OK if is_done else ExitCode.STOPPED


def commands_for(plan: StudyPlan, progress: CellProgress, options: Options) -> list[list[str]]:
    """Return the commands that a cell still needs, each as arguments of ``dga2d``; the environment
    names the database."""
    run, cell = plan.run_id(progress.cell), progress.cell
    common = ["--quiet", "--no-report", "--json"]
    if options.data_dir is not None:
        common += ["--data", str(options.data_dir)]
    for folder in options.domain_paths:
        common += ["--domain-path", str(folder)]
    test = ["test", run, *(["--hand-tuned"] if plan.hand_tuned else []), *common]
    if progress.status == "absent":
        settings = plan.given(cell)
        if options.cluster is not None:
            settings = {"evaluators": _workers(plan, cell), **settings}
        given = [f"--set={key}={_toml(value)}" for key, value in settings.items()]
        return [["evolve", cell.domain, "--seed", str(cell.seed), "--run-id", run, *given, *common], test]
    if progress.status == "begun":
        # a node's user need not be the one who began it: what reaches out is named again
        named = {name: value for name, value in plan.given(cell).items() if name in HARMLESS}
        again = [f"--set={name}={_toml(value)}" for name, value in named.items()]
        return [["resume", run, *again, *common], test]
    return [test] if progress.status == "evolved" else []


def _toml(value: Any) -> str:
    """Return a setting's value in TOML notation, of which JSON's scalars and lists are a part."""
    return json.dumps(value, ensure_ascii=False)


async def run_study(plan: StudyPlan, options: Options, announce: Announce) -> StudyOutcome:
    """Carry out what is left of a study, `options.jobs` runs at a time; `announce` is told of every step.

    Cancelling waits for the runs under way, which pause at their next event.
    """
    progress = await read_progress(options.url, plan)
    async with AsyncExitStack() as stack:
        place: CarryOut = partial(_dga2d, options.url)
        if options.cluster is not None:
            from dga2d.runtime.study.running import nodes_for_study

            options = _for_cluster(plan, options)
            workers = max(_workers(plan, cell) for cell in plan.cells)
            nodes = await stack.enter_async_context(
                nodes_for_study(options.cluster or "", options.url, workers)
            )
            place, options = nodes, replace(options, jobs=max(options.jobs, nodes.room))
        study = _Study(plan, options, announce, progress, place)
        study.report("", None)
        async with anyio.create_task_group() as group:
            for _ in range(options.jobs):
                group.start_soon(study.work)
    cells = await read_progress(options.url, plan)
    return StudyOutcome(tuple(cells), study.failures, study.stopped)


class _Study:
    """The queue of cells, shared by the workers."""

    def __init__(
        self,
        plan: StudyPlan,
        options: Options,
        announce: Announce,
        progress: Sequence[CellProgress],
        place: CarryOut,
    ) -> None:
        self._place = place
        self._plan, self._options, self._announce = plan, options, announce
        self._progress = {found.cell: found for found in progress}
        self._queue = [found.cell for found in progress if found.status in ("absent", "begun", "evolved")]
        self._awaited: set[Cell] = set()
        self.failures: dict[str, str] = {}
        self.stopped: str | None = None

    async def work(self) -> None:
        while self._queue:
            spent = sum(found.cost_usd for found in self._progress.values())
            limit = self._options.max_cost_usd
            if limit is not None and spent >= limit:
                self.stopped = f"the runs cost {spent:.2f} US dollars, the limit is {limit:g}"
                return
            await self._carry_out(self._queue.pop(0))

    async def _carry_out(self, cell: Cell) -> None:
        run = self._plan.run_id(cell)
        if self._progress[cell].is_running and not await self._is_free(cell):
            return
        for command in commands_for(self._plan, self._progress[cell], self._options):
            self.report(command[0], cell)
            ending = await self._place(command)
            if ending.code is None:
                await self._take_up_again(cell)
                return
            if (trouble := ending.trouble) is not None:
                self.failures[run] = trouble
                self._announce(f"{run}: {command[0]} ended early: {trouble}")
                break
        own = await self._read(cell)
        self._progress[cell] = replace(own, is_running=False)
        if own.status == "tested":
            self.report("finished", cell)

    async def _is_free(self, cell: Cell) -> bool:
        """Return whether a run may be written that another process wrote, as one does that outlived the study
        that began it; one that may not goes to the end of the queue."""
        self._progress[cell] = own = await self._read(cell)
        if own.is_running:
            if cell not in self._awaited:
                self._awaited.add(cell)
                self.report("another process writes", cell)
            self._queue.append(cell)
            await anyio.sleep(_LEASE_LOOK_S)
        return not own.is_running

    async def _take_up_again(self, cell: Cell) -> None:
        """Put a cell back into the queue whose machine was lost, once its run can be written again."""
        self.report("lost the machine of", cell)
        while (own := await self._read(cell)).is_running:
            await anyio.sleep(_LEASE_LOOK_S)
        self._progress[cell] = own
        self._queue.insert(0, cell)

    async def _read(self, cell: Cell) -> CellProgress:
        (own,) = await read_progress(self._options.url, self._plan, [cell])
        return own

    def report(self, step: str, cell: Cell | None) -> None:
        """Say what is done and how much is left."""
        done = sum(found.status == "tested" for found in self._progress.values())
        hours = hours_left(self._plan, list(self._progress.values()), self._options.jobs, {})
        rest = "" if hours is None or done == len(self._progress) else f", about {hours_in_words(hours)} left"
        what = "" if cell is None else f"{step} {self._plan.run_id(cell)}; "
        self._announce(f"{what}{done} of {len(self._progress)} runs done{rest}")


def _workers(plan: StudyPlan, cell: Cell) -> int:
    """Return how many processors a run takes on a node: its evaluation workers, one if the plan is silent."""
    workers = dict(plan.effective(cell)).get("evaluators")
    return workers if isinstance(workers, int) else 1


def _for_cluster(plan: StudyPlan, options: Options) -> Options:
    """Return options that mean the same in another process's folder."""
    data = None if options.data_dir is None else options.data_dir.resolve()
    return replace(
        options, data_dir=data, domain_paths=tuple(path.resolve() for path in options.domain_paths)
    )


async def _dga2d(url: str, arguments: Sequence[str]) -> CommandEnding:
    """Run a command on the database at `url` to its end. Where this process is to stop, it is asked to pause
    and waited for."""
    command, environment = own_command(arguments), own_environment(url)
    async with await anyio.open_process(
        command, stdin=None, stdout=PIPE, stderr=PIPE, start_new_session=True, env=environment
    ) as process:
        last = bytearray()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_drain, process)
                await _collect(process, last)
            code = await process.wait()
        except BaseException:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.terminate()
                await process.wait()
            raise
    return CommandEnding(code, bytes(last))


async def _drain(process: Process) -> None:
    assert process.stdout is not None
    async for _ in process.stdout:
        continue


async def _collect(process: Process, last: bytearray) -> None:
    assert process.stderr is not None
    async for chunk in process.stderr:
        last += chunk
        del last[:-KEPT_BYTES]
