from __future__ import annotations

import ast
import inspect
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dga2d.domains.contract import Instance, State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.ossp import DOMAIN, verifier
from dga2d.domains.ossp.card import INVALID_SCORE

Make = Callable[..., Instance]
Sequences = Callable[[Instance, int], NDArray[np.int32]]
Plain = Callable[[Instance, Any], float]

SIZES = st.tuples(st.integers(1, 7), st.integers(1, 6))
SEEDS = st.integers(0, 2**32 - 1)
FIXTURES_ARE_PURE = [HealthCheck.function_scoped_fixture]


@settings(max_examples=1000, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
@given(size=SIZES, seed=SEEDS)
def test_decoder_plain_decoder_and_verifier_agree_on_valid_sequences(
    make_instance: Make, random_sequence: Sequences, plain_makespan: Plain, size: tuple[int, int], seed: int
) -> None:
    instance = make_instance(*size, seed, low=0)
    state = State(random_sequence(instance, seed))
    expected = plain_makespan(instance, state.sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    verdict = DOMAIN.verify(instance, state)
    assert verdict.is_feasible
    assert verdict.objective == expected


@settings(max_examples=1000, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
@given(size=SIZES, seed=SEEDS, data=st.data())
def test_all_three_agree_on_mutated_sequences(
    make_instance: Make,
    random_sequence: Sequences,
    plain_makespan: Plain,
    size: tuple[int, int],
    seed: int,
    data: st.DataObject,
) -> None:
    instance = make_instance(*size, seed)
    sequence = random_sequence(instance, seed)
    where = data.draw(st.integers(0, sequence.size - 1))
    sequence[where] = data.draw(st.one_of(st.integers(-2, 45), st.integers(-(2**31), 2**31 - 1)))
    expected = plain_makespan(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(State(sequence)) == expected
    verdict = DOMAIN.verify(instance, State(sequence))
    assert verdict.is_feasible is (expected != INVALID_SCORE)
    assert verdict.objective == (None if expected == INVALID_SCORE else expected)


@settings(max_examples=200, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
@given(seed=SEEDS)
def test_a_decoder_used_again_and_again_agrees_with_the_plain_one(
    make_instance: Make, random_sequence: Sequences, plain_makespan: Plain, seed: int
) -> None:
    """Ten sequences through one decoder, every third of them broken: nothing is left over from a call."""
    instance = make_instance(6, 5, seed)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    for k in range(10):
        sequence = random_sequence(instance, seed + k)
        if k % 3 == 1:
            sequence[k] = (sequence[k] + 1) % 30
        assert decode(State(sequence)) == plain_makespan(instance, sequence)


def test_decoding_allocates_no_arrays(random_sequence: Sequences) -> None:
    """A work array of all operations alone would be 3200 bytes."""
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "ta20x20_1os"))
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    state = State(random_sequence(instance, 0))
    decode(state)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        decode(state)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 500


def test_a_schedule_made_by_hand() -> None:
    """Operations 0 3 2 1 of [[3, 2], [4, 1]]: 0..3 on machine 0, 0..1 on 1, then 3..7 on 0 and 3..5 on 1."""
    instance = Instance("ossp", "hand", "two", {"times": np.array([[3, 2], [4, 1]], np.int32)})
    state = State(np.array([0, 3, 2, 1], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 7.0
    assert DOMAIN.verify(instance, state).objective == 7.0
    assert DOMAIN.write_solution(instance, state).splitlines()[2:] == ["2 2 7", "0 3", "3 0"]


def test_the_bounds_of_the_environment_by_hand() -> None:
    """Rows 5, 5 and columns 7, 3 of [[3, 2], [4, 1]]; 5 + 7 - 3 is the largest row + column - entry."""
    instance = Instance("ossp", "hand", "two", {"times": np.array([[3, 2], [4, 1]], np.int32)})
    environment = DOMAIN.environment(instance)
    assert (environment["lower_bound"], environment["upper_bound"]) == (7, 9)


IDENTITY = np.arange(16, dtype=np.int32)
BROKEN: dict[str, Any] = {
    "none": None,
    "a list": list(range(16)),
    "text": "0" * 16,
    "floats": IDENTITY.astype(float),
    "booleans": np.zeros(16, bool),
    "objects": IDENTITY.astype(object),
    "empty": np.empty(0, np.int32),
    "too short": IDENTITY[:-1],
    "too long": np.arange(17, dtype=np.int32),
    "an operation twice": np.append(IDENTITY[:-1], np.int32(3)),
    "two-dimensional": IDENTITY.reshape(4, 4),
    "wraps around in 32 bits": IDENTITY.astype(np.int64) + 2**32,
    "huge unsigned": np.full(16, 2**64 - 1, np.uint64),
    "a masked array": np.ma.masked_array(IDENTITY),
}


@pytest.mark.parametrize("sequence", BROKEN.values(), ids=BROKEN.keys())
def test_garbage_is_a_violation_and_scores_invalid(sequence: Any) -> None:
    instance = DOMAIN.smoke_instance()
    state = State(sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == INVALID_SCORE
    verdict = DOMAIN.verify(instance, state)
    assert not verdict.is_feasible
    assert verdict.objective is None
    with pytest.raises(InvalidSolutionError):
        DOMAIN.write_solution(instance, state)


def test_verify_does_not_raise_on_something_that_is_no_state() -> None:
    assert not DOMAIN.verify(DOMAIN.smoke_instance(), object()).is_feasible  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint64", ">i4"])
def test_other_integer_arrays_are_decoded(
    dtype: str, random_sequence: Sequences, plain_makespan: Plain
) -> None:
    instance = DOMAIN.smoke_instance()
    sequence = random_sequence(instance, 3)
    state = State(sequence.astype(dtype))
    expected = plain_makespan(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    assert DOMAIN.verify(instance, state).objective == expected


def test_strided_and_read_only_arrays_are_decoded(random_sequence: Sequences, plain_makespan: Plain) -> None:
    instance = DOMAIN.smoke_instance()
    sequence = random_sequence(instance, 4)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    strided = np.repeat(sequence, 2)[::2]
    frozen = sequence.copy()
    frozen.setflags(write=False)
    assert decode(State(strided)) == decode(State(frozen)) == plain_makespan(instance, sequence)


def test_scribbling_on_the_environment_changes_neither_scores_nor_the_instance(
    random_sequence: Sequences,
) -> None:
    instance = DOMAIN.smoke_instance()
    environment = DOMAIN.environment(instance)
    decode = DOMAIN.decoder(environment)
    state = State(random_sequence(instance, 5))
    before = decode(state)
    environment["ossp_times"][:] = 0
    assert decode(state) == before == DOMAIN.verify(instance, state).objective


@settings(max_examples=300, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
@given(size=st.tuples(st.integers(2, 6), st.integers(2, 5)), seed=SEEDS, data=st.data())
def test_a_schedule_with_one_start_moved_earlier_is_caught(
    make_instance: Make, random_sequence: Sequences, size: tuple[int, int], seed: int, data: st.DataObject
) -> None:
    """In a semi-active schedule no operation can start earlier on its own: each such change breaks a rule."""
    instance = make_instance(*size, seed)
    times = instance.data["times"]
    starts = verifier.schedule(times, random_sequence(instance, seed))
    assert verifier.schedule_violation(times, starts) is None
    job, k = data.draw(st.integers(0, size[0] - 1)), data.draw(st.integers(0, size[1] - 1))
    starts[job, k] -= 1
    assert verifier.schedule_violation(times, starts) is not None


def test_the_verifier_names_what_is_broken() -> None:
    times = np.array([[3, 2], [4, 1]], np.int32)
    check = verifier.schedule_violation
    assert check(times, np.array([[0, 3], [3, 0]])) is None
    assert check(times, np.array([[-1, 3], [3, 0]])) == "an operation starts before time 0"
    assert check(times, np.array([[0, 2], [3, 0]])) == "operations of machines 0 and 1 overlap on job 0"
    assert check(times, np.array([[0, 3], [2, 0]])) == "operations of jobs 0 and 1 overlap on machine 0"
    assert check(times, np.array([[0, 3]])) == "start times have shape (1, 2), expected (2, 2)"


def test_the_verifier_does_not_import_the_decoder() -> None:
    imported = {
        node.module
        for node in ast.walk(ast.parse(inspect.getsource(verifier)))
        if isinstance(node, ast.ImportFrom)
    }
    assert not any(module and ("decoder" in module or "numba" in module) for module in imported)


def test_the_written_schedule_can_be_read_back(random_sequence: Sequences) -> None:
    instance = DOMAIN.smoke_instance()
    state = State(random_sequence(instance, 6))
    lines = [line for line in DOMAIN.write_solution(instance, state).splitlines() if not line.startswith("#")]
    n_jobs, n_machines, makespan = map(int, lines[0].split())
    starts = np.array([list(map(int, line.split())) for line in lines[1:]])
    assert starts.shape == (n_jobs, n_machines) == (4, 4)
    times = instance.data["times"]
    assert verifier.schedule_violation(times, starts) is None
    assert (starts + times).max() == makespan == DOMAIN.verify(instance, state).objective
