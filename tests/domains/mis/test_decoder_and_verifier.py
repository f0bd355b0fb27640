from __future__ import annotations

import ast
import inspect
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.mis.specimens import graph_instance, plain_score, random_graph, random_set

from dga2d.domains.contract import State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.mis import DOMAIN, verifier
from dga2d.domains.mis.card import INVALID_SCORE

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=500, deadline=None)
@given(n=st.integers(1, 140), percent=st.integers(0, 100), seed=SEEDS)
def test_decoder_plain_decoder_and_verifier_agree_on_independent_sets(
    n: int, percent: int, seed: int
) -> None:
    instance = random_graph(n, percent, seed)
    state = State(random_set(instance, seed))
    expected = plain_score(instance, state.sequence)
    assert expected == -float(state.sequence.sum())
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    verdict = DOMAIN.verify(instance, state)
    assert verdict.is_feasible
    assert verdict.objective == -expected


@settings(max_examples=1000, deadline=None)
@given(n=st.integers(1, 130), percent=st.integers(1, 60), seed=SEEDS, data=st.data())
def test_all_three_agree_on_mutated_vectors(n: int, percent: int, seed: int, data: st.DataObject) -> None:
    instance = random_graph(n, percent, seed)
    sequence = random_set(instance, seed)
    where = data.draw(st.integers(0, n - 1))
    sequence[where] = data.draw(st.one_of(st.just(1), st.integers(-2, 3), st.integers(-(2**31), 2**31 - 1)))
    expected = plain_score(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(State(sequence)) == expected
    verdict = DOMAIN.verify(instance, State(sequence))
    assert verdict.is_feasible is (expected != INVALID_SCORE)
    assert verdict.objective == (None if expected == INVALID_SCORE else -expected)


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
def test_an_edge_between_any_two_words_of_bits_is_seen(n: int) -> None:
    for u, v in ((0, n - 1), (n - 2, n - 1), (0, 1), (min(62, n - 2), n - 1)):
        adjacency = np.zeros((n, n), np.uint8)
        adjacency[u, v] = adjacency[v, u] = 1
        instance = graph_instance(adjacency, "one edge")
        decode = DOMAIN.decoder(DOMAIN.environment(instance))
        everything = np.ones(n, np.int32)
        assert decode(State(everything)) == INVALID_SCORE
        assert not DOMAIN.verify(instance, State(everything)).is_feasible
        everything[v] = 0
        assert decode(State(everything)) == 1.0 - n


def test_decoding_allocates_no_arrays() -> None:
    """The bits of the set alone would be 200 bytes, an index array 12,000."""
    instance = random_graph(1500, 10, 1)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    state = State(random_set(instance, 1))
    decode(state)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        decode(state)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 200


def test_the_empty_set_is_feasible_and_scores_zero() -> None:
    instance = DOMAIN.smoke_instance()
    state = State(np.zeros(45, np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 0.0
    assert DOMAIN.verify(instance, state).objective == 0.0


def test_the_smoke_instance_has_a_set_of_its_independence_number() -> None:
    """Points 0, 1, 3, 4 contain no triple; each triangle gives a corner whose point is left out."""
    instance = DOMAIN.smoke_instance()
    adjacency = instance.data["adjacency"]
    sequence = np.zeros(45, np.int32)
    sequence[[0, 1, 3, 4]] = 1
    for corner in range(9, 45):
        if not (adjacency[corner] & sequence).any():
            sequence[corner] = 1
    assert instance.reference is not None
    assert DOMAIN.verify(instance, State(sequence)).objective == instance.reference.value == 16


ZEROS = np.zeros(45, np.int32)
BROKEN: dict[str, Any] = {
    "none": None,
    "a list": [0] * 45,
    "text": "0" * 45,
    "floats": ZEROS.astype(float),
    "booleans": np.zeros(45, bool),
    "objects": ZEROS.astype(object),
    "empty": np.empty(0, np.int32),
    "too short": ZEROS[:-1],
    "too long": np.zeros(46, np.int32),
    "a two": np.append(ZEROS[:-1], np.int32(2)),
    "a minus one": np.append(ZEROS[:-1], np.int32(-1)),
    "two-dimensional": ZEROS.reshape(9, 5),
    "wraps around in 32 bits": ZEROS.astype(np.int64) + 2**32,
    "huge unsigned": np.full(45, 2**64 - 1, np.uint64),
    "a masked array": np.ma.masked_array(ZEROS),
    "adjacent vertices": np.ones(45, np.int32),
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
    with pytest.raises(InvalidSolutionError):
        DOMAIN.picture(instance, state)


def test_verify_does_not_raise_on_something_that_is_no_state() -> None:
    assert not DOMAIN.verify(DOMAIN.smoke_instance(), object()).is_feasible  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64", ">i4"])
def test_other_integer_arrays_are_decoded(dtype: str) -> None:
    instance = DOMAIN.smoke_instance()
    sequence = random_set(instance, 3)
    state = State(sequence.astype(dtype))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == -float(sequence.sum())
    assert DOMAIN.verify(instance, state).objective == sequence.sum()


def test_strided_and_read_only_arrays_are_decoded() -> None:
    instance = DOMAIN.smoke_instance()
    sequence = random_set(instance, 5)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    frozen = sequence.copy()
    frozen.setflags(write=False)
    assert decode(State(np.repeat(sequence, 2)[::2])) == decode(State(frozen)) == -float(sequence.sum())


def test_scribbling_on_the_environment_changes_neither_scores_nor_the_instance() -> None:
    instance = DOMAIN.smoke_instance()
    environment = DOMAIN.environment(instance)
    decode = DOMAIN.decoder(environment)
    environment["adj"][:] = 0
    assert decode(State(np.ones(45, np.int32))) == INVALID_SCORE
    assert instance.data["adjacency"].any()


def test_the_verifier_names_what_is_broken() -> None:
    instance = graph_instance(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.uint8), "edge and point")

    def violation(*entries: int) -> str | None:
        return DOMAIN.verify(instance, State(np.array(entries, np.int32))).violation

    assert violation(0, 1, 1) is None
    assert violation(1, 1, 0) == "vertices 0 and 1 are both selected and adjacent"
    assert violation(1, 0, 2) == "entry 2 is 2, expected 0 or 1"
    assert violation(1, 0) == "sequence has shape (2,), expected (3,)"


def test_the_verifier_does_not_import_the_decoder() -> None:
    imported = {
        node.module
        for node in ast.walk(ast.parse(inspect.getsource(verifier)))
        if isinstance(node, ast.ImportFrom)
    }
    assert not any(module and ("decoder" in module or "numba" in module) for module in imported)
