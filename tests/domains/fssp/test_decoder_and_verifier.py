from __future__ import annotations

import ast
import inspect
import tracemalloc
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dga2d.domains.contract import Instance, State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.fssp import DOMAIN, verifier
from dga2d.domains.fssp.card import INVALID_SCORE

Make = Callable[..., Instance]
Sequences = Callable[[Instance, int], NDArray[np.int32]]
Plain = Callable[[Instance, Any], float]

SIZES = st.tuples(st.integers(1, 7), st.integers(1, 6))
SEEDS = st.integers(0, 2**32 - 1)
FIXTURES_ARE_PURE = [HealthCheck.function_scoped_fixture]


@settings(max_examples=500, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
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


@settings(max_examples=500, deadline=None, suppress_health_check=FIXTURES_ARE_PURE)
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
    sequence[where] = data.draw(st.one_of(st.integers(-2, 9), st.integers(-(2**31), 2**31 - 1)))
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
            sequence[k] = (sequence[k] + 1) % 6
        assert decode(State(sequence)) == plain_makespan(instance, sequence)


def test_decoding_allocates_no_arrays(random_sequence: Sequences) -> None:
    """A work array of two hundred jobs alone would be 1600 bytes."""
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "tfs110"))
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
    """Two jobs on two machines, (3, 2) and (1, 4); job 1 goes first on machine 1 only: 0 waits for it."""
    instance = Instance("fssp", "hand", "two", {"times": np.array([[3, 2], [1, 4]], np.int32)})
    state = State(np.array([0, 1, 1, 0], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 10.0
    assert DOMAIN.verify(instance, state).objective == 10.0
    assert DOMAIN.write_solution(instance, state).splitlines()[2:] == ["2 2 10", "0 8", "3 4"]


def test_a_repeated_order_is_a_permutation_schedule() -> None:
    """Job 1 first on both machines: it ends at 1 and 5, job 0 at 4 and 7."""
    instance = Instance("fssp", "hand", "two", {"times": np.array([[3, 2], [1, 4]], np.int32)})
    state = State(np.repeat(np.array([1, 0], np.int32), 2))
    assert DOMAIN.verify(instance, state).objective == 7.0


def test_the_smoke_instance_has_the_reference_it_claims() -> None:
    instance = DOMAIN.smoke_instance()
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    assert instance.reference is not None
    orders = np.array(list(permutations(range(8))), np.int32)
    assert min(decode(State(np.repeat(order, 4))) for order in orders) == instance.reference.value


BROKEN: dict[str, Any] = {
    "none": None,
    "a list": [0] * 32,
    "text": "0" * 32,
    "floats": np.zeros(32),
    "booleans": np.zeros(32, bool),
    "objects": np.zeros(32, object),
    "empty": np.empty(0, np.int32),
    "too short": np.repeat(np.arange(8, dtype=np.int32), 4)[:-1],
    "too long": np.append(np.repeat(np.arange(8, dtype=np.int32), 4), np.int32(0)),
    "two-dimensional": np.repeat(np.arange(8, dtype=np.int32), 4).reshape(8, 4),
    "wraps around in 32 bits": np.repeat(np.arange(8, dtype=np.int64) + 2**32, 4),
    "huge unsigned": np.full(32, 2**64 - 1, np.uint64),
    "a masked array": np.ma.masked_array(np.repeat(np.arange(8, dtype=np.int32), 4)),
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
    environment["processing_times"][:] = 0
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
    times = np.array([[3, 2], [3, 2]], np.int32)
    check = verifier.schedule_violation
    assert check(times, np.array([[0, 3], [3, 6]])) is None
    assert check(times, np.array([[-1, 3], [3, 6]])) == "an operation starts before time 0"
    assert (
        check(times, np.array([[0, 2], [3, 6]])) == "job 0 starts on machine 1 before it has left machine 0"
    )
    assert check(times, np.array([[0, 5], [2, 7]])) == "jobs 0 and 1 overlap on machine 0"
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
    assert starts.shape == (n_jobs, n_machines) == (8, 4)
    times = instance.data["times"]
    assert verifier.schedule_violation(times, starts) is None
    assert (starts + times).max() == makespan == DOMAIN.verify(instance, state).objective
