"""What happens inside a sealed child: import the candidate, receive the instance, run, write one answer, end.

Nothing here is trusted once the candidate's code has run: the answer is bytes that the parent checks.

The answer pipe carries marks of one byte (:data:`SEALED`, …) and after :data:`ANSWER` one message. The
instance comes through the order pipe when the zygote has read :data:`STARTED`: no candidate's code meets it
earlier.
"""

from __future__ import annotations

import gc
import linecache
import marshal
import os
import random
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any, Literal

import numba
import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.oracle import Ask
from dga2d.domains.execution import Execution, Run, execute
from dga2d.runtime.evaluation import diagnostics, numba_cache, wire
from dga2d.runtime.evaluation.compiled_code import BYTECODE, bytecode_name
from dga2d.runtime.evaluation.sandbox import rlimits
from dga2d.runtime.evaluation.sandbox.seal import ANSWER_FD, ORDER_FD

SEALED, STARTED, COMPILING, COMPILED, ANSWER = b"R", b"S", b"C", b"c", b"A"
MakeDecoder = Callable[[Mapping[str, Any]], Decoder]
_TRIVIAL = "def run(env_data, state, calc_makespan_fn):\n    return state\n"
_FOLDER = "/dga2d"
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class PipelinePosition:
    """One position of a pipeline as the child gets it."""

    operator: str
    path: str
    """Names the text in tracebacks and the place of its machine code; there is no such file, and texts that
    share machine code share it."""
    source: str
    compiled: dict[str, bytes] = field(default_factory=dict)
    """What an earlier preparation compiled: byte code of this text or one that differs in constants, and
    numba's files, which both share."""

    @classmethod
    def from_message(cls, data: bytes) -> PipelinePosition:
        """Return what the parent packed as `data`."""
        fields = wire.decode(data)
        compiled = wire.decode(fields["compiled"]) if "compiled" in fields else {}
        return cls(fields["operator"], fields["path"], fields["source"], compiled)


@dataclass(frozen=True)
class Order:
    """What a child is to do."""

    n_programs: int
    budget: float
    unit: Literal["s", "work"]
    seed: tuple[int, ...]
    scales: tuple[float, ...]
    """What a work unit counts, by position."""
    call_costs: tuple[float, ...]
    """Units that a call counts besides, by position; empty: none."""
    shares: tuple[float, ...]
    """Parts of the budget, by position; empty: equal."""
    is_preparation: bool
    """Whether it may compile outside its budget, and hands back what it compiled of its last position."""
    cpu_s: float
    """Processor time, which the child limits itself where the zygote cannot."""

    @classmethod
    def from_message(cls, data: bytes) -> Order:
        """Return the order that :meth:`message` packed as `data`."""
        fields = wire.decode(data)
        rows = ("seed", "scales", "call_costs", "shares")
        return cls(**{**fields, **{name: tuple(fields[name]) for name in rows}})

    def message(self) -> bytes:
        """Return the order as its child is sent it."""
        return wire.encode(vars(self))


class _InvalidAnswerError(Exception):
    """The candidate returned something that is no state of this encoding."""


class Rehearsal:
    """A trivial evaluation that a child runs while it waits, so as to own what it will write to.

    Until a process writes to a page of its memory it shares it with its zygote; the kernel copies pages one
    by one, which takes most of the time of a short evaluation.
    """

    def __init__(self, environment: Mapping[str, Any]) -> None:
        position = PipelinePosition("rehearsal", f"{_FOLDER}/rehearsal.py", _TRIVIAL)
        _code(position)
        self._program = wire.encode({**vars(position), "compiled": wire.encode(position.compiled)})
        self._order = Order(1, 1, "work", (0,), (), (), (), False, 1.0).message()
        self._environment = environment

    def run(self, make_decoder: MakeDecoder) -> None:
        """Evaluate the trivial program on the environment and forget the answer."""
        order, pipeline = Order.from_message(self._order), [PipelinePosition.from_message(self._program)]
        evaluate(order, pipeline, time.perf_counter, lambda: wire.encode(self._environment), make_decoder)


