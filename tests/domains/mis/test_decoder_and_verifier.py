"""Decoder, plain decoder and verifier of independent sets agree; sets made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.domains.mis.specimens import graph_instance, plain_score, random_graph, random_set
from tests.domains.scoring_claims import Scored, SequenceScoring

from dga2d.domains.core.contract import State
from dga2d.domains.mis import DOMAIN, verifier
from dga2d.domains.mis.card import INVALID_SCORE


class IndependentSetClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=lambda size, seed: random_graph(size[0], size[1], seed),
        random_state=lambda instance, seed: State(random_set(instance, seed)),
        plain_score=lambda instance, state: plain_score(instance, state.sequence),
        sizes=st.tuples(st.integers(1, 140), st.integers(0, 100)),
        middle=(20, 30),
        highest=1,
        large=lambda: random_graph(1500, 10, 1),  # the bits of the set: 200 bytes, an index array: 12,000
        most_bytes=200,
        breakages={
            "a two": lambda good: np.append(good[:-1], np.int32(2)),
            "a minus one": lambda good: np.append(good[:-1], np.int32(-1)),
            "adjacent vertices": np.ones_like,
        },
    )


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
