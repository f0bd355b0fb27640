"""A study's commands on the nodes of a Ray cluster: Ray queues them, places them and says what was lost.

What runs on a node is the command line, in a process of its own, as on one machine. All that a run is stands
in the database, which every node must reach; so a run whose node is lost is resumed on any other.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from dga2d.runtime.cluster.connection import ClusterError, ClusterNode, alive_nodes, connect
from dga2d.runtime.runs.own_processes import own_command, own_environment
from dga2d.runtime.study.running import KEPT_BYTES, CommandEnding

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
