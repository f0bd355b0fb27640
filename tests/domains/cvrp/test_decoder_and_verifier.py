"""Decoder and verifier agree with a plain decoder on routes and refuse everything that breaks the card."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.cvrp.specimens import (
    plain_length,
    random_instance,
    random_routes,
    random_sequence,
    sequence_of,
)
from tests.domains.scoring_claims import claims_hold

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.cvrp import DOMAIN
from dga2d.domains.cvrp.reader import RoutingData
from dga2d.domains.cvrp.verifier import LengthLimit, driven_routes

INVALID = DOMAIN.invalid_score


def by_hand() -> Instance:
    """Depot in the corner of a 3-4-5 triangle grid, capacity for two of the four customers."""
    coords = np.array([(0, 0), (3, 0), (3, 4), (0, 4), (-3, 0)], dtype=np.float64)
    data = RoutingData(coords, "EUC_2D", None, np.array([0, 1, 1, 1, 1], np.int64), 2)
    return Instance("cvrp", "test", "by-hand", {"routing": data})


def score(instance: Instance, sequence: Any) -> float:
    return DOMAIN.decoder(DOMAIN.environment(instance))(State(sequence))


def test_length_by_hand() -> None:
    sequence = np.array([1, 2, 0, 3, 4], dtype=np.int32)
    # 0-1 3, 1-2 4, 2-0 5; 0-3 4, 3-4 5, 4-0 3
    assert DOMAIN.verify(by_hand(), State(sequence)).objective == 24
    assert score(by_hand(), sequence) == 24


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 25), seed=st.integers(0, 1000), slack=st.floats(1.0, 12.0))
def test_decoder_and_verifier_equal_the_plain_decoder(n: int, seed: int, slack: float) -> None:
    instance = random_instance(n, seed, slack)
    sequence = random_sequence(instance, seed)
    expected = plain_length(instance.data["routing"], sequence.tolist())
    assert expected < INVALID
    assert score(instance, sequence) == expected
    assert DOMAIN.verify(instance, State(sequence)).objective == expected


def test_decoder_equals_the_plain_decoder_on_thousands_of_sequences() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        instance = random_instance(n, n)
        decode = DOMAIN.decoder(DOMAIN.environment(instance))
        for seed in range(40):
            entries = random_sequence(instance, seed).tolist()
            if seed % 2:  # scrambled: zeros anywhere, loads too high, ids repeated or out of range
                entries = rng.permutation(entries).tolist()
                if seed % 3 == 0:
                    entries[int(rng.integers(len(entries)))] = int(rng.integers(-2, n + 3))
            expected = plain_length(instance.data["routing"], entries)
            state = State(np.array(entries, dtype=np.int32))
            assert decode(state) == expected
            assert (DOMAIN.verify(instance, state).objective or INVALID) == expected


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(2, 20), seed=st.integers(0, 100))
def test_every_mutation_of_routes_is_refused(data: st.DataObject, n: int, seed: int) -> None:
    instance = random_instance(n, seed)
    routes = random_routes(instance, seed)
    kind = data.draw(st.sampled_from(["omit", "repeat", "foreign", "empty", "overload"]))
    at = data.draw(st.integers(0, len(routes) - 1))
    if kind == "omit":
        del routes[at][0]
    elif kind == "repeat":
        routes[at].append(data.draw(st.sampled_from(routes[0])))
    elif kind == "foreign":
        routes[at][0] = data.draw(st.one_of(st.integers(n + 1, 2**31 - 1), st.integers(-(2**31), -1)))
    elif kind == "empty":
        routes.insert(at, [])
    else:
        merged = [customer for route in routes for customer in route]
        demands = instance.data["routing"].demands
        if int(demands.sum()) <= instance.data["routing"].capacity:
            return
        routes = [merged]
    state = State(sequence_of(routes))
    assert score(instance, state.sequence) == INVALID
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective is None
    assert verdict.violation


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([1, 2, 3, 0, 4], "route 1 carries 3, more than the capacity of 2"),
        ([1, 2, 0, 3], "customer 4 is not visited"),
        ([1, 2, 0, 3, 2], "customer 2 is visited in routes 1 and 2"),
        ([1, 2, 0, 0, 3, 4], "route 2 is empty"),
        ([0, 1, 2, 0, 3, 4], "route 1 is empty"),
        ([1, 2, 0, 3, 4, 0], "route 3 is empty"),
        ([1, 2, 0, 3, 5], "customer 5 is not in 1..4"),
        ([1, 2, 0, 3, -4], "customer -4 is not in 1..4"),
        ([], "route 1 is empty"),
    ],
)
def test_violations_are_named(entries: list[int], words: str) -> None:
    sequence = np.array(entries, dtype=np.int32)
    assert DOMAIN.verify(by_hand(), State(sequence)).violation == words
    assert score(by_hand(), sequence) == INVALID


def test_the_claims_about_scoring_and_outputs_hold() -> None:
    claims_hold(DOMAIN, lambda instance, seed: State(random_sequence(instance, seed)))


def test_decoder_takes_other_integers() -> None:
    for dtype in (np.int64, np.uint8):
        sequence: Any = np.array([1, 2, 0, 3, 4], dtype=dtype)
        assert score(by_hand(), sequence) == 24
        assert DOMAIN.verify(by_hand(), State(sequence)).objective == 24


def test_the_smoke_instance_has_dantzig_and_ramsers_optimum() -> None:
    instance = DOMAIN.smoke_instance()
    assert instance.reference is not None
    optimal = np.array([6, 9, 8, 0, 4, 3, 2, 1, 0, 5, 0, 10, 11, 12, 7], dtype=np.int32)
    assert DOMAIN.verify(instance, State(optimal)).objective == instance.reference.value == 290


def limited(instance: Instance, max_length: float, service: float = 0.0) -> Instance:
    data = replace(instance.data["routing"], max_length=max_length, service=service)
    return replace(instance, data={"routing": data})


@pytest.mark.parametrize(
    ("limit", "service", "length", "driven"),
    [
        (12, 0, 24, "Route #1: 1 2\nRoute #2: 3 4\nCost 24\n"),  # 3 + 4 + 5 and 4 + 5 + 3: both just fit
        (14, 1, 24, "Route #1: 1 2\nRoute #2: 3 4\nCost 24\n"),
        (11, 0, 30, "Route #1: 1\nRoute #2: 2\nRoute #3: 3\nRoute #4: 4\nCost 30\n"),
        (13, 1, 30, "Route #1: 1\nRoute #2: 2\nRoute #3: 3\nRoute #4: 4\nCost 30\n"),
    ],
)
def test_a_route_ends_where_the_next_customer_would_exceed_the_limit(
    limit: float, service: float, length: int, driven: str
) -> None:
    instance, sequence = limited(by_hand(), limit, service), np.array([1, 2, 0, 3, 4], dtype=np.int32)
    assert score(instance, sequence) == length
    assert DOMAIN.verify(instance, State(sequence)).objective == length
    assert DOMAIN.write_solution(instance, State(sequence)) == driven


@given(st.integers(0, 2**32 - 1), st.integers(5, 400), st.integers(0, 30))
def test_routes_are_driven_as_a_plain_sum_says(seed: int, length: int, service: int) -> None:
    rng = np.random.default_rng(seed)
    limit = LengthLimit(length, service, lambda a, b: 7 * abs(a - b) % 50)
    routes = [list(map(int, rng.integers(1, 30, rng.integers(0, 12)))) for _ in range(3)]
    driven = []
    for route in routes:
        part: list[int] = []
        for customer in route:
            if part and limit.taken([*part, customer]) > limit.length:
                driven.append(part)
                part = []
            part = [*part, customer]
        driven.append(part)
    assert driven_routes(routes, limit) == driven


def test_an_answer_as_long_as_the_sandbox_lets_through_is_refused_at_once() -> None:
    """What looks at every pair of its entries would take days."""
    verdict = DOMAIN.verify(limited(by_hand(), 12), State(np.ones(1_000_000, dtype=np.int32)))
    assert verdict.violation == "customer 1 is visited in routes 1 and 1"


def test_a_customer_beyond_the_limit_cannot_be_served() -> None:
    instance, sequence = limited(by_hand(), 9), np.array([1, 2, 0, 3, 4], dtype=np.int32)
    assert score(instance, sequence) == INVALID
    assert DOMAIN.verify(instance, State(sequence)).violation == (
        "route 2 comes to 10, more than the limit of 9"
    )


def test_decoder_and_verifier_agree_on_limited_routes() -> None:
    rng = np.random.default_rng(5)
    for n in range(2, 40):
        instance = limited(
            random_instance(n, n, 6.0), float(rng.integers(150, 500)), float(rng.integers(0, 9))
        )
        for seed in range(5):
            sequence = random_sequence(instance, seed)
            objective = DOMAIN.verify(instance, State(sequence)).objective
            assert score(instance, sequence) == (INVALID if objective is None else objective)
