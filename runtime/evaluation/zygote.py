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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dga2d.runtime.evaluation.sandbox import namespaces, privileges

if TYPE_CHECKING:
    from types import CodeType

    from dga2d.domains.contract import Decoder
    from dga2d.runtime.evaluation.sandbox.seal import Seal
    from dga2d.runtime.evaluation.supervise import Ending
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
        from dga2d.runtime.evaluation import wire

        view = memoryview(wire.encode(fields))
        try:
            while view:
                view = view[os.write(self._writer, view) :]
        except BrokenPipeError as error:
            raise _Hangup from error


class Zygote:
    """Serves one request after another."""

    def __init__(self, channel: Channel, seal: Seal, domain: Any) -> None:
        self._channel = channel
        self._seal = seal
        self._domain = domain
        self._worlds: dict[str, tuple[dict[str, Any], Decoder]] = {}
        self._codes: dict[str, CodeType] = {}
        self._hung_up = False

    def serve(self) -> None:
        """Until the parent hangs up."""
        while not self._hung_up:
            request = self._channel.receive()
            if request["op"] == "evaluate":
                self._evaluate(request)

    def _evaluate(self, request: Message) -> None:
        self._keep_world(request)
        ending = self._run(request)
        if ending.end == "answered":
            self._keep_codes(request)
        self._channel.send(
            op="ended",
            id=request["id"],
            end=ending.end,
            exit_code=ending.exit_code,
            is_sealed=ending.is_sealed,
            has_started=ending.has_started,
            elapsed_s=ending.elapsed_s,
            answer=ending.answer,
        )

    def _keep_world(self, request: Message) -> None:
        from dga2d.runtime.evaluation import warmth, wire

        for digest in request["forget"]:
            self._worlds.pop(digest, None)
        digest = request["world"]
        if digest in self._worlds:
            return
        environment = wire.decode(request["environment"])
        decoder = self._domain.decoder(environment)
        warmth.warm_decoder(environment, decoder)
        self._worlds[digest] = (environment, decoder)
        gc.freeze()

    def _run(self, request: Message) -> Ending:
        from dga2d.runtime.evaluation.child import Job, Program, run_job
        from dga2d.runtime.evaluation.supervise import Deadlines, supervise

        programs = tuple(
            Program(operator, path, source, self._codes.get(path))
            for operator, path, source in request["programs"]
        )
        writable = [Path(path) for path in request["writable"]]
        job = Job(programs, request["budget"], request["unit"], tuple(request["seed"]), bool(writable))
        environment, decoder = self._worlds[request["world"]]
        load_s, run_s, total_s = request["deadlines"]
        deadlines = Deadlines(load_s, run_s, total_s, excludes_compiler=bool(writable))

        def run_child(answer: int) -> None:
            self._seal.close(
                answer,
                cpu_s=deadlines.total_s,
                readable=[Path(program.path).parent for program in programs],
                writable=writable,
                purpose="prepare" if writable else "evaluate",
            )
            run_job(job, environment, decoder)

        limit = self._seal.limits.answer_bytes
        return supervise(run_child, deadlines, limit, self._is_cancelled, self._channel.reader)

    def _is_cancelled(self) -> bool:
        try:
            return bool(self._channel.receive()["op"] == "cancel")
        except _Hangup:
            self._hung_up = True
            return True

    def _keep_codes(self, request: Message) -> None:
        """Compile the texts here once a child has shown that they compile."""
        for _, path, source in request["programs"]:
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
    )
    return seal, missing


def _load_domain(configuration: Message) -> Any:
    if configuration["domain_file"]:
        from dga2d.runtime.evaluation.domain_file import load_domain_file

        return load_domain_file(Path(configuration["domain_file"]))
    if configuration["domain"]:
        from dga2d.domains.registry import get_domain

        return get_domain(configuration["domain"])
    return None


def _start(channel: Channel, refusal: str | None) -> Zygote:
    configuration = channel.receive()
    if refusal is not None:
        configuration["missing"].setdefault("namespaces", refusal)
    from dga2d.runtime.evaluation import numba_cache, warmth
    from dga2d.runtime.evaluation.sandbox.probe import ACTIVE, self_test

    numba_cache.cache_everything()
    warmth.warm_up()
    domain = _load_domain(configuration)
    import dga2d.runtime.evaluation.child  # noqa: F401 - loaded before the first fork

    seal, missing = _prepare_seal(configuration)
    gc.collect()
    gc.freeze()
    posture = configuration["posture"] or self_test(seal, missing)
    from dataclasses import replace

    closed = frozenset(layer for layer, state in posture.items() if state == ACTIVE)
    channel.send(op="ready", posture=posture)
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
