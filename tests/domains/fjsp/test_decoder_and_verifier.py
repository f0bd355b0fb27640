from __future__ import annotations

import ast
import inspect
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.fjsp.specimens import plain_makespan, random_instance, random_state

from dga2d.domains.contract import Instance, State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.fjsp import DOMAIN, verifier
from dga2d.domains.fjsp.card import INVALID_SCORE
from dga2d.domains.fjsp.reader import tabulate
from dga2d.domains.fjsp.verifier import Task, choices_of, schedule, schedule_violation

SIZES = st.tuples(st.integers(1, 6), st.integers(1, 5))
SEEDS = st.integers(0, 2**32 - 1)
ANY_ENTRY = st.one_of(st.integers(-2, 9), st.integers(-(2**31), 2**31 - 1))


@settings(max_examples=500, deadline=None)
@given(size=SIZES, seed=SEEDS)
def test_decoder_plain_decoder_and_verifier_agree_on_valid_states(size: tuple[int, int], seed: int) -> None:
    instance = random_instance(*size, seed, low=0)
    state = random_state(instance, seed)
    expected = plain_makespan(instance, state)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    assert DOMAIN.verify(instance, state).objective == expected


@settings(max_examples=500, deadline=None)
@given(size=SIZES, seed=SEEDS, data=st.data())
def test_all_three_agree_on_mutated_states(size: tuple[int, int], seed: int, data: st.DataObject) -> None:
    instance = random_instance(*size, seed)
    state = random_state(instance, seed)
    array = data.draw(st.sampled_from([state.sequence, state.metadata["machine_alloc"]]))
    array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(ANY_ENTRY)
    expected = plain_makespan(instance, state)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective == (None if expected == INVALID_SCORE else expected)
    assert verdict.is_feasible is (expected != INVALID_SCORE)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS)
def test_a_decoder_used_again_and_again_agrees_with_the_plain_one(seed: int) -> None:
    """Ten states through one decoder, every third of them broken: nothing is left over from a call."""
    instance = random_instance(6, 5, seed)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    for k in range(10):
        state = random_state(instance, seed + k)
        if k % 3 == 1:
            state.sequence[0] = (state.sequence[0] + 1) % 6
        assert decode(state) == plain_makespan(instance, state)


def test_decoding_allocates_no_arrays() -> None:
    """A work array of a hundred jobs alone would be 800 bytes."""
    instance = random_instance(100, 10, 0)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    state = random_state(instance, 0)
    decode(state)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        decode(state)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 700


HAND = Instance(
    "fjsp", "hand", "two", {"shop": tabulate(2, [[[(0, 3), (1, 9)], [(1, 2)]], [[(0, 8), (1, 4)]]])}
)


def test_a_schedule_made_by_hand() -> None:
    """Job 0: machine 0 for 3, machine 1 for 2; job 1: machine 1 for 4. Served 1, 0, 0: it ends at 4 + 2."""
    state = State(np.array([1, 0, 0], np.int32), {"machine_alloc": np.array([[0, 1], [1, 7]], np.int32)})
    assert DOMAIN.decoder(DOMAIN.environment(HAND))(state) == 6.0
    assert DOMAIN.verify(HAND, state).objective == 6.0
    assert DOMAIN.write_solution(HAND, state).splitlines()[2:] == ["2 2 6", "2 0 0 3 1 4 6", "1 1 0 4"]


def smoke_state() -> State:
    return random_state(DOMAIN.smoke_instance(), 1)


BROKEN_SEQUENCES: dict[str, Any] = {
    "none": None,
    "a list": [0] * 36,
    "floats": np.zeros(36),
    "booleans": np.zeros(36, bool),
    "empty": np.empty(0, np.int32),
    "too short": np.repeat(np.arange(6, dtype=np.int32), 6)[:-1],
    "two-dimensional": np.repeat(np.arange(6, dtype=np.int32), 6).reshape(6, 6),
    "wraps around in 32 bits": np.repeat(np.arange(6, dtype=np.int64) + 2**32, 6),
    "a masked array": np.ma.masked_array(np.repeat(np.arange(6, dtype=np.int32), 6)),
}
GOOD = smoke_state().metadata["machine_alloc"]
BROKEN_METADATA: dict[str, Any] = {
    "none": None,
    "no allocation": {},
    "a list": {"machine_alloc": GOOD.tolist()},
    "floats": {"machine_alloc": GOOD.astype(float)},
    "flat": {"machine_alloc": GOOD.ravel()},
    "one row short": {"machine_alloc": GOOD[:-1]},
    "negative": {"machine_alloc": np.full_like(GOOD, -1)},
    "no machine": {"machine_alloc": np.full_like(GOOD, 6)},
    "not eligible": {"machine_alloc": np.zeros_like(GOOD)},
    "wraps around in 32 bits": {"machine_alloc": GOOD.astype(np.int64) + 2**32},
    "huge unsigned": {"machine_alloc": np.full(GOOD.shape, 2**64 - 1, np.uint64)},
    "a masked array": {"machine_alloc": np.ma.masked_array(GOOD)},
}


def assert_refused(state: State) -> None:
    instance = DOMAIN.smoke_instance()
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == INVALID_SCORE
    verdict = DOMAIN.verify(instance, state)
    assert not verdict.is_feasible
    assert verdict.objective is None
    with pytest.raises(InvalidSolutionError):
        DOMAIN.write_solution(instance, state)


