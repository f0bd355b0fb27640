"""Decoder, plain decoder and verifier of tours agree; tours measured by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.domains.scoring_claims import Scored, SequenceScoring
from tests.domains.tsp.specimens import instance_of, plain_length, random_cities, random_tour

from dga2d.domains.core.contract import State
from dga2d.domains.tsp import DOMAIN, verifier


class TourClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=random_cities,
        random_state=lambda instance, seed: State(random_tour(instance, seed)),
        plain_score=plain_length,
        sizes=st.tuples(st.integers(1, 60)),
        middle=(12,),
        highest=60,
        large=lambda: random_cities((1500,), 1),  # a work array of bytes: 1,500
        other_integers=False,
    )


def test_length_by_hand() -> None:
    instance = instance_of([(0, 0), (3, 4), (3, 0), (0.5, 0)])
    # 0-1: 5, 1-2: 4, 2-3: 2.5 rounds up to 3, 3-0: 0.5 rounds up to 1
    assert DOMAIN.verify(instance, State(np.array([0, 1, 2, 3], dtype=np.int32))).objective == 13


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
