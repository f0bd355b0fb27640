"""Throws programs of the corpus at a pool; looks at what they may not change and not tell."""

from __future__ import annotations

import json
import os
import socket
import sysconfig
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import numpy as np
import psutil
from tests.fakes.held_pool import hold

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Implementation, OperatorName, State
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.pool import EvaluatorPool

MARK = "dga2d-attack"
HARNESS = """

def run(env_data, state, calc_makespan_fn):
    import numpy as np

    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    return attack(env_data, state, calc_makespan_fn)
"""
SECONDS = 0.4
IDLE_PROCESSES = 4
"""Launcher, zygote and the two children that wait for tasks."""
LIMITS = EvaluationLimits(
    work_wall_s=1.5, load_s=3.0, prepare_run_s=1.5, prepare_s=20.0, memory_bytes=1 << 28, answer_bytes=1 << 22
)


def open_pool(
    host: Any, mode: SandboxMode, domain_file: Path, limits: EvaluationLimits = LIMITS
) -> AbstractAsyncContextManager[EvaluatorPool]:
    """A pool without the source rules: the sandbox has to hold alone."""
    return hold(
        EvaluatorPool("line", 1, limits, mode, host.cache, domain_file=domain_file, has_source_rules=False)
    )


@dataclass(frozen=True)
class Containment:
    """A pool and a host: throws programs at the one and looks at the other."""

    pool: EvaluatorPool
    host: Any
    unit: Literal["s", "work"]

    async def throw(self, text: str) -> EvaluationReply:
        """Evaluate the attack `text` and see that nothing came of it."""
        before = self.traces()
        program = Implementation(OperatorName("order"), self.host.aim(text) + HARNESS, "attack")
        with anyio.fail_after(60):
            reply = await self.pool.evaluate(self._request(program))
        self._look_at(reply)
        assert self.traces() == before
        await self.become_idle()
        return reply

    async def evaluate_honestly(self) -> None:
        """See that an honest program is still evaluated rightly, by the same zygote."""
        zygote = self._zygote()
        with anyio.fail_after(60):
            reply = await self.pool.evaluate(self._request(self.host.competitor))
        assert reply.failure is None, reply
        assert json.loads(reply.solution or b"")["sequence"] == list(range(20))
        assert self._zygote() == zygote
        await self.become_idle()

    async def become_idle(self) -> None:
        """Wait until the pool's own processes are the only ones: a child that has answered takes a moment."""
        with anyio.fail_after(20):
            while len(psutil.Process().children(recursive=True)) != IDLE_PROCESSES:
                await anyio.sleep(0.005)

    def _request(self, program: Implementation) -> EvaluationRequest:
        budget = SECONDS if self.unit == "s" else 100
        return EvaluationRequest(program.id, self.host.instance(), (program,), (3,), budget, self.unit)

    def traces(self) -> dict[str, object]:
        """What no attack may change."""
        home, library = Path.home(), Path(sysconfig.get_paths()["purelib"])
        folders = [*map(Path, ("/tmp", "/var/tmp", "/run", "/dev/shm", "/etc/cron.d", "/sys/fs/cgroup"))]
        folders += [home, home / ".config", library, library / "numpy", Path.cwd(), Path("/")]
        named = [
            folder / name
            for folder in folders
            for name in (MARK, f".{MARK}", f"{MARK}.pth", "evil", "evil.py")
        ]
        database = os.stat(self.host.database)
        return {
            **self.host.snapshot(),
            "named": [str(path) for path in named if path.exists()],
            "log": (database.st_mode, database.st_uid, database.st_mtime_ns, database.st_size),
            "zygote": self._zygote(),
            "machine": socket.gethostname(),
            "settings": [os.environ.get(name) for name in ("PYTHONPATH", "LD_PRELOAD")],
            "kernel": Path("/proc/sys/kernel/core_pattern").read_text(),
            "shared memory": _segments("shm"),
            "queues": _segments("msg"),
        }

    def _zygote(self) -> list[int]:
        """The launcher and its zygote, which outlive every evaluation."""
        children = psutil.Process().children(recursive=True)
        return sorted(child.pid for child in sorted(children, key=psutil.Process.create_time)[:2])

    def _look_at(self, reply: EvaluationReply) -> None:
        """The reply is honest and holds no secret, whatever the program did."""
        host, diagnostic = self.host, reply.diagnostic
        secrets = ("sk-secret", "the log", "root:x:", "root:*:", "BEGIN OPENSSH", str(host.folder))
        assert not [secret for secret in secrets if secret in repr(reply)]
        assert len(diagnostic) <= 1500
        assert not set(diagnostic) & {"\x1b", "\0", "\x07", "\u202e"}
        assert reply.elapsed_s < 30
        if reply.failure is not None:
            assert reply.objective is None
            assert reply.solution is None
            return
        sequence = np.array(json.loads(reply.solution or b"")["sequence"], np.int32)
        verdict = host.domain.verify(host.instance(), State(sequence))
        assert verdict.is_feasible
        assert reply.objective == verdict.objective


def _segments(kind: str) -> list[str]:
    """Keys of the shared objects of System V."""
    path = Path("/proc/sysvipc") / kind
    return [line.split()[0] for line in path.read_text().splitlines()[1:]] if path.exists() else []
