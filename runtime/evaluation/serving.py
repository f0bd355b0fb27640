"""What a zygote does: configure itself, then fork, feed and watch one child per request."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Decoder, State
from dga2d.runtime.evaluation import child, memory_image, numba_cache, wire
from dga2d.runtime.evaluation.child import MakeDecoder, Order, Rehearsal
from dga2d.runtime.evaluation.decoders import load_make_decoder, load_make_oracle
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.off_heap import OffHeapFile
from dga2d.runtime.evaluation.oracle_process import MakeOracle, OracleClient, OracleProcess
from dga2d.runtime.evaluation.sandbox import file_tree, landlock, rlimits
from dga2d.runtime.evaluation.sandbox.probe import ACTIVE, self_test
from dga2d.runtime.evaluation.sandbox.seal import ALWAYS, LAYERS, NEEDS, Seal
from dga2d.runtime.evaluation.sandbox.seccomp import Filter
from dga2d.runtime.evaluation.supervise import Child, Deadlines, kill_descendants
from dga2d.runtime.evaluation.wire import Message

_LONGEST_SEQUENCE = 1 << 20
_SPARES = 2
"""Children that wait: while one works, the next has time to get ready."""
_FOLDERS_NAMED = ("HOME", "XDG_CACHE_HOME", "PYTHONPATH")
"""Variables that tell a zygote of the user's folders, and a candidate nothing."""


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


_ORDER = ("budget", "unit", "seed", "scales", "call_costs", "shares", "is_preparation")
"""Fields of a request that its child gets as they are."""


class Zygote:
    """Serves one request after another; what it passes on to children never enters its memory."""

    def __init__(self, channel: Channel, seal: Seal, decoding: Decoding | None) -> None:
        self._channel = channel
        self._seal = seal
        self._decoding = decoding
        self._files: dict[str, OffHeapFile] = {}
        """Programs and instances under the parent's numbers for them."""
        self._answer = OffHeapFile()
        self._record = OffHeapFile()
        self._oracle: OracleProcess | None = None
        self._hung_up = False
        self._leaves_nothing = "seccomp" in seal.layers and seal.limits.processes == 0
        """Whether no candidate can start a process: only then may one of ours wait beside it."""
        self._spares: deque[Child] = deque()
        """Forked ahead of the next requests, oldest first."""

    def serve(self) -> None:
        """Serve requests until the parent hangs up."""
        while not self._hung_up:
            request = self._channel.receive()
            if request["op"] == "evaluate":
                self._evaluate(request)

    def _evaluate(self, request: Message) -> None:
        self._keep_files(request)
        deadlines = _deadlines(request, self._seal)
        commanded = self._commanded_child(request, deadlines)
        try:
            ending = commanded.see_end(
                deadlines,
                request["answer_bytes"],
                [self._files[name] for name in request["programs"]],
                self._files[request["world"]],
                self._answer,
                self._is_cancelled,
                self._channel.reader,
                partial(self._start_oracle, request["oracle"], commanded, deadlines),
            )
            self._end_oracle()
            sizes = {"record_bytes": self._record.size}
            self._channel.send(op="ended", id=request["id"], **vars(ending), **sizes)
            self._channel.send_file(self._answer, ending.answer_bytes)
            self._channel.send_file(self._record, self._record.size)
            self._answer.clear()
            self._record.clear()
            if self._leaves_nothing:  # before the burial: the kernel takes the dead apart meanwhile
                while len(self._spares) < _SPARES:
                    self._spares.append(self._fork(is_ahead=True))
        finally:
            self._end_oracle()
            commanded.bury(with_descendants=not self._leaves_nothing)

    def _start_oracle(self, name: str | None, commanded: Child, deadlines: Deadlines) -> None:
        """Fork the oracle of the instance called `name`, now that the candidate is there to ask it."""
        assert self._decoding is not None
        if name is None or self._decoding.make_oracle is None or commanded.questions is None:
            return
        self._oracle = OracleProcess.fork(
            self._decoding.make_oracle,
            self._files[name],
            commanded.questions,
            self._seal,
            deadlines.total_s + 1.0,
        )
        commanded.questions.close()  # it has the only one: the candidate sees when it is gone

    def _end_oracle(self) -> None:
        if self._oracle is not None:
            self._oracle.finish(self._record)
            self._oracle = None

    def _keep_files(self, request: Message) -> None:
        for name in request["forget"]:
            self._files.pop(name).close()
        for name, size in request["new"]:
            self._files[name] = OffHeapFile()
            if not self._files[name].fill(self._channel.reader, size):
                raise Hangup

    # ---------------------------------------------------------------- children

    def _commanded_child(self, request: Message, deadlines: Deadlines) -> Child:
        """Return a child at work on `request`: the one that waits, or a new one."""
        fields = {name: request[name] for name in _ORDER}
        order = Order(n_programs=len(request["programs"]), cpu_s=deadlines.cpu_s, **fields).message()
        while self._spares:
            waiting = self._spares.popleft()
            with suppress(BrokenPipeError, ProcessLookupError):
                waiting.command(order, deadlines.cpu_s)
                return waiting
            waiting.bury(with_descendants=False)  # it died, of a lack of memory say
        forked = self._fork(is_ahead=False)
        with suppress(BrokenPipeError, ProcessLookupError):  # its death will be seen
            forked.command(order, deadlines.cpu_s)
        return forked

    def _fork(self, is_ahead: bool) -> Child:
        """Fork a child that waits for its order; one that is forked ahead has time to rehearse."""
        assert self._decoding is not None
        rehearsal = self._decoding.rehearsal if is_ahead else None
        asks = self._decoding.make_oracle is not None
        return Child.fork(partial(self._carry_out, rehearsal), asks)

    def _carry_out(self, rehearsal: Rehearsal | None, order: int, answer: int, questions: int | None) -> None:
        """Seal the process and run the candidate. Called in the child."""
        assert self._decoding is not None
        self._seal.close(answer, order, questions)
        ask = None if questions is None else OracleClient()
        child.serve(self._decoding.make_decoder, rehearsal, ask)

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
    """A domain's decoder and oracle, without the domain: a worker knows no instances, references or
    generators.

    `smoke` is the environment of the domain's smoke instance, on which decoders are compiled; `smoke_oracle`
    is what the oracle of that instance is made of, empty where there is none.
    """

    def __init__(
        self, make_decoder: MakeDecoder, smoke: bytes, make_oracle: MakeOracle | None, smoke_oracle: bytes
    ) -> None:
        self.make_decoder = make_decoder
        self.make_oracle = make_oracle
        if make_oracle is not None:
            make_oracle(wire.decode(smoke_oracle))
        environment = wire.decode(smoke)
        self.rehearsal = Rehearsal(environment)
        warm_decoder(environment, make_decoder(environment))


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
    limits = EvaluationLimits(**configuration["limits"])
    resource_limits = rlimits.limits_of_child(limits)
    program = configuration.get("filter", b"")
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
        limits=limits,
        layers=frozenset(LAYERS) - missing.keys(),
        landlock_ruleset=ruleset,
        seccomp_filter=Filter(program) if program else None,
        resource_limits=resource_limits,
    )
    return seal, missing


