from __future__ import annotations

import ast
import inspect
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.rcpsp.specimens import plain_makespan, random_instance, random_sequence

from dga2d.domains.contract import Instance, State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.rcpsp import DOMAIN, verifier
from dga2d.domains.rcpsp.card import INVALID_SCORE
from dga2d.domains.rcpsp.decoder import pack
from dga2d.domains.rcpsp.project import Project

SIZES = st.tuples(st.integers(0, 9), st.integers(1, 4))
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=250, deadline=None)
@given(size=SIZES, seed=SEEDS)
def test_decoder_plain_decoder_and_verifier_agree_on_valid_sequences(
    size: tuple[int, int], seed: int
) -> None:
    instance = random_instance(*size, seed, low=0)
    state = State(random_sequence(instance, seed))
    expected = plain_makespan(instance, state.sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    verdict = DOMAIN.verify(instance, state)
    assert verdict.is_feasible
    assert verdict.objective == expected


@settings(max_examples=250, deadline=None)
@given(size=SIZES, seed=SEEDS, data=st.data())
def test_all_three_agree_on_mutated_sequences(size: tuple[int, int], seed: int, data: st.DataObject) -> None:
    instance = random_instance(*size, seed)
    sequence = random_sequence(instance, seed)
    where = data.draw(st.integers(0, sequence.size - 1))
    if data.draw(st.booleans()):
        sequence[where] = data.draw(st.one_of(st.integers(-2, 12), st.integers(-(2**31), 2**31 - 1)))
    else:
        other = data.draw(st.integers(0, sequence.size - 1))
        sequence[[where, other]] = sequence[[other, where]]
    expected = plain_makespan(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(State(sequence)) == expected
    verdict = DOMAIN.verify(instance, State(sequence))
    assert verdict.objective == (None if expected == INVALID_SCORE else expected)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_a_decoder_used_again_and_again_agrees_with_the_plain_one(seed: int) -> None:
    """Ten lists through one decoder, every third of them broken: nothing is left over from a call."""
    instance = random_instance(12, 3, seed)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    for k in range(10):
        sequence = random_sequence(instance, seed + k)
        if k % 3 == 1:
            sequence[k] = (sequence[k] + 1) % 14
        assert decode(State(sequence)) == plain_makespan(instance, sequence)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, scale=st.integers(1, 2**27))
def test_capacities_that_need_several_words_decode_alike(seed: int, scale: int) -> None:
    """Seven resources with requests times `scale`: the packed words hold one, two or more of them."""
    instance = random_instance(8, 7, seed)
    data = dict(instance.data)
    data["requests"], data["capacities"] = data["requests"] * scale, data["capacities"] * scale
    large = Instance("rcpsp", "random", "large", data)
    sequence = random_sequence(instance, seed)
    expected = plain_makespan(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(large))(State(sequence)) == expected
    assert DOMAIN.verify(large, State(sequence)).objective == expected


def test_resources_are_packed_with_a_guard_bit_each() -> None:
    need, capacities, guard = pack(np.array([[5, 1], [0, 2]]), np.array([7, 2]))
    assert need.tolist() == [[0b01_0101], [0b10_0000]]
    assert capacities.tolist() == [0b10_0111]
    assert guard.tolist() == [0b100_1000]


def test_decoding_allocates_no_arrays() -> None:
    """The profile of the resources alone would be 2500 bytes."""
    instance = random_instance(60, 4, 1)
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


def by_hand() -> Instance:
    """Activities 1, 2, 3 take 2, 3, 2 and hold 2, 1, 2 of 3 units; 1 comes before 3."""
    project = Project(
        np.array([0, 2, 3, 2, 0], np.int32),
        np.array([[0], [2], [1], [2], [0]], np.int32),
        np.array([3], np.int32),
        np.array([(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)], np.int32),
    )
    return Instance("rcpsp", "hand", "three", project.data())


def test_a_schedule_made_by_hand() -> None:
    """1 and 2 start at 0, 3 at 2 when 1 has finished; it fits beside 2."""
    instance = by_hand()
    state = State(np.array([0, 1, 2, 3, 4], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 4.0
    assert DOMAIN.verify(instance, state).objective == 4.0
    assert DOMAIN.write_solution(instance, state).splitlines() == [
        "# instance hand/three",
        "# activities makespan, then per activity: job (from 1) start finish",
        "5 4",
        "1 0 0",
        "2 0 2",
        "3 0 3",
        "4 2 4",
        "5 4 4",
    ]


def test_the_environment_by_hand() -> None:
    environment = DOMAIN.environment(by_hand())
    assert (environment["num_activities"], environment["num_resources"]) == (5, 1)
    assert environment["upper_bound"] == 7
    assert np.argwhere(environment["adj_matrix"]).tolist() == environment["edges"].tolist()


IDENTITY = np.arange(10, dtype=np.int32)
BROKEN: dict[str, Any] = {
    "none": None,
    "a list": list(range(10)),
    "text": "0" * 10,
    "floats": IDENTITY.astype(float),
    "booleans": np.zeros(10, bool),
    "objects": IDENTITY.astype(object),
    "empty": np.empty(0, np.int32),
    "too short": IDENTITY[:-1],
    "too long": np.arange(11, dtype=np.int32),
    "an activity twice": np.append(IDENTITY[:-1], np.int32(3)),
    "successor first": np.array([0, 4, 2, 3, 1, 5, 6, 7, 8, 9], np.int32),
    "two-dimensional": IDENTITY.reshape(2, 5),
    "wraps around in 32 bits": IDENTITY.astype(np.int64) + 2**32,
    "huge unsigned": np.full(10, 2**64 - 1, np.uint64),
    "a masked array": np.ma.masked_array(IDENTITY),
}


@pytest.mark.parametrize("sequence", BROKEN.values(), ids=BROKEN.keys())
def test_garbage_is_a_violation_and_scores_invalid(sequence: Any) -> None:
    instance = DOMAIN.smoke_instance()
    state = State(sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == INVALID_SCORE
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective is None
    assert verdict.violation
    with pytest.raises(InvalidSolutionError):
        DOMAIN.write_solution(instance, state)


def test_a_state_without_a_sequence_is_a_violation() -> None:
    assert not DOMAIN.verify(DOMAIN.smoke_instance(), object()).is_feasible  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.uint8])
def test_other_integer_arrays_are_converted(dtype: Any) -> None:
    instance = DOMAIN.smoke_instance()
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    assert decode(State(IDENTITY.astype(dtype))) == decode(State(IDENTITY))
    frozen = IDENTITY.copy()
    frozen.setflags(write=False)
    assert decode(State(frozen)) == decode(State(IDENTITY))


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, data=st.data())
def test_an_activity_that_starts_one_period_earlier_breaks_a_constraint(
    seed: int, data: st.DataObject
) -> None:
    """Serial schedules are active: no single activity can start earlier while the others stay."""
    instance = random_instance(7, 2, seed)
    starts = verifier.schedule(instance.data, random_sequence(instance, seed))
    assert verifier.schedule_violation(instance.data, starts) is None
    starts[data.draw(st.integers(0, starts.size - 1))] -= 1
    assert verifier.schedule_violation(instance.data, starts) is not None


def test_each_kind_of_violation_is_named() -> None:
    instance = by_hand()
    starts = np.array([0, 0, 0, 2, 4])
    assert verifier.schedule_violation(instance.data, starts) is None
    assert "shape" in str(verifier.schedule_violation(instance.data, starts[:-1]))
    assert "before time 0" in str(verifier.schedule_violation(instance.data, starts - 1))
    assert "before its predecessor" in str(
        verifier.schedule_violation(instance.data, np.array([0, 0, 0, 1, 4]))
    )
    crowded = {**instance.data, "capacities": np.array([2], np.int32)}
    assert "resource 0 is used 3 times at time 0" in str(verifier.schedule_violation(crowded, starts))


def test_the_verifier_shares_no_code_with_the_decoder() -> None:
    tree = ast.parse(inspect.getsource(verifier))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any("decoder" in str(module) or "numba" in str(module) for module in imported)
