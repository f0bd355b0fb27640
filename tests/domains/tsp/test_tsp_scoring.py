"""Decoder and verifier agree with a plain decoder on tours and refuse everything that is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.tsp import DOMAIN

coordinate = st.one_of(st.integers(-1000, 1000).map(float), st.floats(-1e6, 1e6))
point_sets = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=25)


def instance_of(points: list[tuple[float, float]]) -> Instance:
    return Instance("tsp", "test", "points", {"coords": np.array(points, dtype=np.float64)})


def plain_length(points: list[tuple[float, float]], tour: list[int]) -> int:
    total = 0
    for here, there in zip(tour, tour[1:] + tour[:1], strict=True):
        dx, dy = points[here][0] - points[there][0], points[here][1] - points[there][1]
        total += int(math.sqrt(dx * dx + dy * dy) + 0.5)
    return total


@settings(max_examples=100, deadline=None)
@given(points=point_sets, seed=st.integers(0, 1000))
def test_decoder_and_verifier_equal_the_plain_decoder(points: list[tuple[float, float]], seed: int) -> None:
    instance = instance_of(points)
    tour = np.random.default_rng(seed).permutation(len(points)).astype(np.int32)
    expected = plain_length(points, tour.tolist())
    assert DOMAIN.decoder(DOMAIN.environment(instance))(State(tour)) == expected
    assert DOMAIN.verify(instance, State(tour)).objective == expected


def test_decoder_equals_the_plain_decoder_on_thousands_of_tours() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 61):
        coords = rng.integers(0, 10 ** int(rng.integers(1, 7)), size=(n, 2)).astype(np.float64)
        decode = DOMAIN.decoder(DOMAIN.environment(Instance("tsp", "test", "points", {"coords": coords})))
        points = [(float(x), float(y)) for x, y in coords]
        for _ in range(50):
            tour = rng.permutation(n).astype(np.int32)
            assert decode(State(tour)) == plain_length(points, tour.tolist())
            tour[rng.integers(n)] = rng.integers(-2, n + 2)
            is_tour = sorted(tour.tolist()) == list(range(n))
            expected = plain_length(points, tour.tolist()) if is_tour else DOMAIN.invalid_score
            assert decode(State(tour)) == expected


def test_length_by_hand() -> None:
    instance = instance_of([(0, 0), (3, 4), (3, 0), (0.5, 0)])
    # 0-1: 5, 1-2: 4, 2-3: 2.5 rounds up to 3, 3-0: 0.5 rounds up to 1
    assert DOMAIN.verify(instance, State(np.array([0, 1, 2, 3], dtype=np.int32))).objective == 13


@settings(max_examples=100, deadline=None)
@given(data=st.data(), n=st.integers(2, 20))
def test_every_mutation_of_a_tour_is_refused(data: st.DataObject, n: int) -> None:
    instance = instance_of([(i, i * i) for i in range(n)])
    tour = np.array(data.draw(st.permutations(range(n))), dtype=np.int32)
    where = data.draw(st.integers(0, n - 1))
    other = data.draw(st.integers(-(2**31), 2**31 - 1).filter(lambda city: city != tour[where]))
    tour[where] = other
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    assert decode(State(tour)) == DOMAIN.invalid_score
    assert not DOMAIN.verify(instance, State(tour)).is_feasible


GARBAGE: list[Any] = [
    None,
    "0123",
    [0, 1, 2, 3],
    np.array([0, 1, 2, 3]),
    np.array([0, 1, 2, 3], dtype=np.uint32),
    np.array([0, 1, 2, 3], dtype=">i4"),
    np.array([0.0, 1.0, 2.0, 3.0]),
    np.array([0, 1, 2], dtype=np.int32),
    np.array([0, 1, 2, 3, 0], dtype=np.int32),
    np.array([[0, 1], [2, 3]], dtype=np.int32),
    np.array(3, dtype=np.int32),
    np.empty(0, dtype=np.int32),
    np.array([0, 1, 2, None], dtype=object),
    np.ma.masked_array(np.arange(4, dtype=np.int32), mask=[True, False, False, False]),
]


@pytest.mark.parametrize("sequence", GARBAGE, ids=repr)
def test_garbage_is_a_violation_and_no_exception(sequence: Any) -> None:
    instance = instance_of([(0, 0), (1, 0), (1, 1), (0, 1)])
    state = State()
    state.sequence = sequence
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective is None
    assert verdict.violation
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == DOMAIN.invalid_score
    with pytest.raises(InvalidSolutionError, match="test/points"):
        DOMAIN.write_solution(instance, state)


def test_missing_sequence_is_a_violation() -> None:
    instance = instance_of([(0, 0), (1, 0)])
    nothing: Any = object()
    assert not DOMAIN.verify(instance, nothing).is_feasible
    assert DOMAIN.decoder(DOMAIN.environment(instance))(nothing) == DOMAIN.invalid_score


def test_decoder_takes_strided_and_read_only_sequences() -> None:
    instance = instance_of([(0, 0), (1, 0), (1, 1), (0, 1)])
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    strided = np.array([0, 9, 1, 9, 2, 9, 3, 9], dtype=np.int32)[::2]
    frozen = np.arange(4, dtype=np.int32)
    frozen.setflags(write=False)
    assert decode(State(strided)) == decode(State(frozen)) == 4


def test_written_tour_names_its_length() -> None:
    instance = instance_of([(0, 0), (3, 0), (3, 4)])
    text = DOMAIN.write_solution(instance, State(np.array([0, 1, 2], dtype=np.int32)))
    assert "COMMENT : Length 12" in text.splitlines()


def test_environment_has_exactly_the_keys_of_the_card() -> None:
    instance = DOMAIN.smoke_instance()
    environment = DOMAIN.environment(instance)
    assert set(environment) == set(DOMAIN.card.environment)
    assert environment["distance_matrix"].dtype == np.int64
    assert not environment["distance_matrix"].diagonal().any()
    np.testing.assert_array_equal(environment["distance_matrix"], environment["distance_matrix"].T)


def test_upper_bound_is_the_nearest_neighbour_tour_from_city_0() -> None:
    environment = DOMAIN.environment(instance_of([(0, 0), (10, 0), (4, 0), (-5, 0)]))
    # 0 -> 2 (4), 2 -> 1 (6), 1 -> 3 (15), 3 -> 0 (5)
    assert environment["upper_bound"] == 30