def serve(make_decoder: MakeDecoder, rehearsal: Rehearsal | None, ask: Ask | None) -> None:
    """Carry out one order and write the answer to :data:`ANSWER_FD`; `ask` is the domain's oracle, if it has
    one.

    Call in a sealed child only.
    """
    if rehearsal is not None and not select.select([ORDER_FD], [], [], 0)[0]:
        rehearsal.run(make_decoder)
    try:
        order = Order.from_message(_read_frame())
        pipeline = [PipelinePosition.from_message(_read_frame()) for _ in range(order.n_programs)]
    except EOFError:  # dismissed, or the zygote is gone
        return
    if sys.platform != "linux":
        rlimits.limit_cpu(order.cpu_s)
    gc.freeze()
    gc.enable()
    _write(SEALED)
    last_words = _failure("out_of_memory", "the memory limit was exceeded")
    try:
        clock = _compile_in_memory(order, pipeline)
        answer = evaluate(order, pipeline, clock, _receive_instance, make_decoder, ask)
    except MemoryError:
        answer = last_words
    _write(ANSWER + answer)


def _receive_instance() -> bytes:
    _write(STARTED)
    return _read_frame()


def evaluate(
    order: Order,
    pipeline: Sequence[PipelinePosition],
    clock: Callable[[], float],
    receive_instance: Callable[[], bytes],
    make_decoder: MakeDecoder,
    ask: Ask | None = None,
) -> bytes:
    """Import a pipeline, receive the encoded environment, run it, and return the encoded answer."""
    sources = {position.path: position.source for position in pipeline}
    loaded: dict[str, Run] = {}
    runs: list[Run] = []
    is_loading = True
    try:
        rng = seeded_generator(order.seed)
        for index, position in enumerate(pipeline):
            if position.source not in loaded:  # an implementation that comes twice is imported once
                loaded[position.source] = _load(position)
            runs.append(_check_result(loaded[position.source], index))
        is_loading = False
        environment = wire.decode(receive_instance())
        decoder = make_decoder(environment)
        budget = Budget(
            order.budget, order.unit, len(runs), clock, order.scales, order.shares, order.call_costs
        )
        execution = execute(runs, environment, decoder, budget, rng, ask, clock)
        return _solution(execution, budget.work, pipeline[-1].compiled if order.is_preparation else {})
    except _InvalidAnswerError as error:
        return _failure("infeasible", str(error))
    except BaseException as error:
        index = len(runs) if is_loading else _position(error, pipeline)
        kind = diagnostics.kind_of(error, is_loading)
        return _failure(kind, diagnostics.describe(error, sources, _place(pipeline, index, is_loading)))


def _compile_in_memory(order: Order, pipeline: Sequence[PipelinePosition]) -> Callable[[], float]:
    """Let numba keep machine code in memory; return the clock of budget and positions.

    In a preparation, and where the budget is work and the clock only tells what positions took, it is that of
    the processor, which does not go on while others have it, and stands still while the compiler works.
    """
    for position in pipeline:
        numba_cache.keep(position.path, position.compiled)
        lines = position.source.splitlines(keepends=True)  # which numba and tracebacks quote
        linecache.cache[position.path] = (len(position.source), None, lines, position.path)
    if order.is_preparation and not pipeline[-1].compiled:
        numba_cache.shorten_slice_errors()
    compiler = numba_cache.CompilerClock(lambda begins: _write(COMPILING if begins else COMPILED))
    compiler.watch()
    is_still = order.is_preparation or order.unit == "work"
    return compiler.time_without_compiler if is_still else time.perf_counter


def _load(position: PipelinePosition) -> Run:
    name = os.path.splitext(os.path.basename(position.path))[0]
    module = ModuleType(name)
    module.__file__ = position.path
    sys.modules[name] = module
    exec(_code(position), module.__dict__)
    numba_cache.load_entries(position.path, module.__dict__)
    run: Run | None = getattr(module, "run", None)
    if run is None or not callable(run):
        raise ImportError("the module defines no function run(env_data, state, calc_makespan_fn)")
    return run


def _code(position: PipelinePosition) -> CodeType:
    name = bytecode_name(position.source)
    known = position.compiled.get(name)
    if known is not None:
        code: CodeType = marshal.loads(known)
        return code
    for other in [key for key in position.compiled if key.startswith(BYTECODE)]:
        del position.compiled[other]  # of the same text with other constants
    code = compile(position.source, position.path, "exec", dont_inherit=True)
    position.compiled[name] = marshal.dumps(code)
    return code