def start(channel: Channel, refusal: str | None) -> Zygote:
    """Set up the zygote that the first message of `channel` describes, and report its sandbox to the parent.

    `refusal` is the reason why there are no namespaces, ``None`` if there are.
    """
    numba_cache.cache_implementations()
    child.seed_compiled_code(0)  # brings numba's types and runtime into memory
    configuration = channel.receive()
    if refusal is not None:
        configuration["missing"].setdefault("namespaces", refusal)
    make_decoder = load_make_decoder(configuration["decoder"])
    make_oracle = load_make_oracle(configuration["decoder"])
    decoding = None
    if make_decoder is not None:
        smoke = configuration["smoke"], make_oracle, configuration["smoke_oracle"]
        decoding = Decoding(make_decoder, *smoke)
    numba_cache.use_memory()
    numba_cache.link_late()
    for name in _FOLDERS_NAMED:
        os.environ.pop(name, None)
    memory_image.settle()
    seal, missing = _prepare_seal(configuration)
    sandbox_status = configuration["sandbox_status"] or self_test(seal, missing)
    kill_descendants()
    closed = frozenset(layer for layer, state in sandbox_status.items() if state == ACTIVE)
    for layer in sorted(closed & missing.keys()):
        raise OSError(f"the layer {layer} works in other workers, but not in this one: {missing[layer]}")
    seal = replace(seal, layers=closed)
    seal.close_worker()
    channel.send(op="ready", sandbox_status=sandbox_status, platform=numba_cache.platform())
    return Zygote(channel, seal, decoding)
