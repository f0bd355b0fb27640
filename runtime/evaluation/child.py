"""What happens inside a sealed child: import the candidate, run it, write one answer, end.

Nothing here is trusted once the candidate's code has run: the answer is bytes that the parent checks.

The answer pipe carries marks of one byte (:data:`SEALED`, …) and after :data:`ANSWER` one message.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any, Literal

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.execution import Execution, Run, execute
from dga2d.runtime.evaluation import diagnostics, numba_cache, wire
from dga2d.runtime.evaluation.sandbox.seal import ANSWER_FD
from dga2d.runtime.evaluation.warm_up import seed_compiled_code

SEALED, STARTED, COMPILING, COMPILED, ANSWER = b"R", b"S", b"C", b"c", b"A"
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Program:
    """One position of a pipeline as the child gets it."""

    operator: str
    path: str
    """File of the text: names it in tracebacks and places numba's cache; never read here."""
    source: str
    scale: float
    """What a work unit that it charges counts."""
    code: CodeType | None
    """Compiled text, where the zygote has it from an earlier evaluation."""


@dataclass(frozen=True)
class Job:
    """One evaluation."""

    programs: tuple[Program, ...]
    budget: float
    unit: Literal["s", "work"]
    seed: tuple[int, ...]
    is_preparation: bool


class _InvalidAnswerError(Exception):
    """The candidate returned something that is no state of this encoding."""


def run_job(job: Job, environment: Mapping[str, Any], decoder: Decoder) -> None:
    """Run `job` and write the answer to :data:`ANSWER_FD`. Call in a sealed child only."""
    _write(SEALED)
    last_words = _failure("out_of_memory", "the memory limit was exceeded")
    try:
        answer = _answer(job, environment, decoder)
    except MemoryError:
        answer = last_words
    _write(ANSWER + answer)


def rehearse(environment: Mapping[str, Any], decoder: Decoder) -> None:
    """Go through the motions of a job: a waiting process then has its own copy of the memory they touch."""
    rng = seeded_generator((0,))
    budget = Budget(1, "work", 1)
    execution = execute([lambda env_data, state, score: state], environment, decoder, budget, rng)
    _solution(execution, budget.work)


def _answer(job: Job, environment: Mapping[str, Any], decoder: Decoder) -> bytes:
    sources = {program.path: program.source for program in job.programs}
    numba_cache.guard(fills_own_cache=job.is_preparation)
    compiler = numba_cache.CompilerClock(lambda begins: _write(COMPILING if begins else COMPILED))
    compiler.watch()
    if job.is_preparation and not numba_cache.has_machine_code(job.programs[-1].path):
        numba_cache.shorten_slice_errors()
    clock = compiler.time_without_compiler if job.is_preparation else time.perf_counter
    runs: list[Run] = []
    is_loading = True
    try:
        rng = seeded_generator(job.seed)
        for index, program in enumerate(job.programs):
            runs.append(_checked(_load(program), index))
        is_loading = False
        _write(STARTED)
        scales = [program.scale for program in job.programs]
        budget = Budget(job.budget, job.unit, len(runs), clock, scales)
        execution = execute(runs, environment, decoder, budget, rng)
        return _solution(execution, budget.work)
    except _InvalidAnswerError as error:
        return _failure("infeasible", str(error))
    except BaseException as error:
        place = _place(job.programs, len(runs) if is_loading else _position(error, sources, job), is_loading)
        kind = diagnostics.kind_of(error, is_loading)
        return _failure(kind, diagnostics.describe(error, sources, place))


def _load(program: Program) -> Run:
    code = program.code or compile(program.source, program.path, "exec", dont_inherit=True)
    name = os.path.splitext(os.path.basename(program.path))[0]
    module = ModuleType(name)
    module.__file__ = program.path
    sys.modules[name] = module
    exec(code, module.__dict__)
    run: Run | None = getattr(module, "run", None)
    if run is None or not callable(run):
        raise ImportError("the module defines no function run(env_data, state, calc_makespan_fn)")
    return run


def _checked(run: Run, index: int) -> Run:
    """`run`, with its result brought into the form of the encoding."""

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


def seeded_generator(seed: Sequence[int]) -> np.random.Generator:
    """The operators' stream; the global generators, which candidates may use by mistake, follow from it."""
    sequence = np.random.SeedSequence(seed[0], spawn_key=tuple(seed[1:]))
    (word,) = np.random.SeedSequence(seed[0], spawn_key=(*seed[1:], 1)).generate_state(1)
    random.seed(int(word))
    np.random.seed(int(word))
    seed_compiled_code(int(word))
    return np.random.Generator(np.random.Philox(sequence))


def _position(error: BaseException, sources: Mapping[str, str], job: Job) -> int:
    """Index of the position whose lines the traceback enters first."""
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path in sources:
            return next(i for i, program in enumerate(job.programs) if program.path == path)
        trace = trace.tb_next
    return 0


def _place(programs: Sequence[Program], index: int, is_loading: bool) -> str:
    verb = "importing" if is_loading else "running"
    return f"{verb} position {index + 1} ({programs[index].operator})"


def _solution(execution: Execution, work: int) -> bytes:
    return wire.encode(
        {
            "kind": "solution",
            "sequence": execution.state.sequence,
            "metadata": wire.encode(_plain_metadata(execution.state.metadata)),
            "trace": execution.trace,
            "work": work,
        }
    )


def _plain_metadata(metadata: Mapping[Any, Any]) -> dict[str, Any]:
    """Arrays and plain scalars; other values are an operator's scratch data, no part of the solution."""
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