def _read_frame() -> bytes:
    """Read one message from :data:`ORDER_FD` and return it as it was encoded.

    Raises
    ------
    EOFError
        The pipe ended before it.
    """
    prefix = _read(wire.PREFIX.size)
    return prefix + _read(sum(wire.PREFIX.unpack(prefix)))


def _read(size: int) -> bytes:
    chunks = []
    while size:
        chunk = os.read(ORDER_FD, min(size, 1 << 20))
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        size -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _check_result(run: Run, index: int) -> Run:
    """Return `run` with its result checked and brought into the form of the encoding."""

    def checked(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        result = run(env_data, state, calc_makespan_fn)
        if not isinstance(result, State):
            raise _InvalidAnswerError(
                f"position {index + 1} returned {_type_name(result)}, expected the state it was given"
            )
        result.sequence = _as_sequence(result.sequence, index)
        if not isinstance(result.metadata, dict):
            raise _InvalidAnswerError(f"position {index + 1}: state.metadata is no dict")
        return result

    return checked


def _as_sequence(value: object, index: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    where = f"position {index + 1}: state.sequence"
    if not isinstance(value, np.ndarray):
        raise _InvalidAnswerError(f"{where} is {_type_name(value)}, expected an int32 array")
    if value.ndim != 1 or value.dtype.kind not in "iu":
        raise _InvalidAnswerError(
            f"{where} is an array of {value.dtype} of shape {value.shape}, expected int32 of one dimension"
        )
    if value.dtype != np.int32 and value.size and not _INT32.min <= value.min() <= value.max() <= _INT32.max:
        raise _InvalidAnswerError(f"{where} holds numbers beyond int32")
    return np.ascontiguousarray(value, dtype=np.int32)


def _type_name(value: object) -> str:
    return f"a value of type {type(value).__name__[:80]}"


@numba.njit(cache=True)
def _seed_generators(word: Any) -> None:  # pragma: no cover - compiled
    np.random.seed(word)
    random.seed(word)


def seed_compiled_code(word: int) -> None:
    """Seed the generators that ``np.random`` and ``random`` use inside compiled code (0 ≤ `word` < 2³²)."""
    _seed_generators(np.uint32(word))


def seeded_generator(seed: Sequence[int]) -> np.random.Generator:
    """Return the operators' random stream.

    It also seeds the global generators, which candidates may use by mistake.
    """
    sequence = np.random.SeedSequence(seed[0], spawn_key=tuple(seed[1:]))
    (word,) = np.random.SeedSequence(seed[0], spawn_key=(*seed[1:], 1)).generate_state(1)
    random.seed(int(word))
    np.random.seed(int(word))
    seed_compiled_code(int(word))
    return np.random.Generator(np.random.Philox(sequence))


def _position(error: BaseException, pipeline: Sequence[PipelinePosition]) -> int:
    """Return the index of the position whose lines the traceback enters first."""
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        for index, position in enumerate(pipeline):
            if position.path == path:
                return index
        trace = trace.tb_next
    return 0


def _place(pipeline: Sequence[PipelinePosition], index: int, is_loading: bool) -> str:
    verb = "importing" if is_loading else "running"
    return f"{verb} position {index + 1} ({pipeline[index].operator})"


def _solution(execution: Execution, work: int, compiled: Mapping[str, bytes]) -> bytes:
    fields = {
        "kind": "solution",
        "sequence": execution.state.sequence,
        "metadata": wire.encode(_plain_metadata(execution.state.metadata)),
        "trace": execution.trace,
        "work": work,
    }
    return wire.encode({**fields, "compiled": wire.encode(compiled)} if compiled else fields)


def _plain_metadata(metadata: Mapping[Any, Any]) -> dict[str, Any]:
    """Return arrays and plain scalars; other values are an operator's scratch data."""
    return {
        key: value
        for key, value in metadata.items()
        if isinstance(key, str)
        and (
            (isinstance(value, np.ndarray) and value.dtype.str in wire.DTYPES)
            or isinstance(value, (bool, int, float, str, np.generic))
        )
    }


def _failure(kind: str, diagnostic: str) -> bytes:
    return wire.encode({"kind": "failure", "failure": kind, "diagnostic": diagnostic})


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(ANSWER_FD, view) :]