@pytest.mark.parametrize("sequence", BROKEN_SEQUENCES.values(), ids=BROKEN_SEQUENCES.keys())
def test_a_garbage_sequence_is_a_violation_and_scores_invalid(sequence: Any) -> None:
    assert_refused(State(sequence, smoke_state().metadata))


@pytest.mark.parametrize("metadata", BROKEN_METADATA.values(), ids=BROKEN_METADATA.keys())
def test_garbage_machines_are_a_violation_and_score_invalid(metadata: Any) -> None:
    state = smoke_state()
    state.metadata = metadata
    assert_refused(state)


def test_verify_does_not_raise_on_something_that_is_no_state() -> None:
    assert not DOMAIN.verify(DOMAIN.smoke_instance(), object()).is_feasible  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint64", ">i4"])
def test_other_integer_arrays_are_decoded(dtype: str) -> None:
    instance = DOMAIN.smoke_instance()
    state = smoke_state()
    expected = plain_makespan(instance, state)
    other = State(
        state.sequence.astype(dtype), {"machine_alloc": state.metadata["machine_alloc"].astype(dtype)}
    )
    assert DOMAIN.decoder(DOMAIN.environment(instance))(other) == expected
    assert DOMAIN.verify(instance, other).objective == expected


def test_strided_and_read_only_arrays_are_decoded() -> None:
    instance = DOMAIN.smoke_instance()
    state = smoke_state()
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    expected = decode(state)
    strided = State(
        np.repeat(state.sequence, 2)[::2],
        {"machine_alloc": np.asfortranarray(state.metadata["machine_alloc"])},
    )
    frozen = state.copy()
    frozen.sequence.setflags(write=False)
    frozen.metadata["machine_alloc"].setflags(write=False)
    assert decode(strided) == decode(frozen) == expected


def test_scribbling_on_the_environment_changes_neither_scores_nor_the_instance() -> None:
    instance = DOMAIN.smoke_instance()
    environment = DOMAIN.environment(instance)
    decode = DOMAIN.decoder(environment)
    state = smoke_state()
    before = decode(state)
    for value in environment.values():
        if isinstance(value, np.ndarray):
            value[...] = 0
    assert decode(state) == before == DOMAIN.verify(instance, state).objective


@settings(max_examples=200, deadline=None)
@given(size=st.tuples(st.integers(1, 6), st.integers(1, 5)), seed=SEEDS, data=st.data())
def test_a_schedule_with_one_task_changed_is_caught(
    size: tuple[int, int], seed: int, data: st.DataObject
) -> None:
    """In a semi-active schedule no task can start earlier on its own, take longer, or change machine."""
    instance = random_instance(*size, seed)
    choices = choices_of(instance.data["shop"])
    tasks = schedule(choices, random_state(instance, seed))
    assert schedule_violation(choices, tasks) is None
    job = data.draw(st.integers(0, size[0] - 1))
    k = data.draw(st.integers(0, len(tasks[job]) - 1))
    machine, start, end = tasks[job][k]
    tasks[job][k] = data.draw(
        st.sampled_from(
            [Task(machine, start - 1, end - 1), Task(machine, start, end + 1), Task(-1, start, end)]
        )
    )
    assert schedule_violation(choices, tasks) is not None


def test_the_verifier_names_what_is_broken() -> None:
    choices = [[{0: 3}, {0: 2, 1: 2}], [{0: 4}]]
    good = [[Task(0, 0, 3), Task(1, 3, 5)], [Task(0, 3, 7)]]

    def check(job: int, k: int, task: Task) -> str | None:
        tasks = [list(row) for row in good]
        tasks[job][k] = task
        return schedule_violation(choices, tasks)

    assert schedule_violation(choices, good) is None
    assert check(0, 0, Task(0, -1, 2)) == "job 0 starts before time 0"
    assert check(0, 1, Task(1, 2, 4)) == "operation 1 of job 0 starts before operation 0 ends"
    assert check(0, 1, Task(2, 3, 5)) == "machine 2 is not eligible for operation 1 of job 0"
    assert check(0, 1, Task(1, 3, 6)) == "operation 1 of job 0 does not take 2"
    assert check(1, 0, Task(0, 2, 6)) == "jobs 0 and 1 overlap on machine 0"
    assert schedule_violation(choices, [good[0][:1], good[1]]) == "job 0 has 1 operations, expected 2"


def test_the_verifier_does_not_import_the_decoder() -> None:
    imported = {
        node.module
        for node in ast.walk(ast.parse(inspect.getsource(verifier)))
        if isinstance(node, ast.ImportFrom)
    }
    assert not any(module and ("decoder" in module or "numba" in module) for module in imported)


def test_the_written_schedule_can_be_read_back() -> None:
    instance, state = DOMAIN.smoke_instance(), smoke_state()
    lines = [line for line in DOMAIN.write_solution(instance, state).splitlines() if not line.startswith("#")]
    n_jobs, n_machines, makespan = map(int, lines[0].split())
    tasks = []
    for line in lines[1:]:
        count, *numbers = map(int, line.split())
        tasks.append([Task(*numbers[i : i + 3]) for i in range(0, 3 * count, 3)])
    assert (n_jobs, n_machines) == (len(tasks), 6) == (6, 6)
    assert schedule_violation(choices_of(instance.data["shop"]), tasks) is None
    assert max(row[-1].end for row in tasks) == makespan == DOMAIN.verify(instance, state).objective
