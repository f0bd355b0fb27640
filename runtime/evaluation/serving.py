"""What a zygote does: configure itself, then fork, feed and watch one child per request."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Decoder, State
from dga2d.runtime.evaluation import child, numba_cache, wire
from dga2d.runtime.evaluation.child import MakeDecoder
from dga2d.runtime.evaluation.decoders import load_make_decoder
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.off_heap import OffHeapFile
from dga2d.runtime.evaluation.sandbox import file_tree, landlock, rlimits
from dga2d.runtime.evaluation.sandbox.probe import ACTIVE, self_test
from dga2d.runtime.evaluation.sandbox.seal import ALWAYS, LAYERS, NEEDS, Seal
from dga2d.runtime.evaluation.supervise import Child, Deadlines, kill_descendants
from dga2d.runtime.evaluation.wire import Message

_LONGEST_SEQUENCE = 1 << 20


class Hangup(Exception):
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
        """Return the next message; raise `Hangup` if the parent is gone."""
        prefix = self._read(wire.PREFIX.size)
        return wire.decode(prefix + self._read(sum(wire.PREFIX.unpack(prefix))))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = os.read(self.reader, min(size - len(data), 1 << 20))
            if not chunk:
                raise Hangup
            data += chunk
        return bytes(data)

    def send(self, **fields: Any) -> None:
        """Send a message; raise `Hangup` if the parent is gone."""
        view = memoryview(wire.encode(fields))
        try:
            while view:
                view = view[os.write(self._writer, view) :]
        except BrokenPipeError as error:
            raise Hangup from error

    def send_file(self, file: OffHeapFile, size: int) -> None:
        """Send the first `size` bytes of `file`; raise `Hangup` if the parent is gone."""
        try:
            file.send_all(self._writer, size)
        except BrokenPipeError as error:
            raise Hangup from error


_ORDER = ("programs", "budget", "unit", "seed", "scales", "is_preparation", "deadlines", "run_cpu_s")
"""Fields of a request that its child needs."""


class Zygote:
    """Serves one request after another; what it passes on to children never enters its memory."""

    def __init__(self, channel: Channel, seal: Seal, decoding: Decoding | None) -> None:
        self._channel = channel
        self._seal = seal
        self._decoding = decoding
        self._files: dict[str, OffHeapFile] = {}
        """Programs and instances under the parent's numbers for them."""
        self._answer = OffHeapFile()
        self._hung_up = False
        self._leaves_nothing = "seccomp" in seal.layers and seal.limits.processes == 0
        """Whether no candidate can start a process: only then may one of ours wait beside it."""
        self._spare: Child | None = None
        """Forked ahead of the next request."""

    def serve(self) -> None:
        """Serve requests until the parent hangs up."""
        while not self._hung_up:
            request = self._channel.receive()
            if request["op"] == "evaluate":
                self._evaluate(request)

    def _evaluate(self, request: Message) -> None:
        self._keep_files(request)
        commanded = self._commanded_child(request)
        try:
            ending = commanded.see_end(
                _deadlines(request, self._seal),
                request["answer_bytes"],
                [self._files[name] for name in request["programs"]],
                self._files[request["world"]],
                self._answer,
                self._is_cancelled,
                self._channel.reader,
            )
            self._channel.send(op="ended", id=request["id"], **vars(ending))
            self._channel.send_file(self._answer, ending.answer_bytes)
            self._answer.clear()
            if self._leaves_nothing:  # before the burial: the kernel takes the dead apart meanwhile
                self._spare = self._fork(is_ahead=True)
        finally:
            commanded.bury(with_descendants=not self._leaves_nothing)

    def _keep_files(self, request: Message) -> None:
        for name in request["forget"]:
            self._files.pop(name).close()
        for name, size in request["new"]:
            self._files[name] = OffHeapFile()
            if not self._files[name].fill(self._channel.reader, size):
                raise Hangup

    # ---------------------------------------------------------------- children

    def _commanded_child(self, request: Message) -> Child:
        """Return a child at work on `request`: the one that waits, or a new one."""
        order = wire.encode({name: request[name] for name in _ORDER})
        if self._spare is not None:
            waiting, self._spare = self._spare, None
            try:
                waiting.command(order)
                return waiting
            except BrokenPipeError:  # it died, of a lack of memory say
                waiting.bury(with_descendants=False)
        forked = self._fork(is_ahead=False)
        with contextlib.suppress(BrokenPipeError):  # its death will be seen
            forked.command(order)
        return forked

    def _fork(self, is_ahead: bool) -> Child:
        """Fork a child that waits for its order; one that is forked ahead has time to rehearse."""
        rehearsal = None
        if is_ahead and self._decoding is not None:
            rehearsal = self._decoding.rehearse
        return Child.fork(self._carry_out, rehearsal)

    def _carry_out(self, order_pipe: int, answer: int) -> None:
        """Seal the process and run the candidate. Called in the child."""
        try:
            request = wire.decode(child.read_frame(order_pipe))
            frames = [child.read_frame(order_pipe) for _ in request["programs"]]
        except EOFError:  # dismissed, or the zygote is gone
            return
        assert self._decoding is not None
        programs = [child.Program.from_message(frame) for frame in frames]
        order = child.Order(
            request["budget"],
            request["unit"],
            tuple(request["seed"]),
            tuple(request["scales"]),
            request["is_preparation"],
        )
        self._seal.close(answer, order_pipe, cpu_s=_deadlines(request, self._seal).cpu_s)
        child.carry_out(order, programs, self._decoding.make_decoder)

    def _is_cancelled(self) -> bool:
        try:
            return bool(self._channel.receive()["op"] == "cancel")
        except Hangup:
            self._hung_up = True
            return True


