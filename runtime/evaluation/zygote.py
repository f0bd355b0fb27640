"""The warm process that forks evaluation children: ``python -P -m dga2d.runtime.evaluation.zygote``.

It is started by exec with a clean environment and speaks :mod:`~dga2d.runtime.evaluation.wire` on stdin and
stdout. The first message configures it; its answer tells which layers of the sandbox hold. Then each request
is one evaluation. It ends when stdin does, and with it everything it started.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dga2d.runtime.evaluation.sandbox import namespaces, privileges

if TYPE_CHECKING:
    from types import CodeType

    from dga2d.domains.core.contract import Decoder
    from dga2d.runtime.evaluation.sandbox.seal import Seal
    from dga2d.runtime.evaluation.supervise import Child, Deadlines, Ending
    from dga2d.runtime.evaluation.wire import Message


class _Hangup(Exception):
    """The parent is gone."""


class Channel:
    """Messages from and to the trusted parent."""

    def __init__(self) -> None:
        self.reader = os.dup(0)
        self._writer = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def receive(self) -> Message:
        """The next message; `_Hangup` where the parent is gone."""
        from dga2d.runtime.evaluation import wire

        prefix = self._read(wire.PREFIX.size)
        return wire.decode(prefix + self._read(sum(wire.PREFIX.unpack(prefix))))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = os.read(self.reader, min(size - len(data), 1 << 20))
            if not chunk:
                raise _Hangup
            data += chunk
        return bytes(data)

    def send(self, **fields: Any) -> None:
        """Send a message; `_Hangup` where the parent is gone."""
        from dga2d.runtime.evaluation import wire

        view = memoryview(wire.encode(fields))
        try:
            while view:
                view = view[os.write(self._writer, view) :]
        except BrokenPipeError as error:
            raise _Hangup from error


_ORDER = ("programs", "budget", "unit", "seed", "writable", "world", "deadlines")
"""Fields of a request that its child needs."""


class Zygote:
    """Serves one request after another."""

    def __init__(self, channel: Channel, seal: Seal, domain: Any) -> None:
        self._channel = channel
        self._seal = seal
        self._domain = domain
        self._worlds: dict[str, tuple[dict[str, Any], Decoder]] = {}
        self._codes: dict[str, CodeType] = {}
        self._hung_up = False
        self._leaves_nothing = "seccomp" in seal.layers and seal.limits.processes == 0
        """Whether no candidate can start a process: only then may one of ours wait beside it."""
        self._spare: Child | None = None
        """Forked ahead, with all the worlds and codes there are."""

    def serve(self) -> None:
        """Until the parent hangs up."""
        while not self._hung_up:
            request = self._channel.receive()
            if request["op"] == "evaluate":
                self._evaluate(request)

    def _evaluate(self, request: Message) -> None:
        self._keep_world(request)
        child = self._commanded_child(request)
        try:
            limit = self._seal.limits.answer_bytes
            ending = child.see_end(self._deadlines(request), limit, self._is_cancelled, self._channel.reader)
            self._report(request, ending)
            if ending.end == "answered":
                self._keep_codes(request)
            if self._leaves_nothing:  # before the burial: the kernel takes the dead apart meanwhile
                self._spare = self._fork(request["world"])
        finally:
            child.bury(with_descendants=not self._leaves_nothing)

    def _report(self, request: Message, ending: Ending) -> None:
        self._channel.send(
            op="ended",
            id=request["id"],
            end=ending.end,
            exit_code=ending.exit_code,
            is_sealed=ending.is_sealed,
            has_started=ending.has_started,
            elapsed_s=ending.elapsed_s,
            cpu_s=ending.cpu_s,
            has_compiled=ending.has_compiled,
            answer=ending.answer,
        )

    def _keep_world(self, request: Message) -> None:
        from dga2d.runtime.evaluation import warm_up, wire

        for digest in request["forget"]:
            self._worlds.pop(digest, None)
        digest = request["world"]
        if digest in self._worlds:
            return
        self._dismiss_spare()
        environment = wire.decode(request["environment"])
        decoder = self._domain.decoder(environment)
        warm_up.warm_decoder(environment, decoder)
        self._worlds[digest] = (environment, decoder)
        gc.freeze()

    # ---------------------------------------------------------------- children

    def _commanded_child(self, request: Message) -> Child:
        """A child at work on `request`: the one that waits, or a new one."""
        from dga2d.runtime.evaluation import wire

        order = wire.encode({name: request[name] for name in _ORDER})
        if self._spare is not None:
            try:
                self._spare.command(order)
                child, self._spare = self._spare, None
                return child
            except BrokenPipeError:  # it died, of a lack of memory say
                self._dismiss_spare()
        child = self._fork(None)
        with contextlib.suppress(BrokenPipeError):  # its death will be seen
            child.command(order)
        return child

    def _fork(self, rehearsed: str | None) -> Child:
        """A waiting child; it rehearses in the world `rehearsed`."""
        from dga2d.runtime.evaluation.child import rehearse
        from dga2d.runtime.evaluation.supervise import Child

        rehearsal = None if rehearsed is None else partial(rehearse, *self._worlds[rehearsed])
        return Child.fork(self._carry_out, rehearsal)

    def _dismiss_spare(self) -> None:
        if self._spare is not None:
            self._spare.bury(with_descendants=False)
            self._spare = None

    def _carry_out(self, order_bytes: bytes, answer: int) -> None:
        """In the child: seal it and run the candidate."""
        from dga2d.runtime.evaluation import wire
        from dga2d.runtime.evaluation.child import Job, Program, run_job

        order = wire.decode(order_bytes)
        programs = tuple(
            Program(operator, path, source, scale, self._codes.get(path))
            for operator, path, source, scale in order["programs"]
        )
        writable = [Path(path) for path in order["writable"]]
        job = Job(programs, order["budget"], order["unit"], tuple(order["seed"]), bool(writable))
        self._seal.close(
            answer,
            cpu_s=self._deadlines(order).cpu_s,
            readable=[Path(program.path).parent for program in programs],
            writable=writable,
            purpose="prepare" if writable else "evaluate",
        )
        run_job(job, *self._worlds[order["world"]])

    def _deadlines(self, request: Message) -> Deadlines:
        from dga2d.runtime.evaluation.supervise import Deadlines

        load_s, run_s, total_s = request["deadlines"]
        is_preparation = bool(request["writable"])
        cpu_s = self._seal.limits.cpu_s
        if cpu_s is None or is_preparation:
            cpu_s = total_s + 1.0  # the wall clock comes first
        return Deadlines(load_s, run_s, total_s, cpu_s, excludes_compiler=is_preparation)

    def _is_cancelled(self) -> bool:
        try:
            return bool(self._channel.receive()["op"] == "cancel")
        except _Hangup:
            self._hung_up = True
            return True

    def _keep_codes(self, request: Message) -> None:
        """Compile the texts here once a child has shown that they compile."""
        for _, path, source, _ in request["programs"]:
            if path not in self._codes:
                with contextlib.suppress(SyntaxError, ValueError, MemoryError, RecursionError):
                    self._codes[path] = compile(source, path, "exec", dont_inherit=True)


def _prepare_seal(configuration: Message) -> tuple[Seal, dict[str, str]]:
    """The seal with every layer that is wanted and has what it needs, and why the others have not."""
    from dga2d.runtime.evaluation.limits import EvaluationLimits
    from dga2d.runtime.evaluation.sandbox import landlock, rlimits
    from dga2d.runtime.evaluation.sandbox.seal import ALWAYS, LAYERS, Seal, interpreter_paths, open_path

    missing = dict(configuration["missing"])
    abi = 0
    readable: tuple[int, ...] = ()
    if configuration["mode"] == "off":
        missing.update((layer, "switched off") for layer in LAYERS if layer not in ALWAYS)
    elif sys.platform == "linux":
        try:
            abi = landlock.abi()
            readable = tuple(open_path(path) for path in interpreter_paths())
        except OSError as error:
            missing["landlock"] = error.strerror or str(error)
    filters = {
        purpose: configuration[f"filter_{purpose}"]
        for purpose in ("evaluate", "prepare")
        if f"filter_{purpose}" in configuration
    }
    seal = Seal(
        limits=EvaluationLimits(**configuration["limits"]),
        layers=frozenset(LAYERS) - missing.keys(),
        landlock_abi=abi,
        filters=filters,
        readable=readable,
        baseline_bytes=rlimits.baseline_bytes(),
        baseline_tasks=rlimits.baseline_tasks(),
    )
    return seal, missing


def _load_domain(configuration: Message) -> Any:
    if configuration["domain_file"]:
        from dga2d.runtime.evaluation.domain_file import load_domain_file

        return load_domain_file(Path(configuration["domain_file"]))
    if configuration["plugin"]:
        from dga2d.domains.core.plugins import load_again

        return load_again(configuration["plugin"])
    if configuration["domain"]:
        from dga2d.domains.core.registry import get_domain

        return get_domain(configuration["domain"])
    return None


def _start(channel: Channel, refusal: str | None) -> Zygote:
    configuration = channel.receive()
    if refusal is not None:
        configuration["missing"].setdefault("namespaces", refusal)
    from dga2d.runtime.evaluation import numba_cache, warm_up
    from dga2d.runtime.evaluation.sandbox.probe import ACTIVE, self_test

    numba_cache.cache_implementations()
    warm_up.warm_compiler()
    domain = _load_domain(configuration)
    import dga2d.runtime.evaluation.child  # noqa: F401 - loaded before the first fork
    from dga2d.runtime.evaluation.supervise import kill_descendants

    seal, missing = _prepare_seal(configuration)
    gc.collect()
    gc.freeze()
    sandbox_status = configuration["sandbox_status"] or self_test(seal, missing)
    kill_descendants()
    from dataclasses import replace

    closed = frozenset(layer for layer, state in sandbox_status.items() if state == ACTIVE)
    channel.send(op="ready", sandbox_status=sandbox_status)
    return Zygote(channel, replace(seal, layers=closed), domain)


def main(mode: str) -> int:
    """Serve as a zygote; `mode` is a :data:`~dga2d.runtime.evaluation.limits.SandboxMode`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    refusal = "switched off" if mode == "off" else namespaces.refusal()
    if refusal is None:
        namespaces.become_init()
    elif sys.platform == "linux":
        privileges.adopt_orphans()
    channel = Channel()
    try:
        zygote = _start(channel, refusal)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        zygote.serve()
    except _Hangup:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