def _deadlines(request: Message, seal: Seal) -> Deadlines:
    load_s, run_s, total_s = request["deadlines"]
    cpu_s = seal.limits.cpu_s
    if cpu_s is None or request["is_preparation"]:
        cpu_s = total_s + 1.0  # the wall clock comes first
    return Deadlines(
        load_s, run_s, total_s, cpu_s, request["run_cpu_s"], excludes_compiler=request["is_preparation"]
    )


class Decoding:
    """A domain's decoder, without the domain: a worker knows no instances, references or generators.

    `smoke` is the environment of the domain's smoke instance, on which decoders are compiled.
    """

    def __init__(self, make_decoder: MakeDecoder, smoke: bytes) -> None:
        self.make_decoder = make_decoder
        self._environment = wire.decode(smoke)
        self._decoder = make_decoder(self._environment)
        warm_decoder(self._environment, self._decoder)

    def rehearse(self) -> None:
        """Run a trivial evaluation."""
        child.rehearse(self._environment, self._decoder)


def warm_decoder(environment: Mapping[str, Any], decoder: Decoder) -> None:
    """Make `decoder` compile, or load, its machine code here instead of in every child.

    It is called with sequences of every length that the environment's numbers and shapes suggest, since
    decoders refuse a wrong length before they reach compiled code.
    """
    lengths = {0}
    for value in environment.values():
        lengths.update(value.shape if isinstance(value, np.ndarray) else ())
        lengths.update([value] if isinstance(value, int) else ())
    for length in sorted(lengths):
        if 0 <= length <= _LONGEST_SEQUENCE:
            decoder(State(np.arange(length, dtype=np.int32)))
            decoder(State(np.zeros(length, dtype=np.int32)))


def _prepare_seal(configuration: Message) -> tuple[Seal, dict[str, str]]:
    """Return the seal with every layer that is wanted and possible, and why the others are missing."""
    missing = dict(configuration["missing"])
    baseline_bytes, baseline_tasks = rlimits.baseline_bytes(), rlimits.baseline_tasks()
    ruleset = -1
    if configuration["mode"] == "off":
        missing.update((layer, "switched off") for layer in LAYERS if layer not in ALWAYS)
    elif sys.platform == "linux":
        for layer, needed in NEEDS.items():
            if needed in missing:
                missing.setdefault(layer, f"needs the layer {needed}")
        paths = file_tree.interpreter_paths()
        try:
            if "empty_root" not in missing:
                file_tree.hide_host(paths)
        except OSError as error:
            missing["empty_root"] = error.strerror or str(error)
        try:
            ruleset = landlock.ruleset(paths)
        except OSError as error:
            missing.setdefault("landlock", error.strerror or str(error))
    seal = Seal(
        limits=EvaluationLimits(**configuration["limits"]),
        layers=frozenset(LAYERS) - missing.keys(),
        landlock_ruleset=ruleset,
        seccomp_filter=configuration.get("filter", b""),
        baseline_bytes=baseline_bytes,
        baseline_tasks=baseline_tasks,
    )
    return seal, missing


def start(channel: Channel, refusal: str | None) -> Zygote:
    """Set up the zygote that the first message of `channel` describes, and report its sandbox to the parent.

    `refusal` is the reason why there are no namespaces, ``None`` if there are.
    """
    configuration = channel.receive()
    if refusal is not None:
        configuration["missing"].setdefault("namespaces", refusal)
    numba_cache.cache_implementations()
    child.seed_compiled_code(0)  # brings numba's compiler and runtime into memory
    make_decoder = load_make_decoder(configuration["decoder"])
    decoding = None if make_decoder is None else Decoding(make_decoder, configuration["smoke"])
    seal, missing = _prepare_seal(configuration)
    gc.collect()
    gc.freeze()
    sandbox_status = configuration["sandbox_status"] or self_test(seal, missing)
    kill_descendants()
    closed = frozenset(layer for layer, state in sandbox_status.items() if state == ACTIVE)
    for layer in sorted(closed & missing.keys()):
        raise OSError(f"the layer {layer} works in other workers, but not in this one: {missing[layer]}")
    channel.send(op="ready", sandbox_status=sandbox_status, platform=numba_cache.platform())
    return Zygote(channel, replace(seal, layers=closed), decoding)
