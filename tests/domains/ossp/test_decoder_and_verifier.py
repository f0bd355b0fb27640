"""Decoder, plain decoder and verifier of open shops agree; schedules made by hand."""

from __future__ import annotations

import numpy as np
from tests.domains.ossp import specimens
from tests.domains.scoring_claims import ShopScoring, scored_shop

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.ossp import DOMAIN, verifier


class OpenShopClaims(ShopScoring):
    specimen = scored_shop(
        DOMAIN,
        verifier,
        specimens,
        ("times",),
        highest=42,
        # A work array of 400 operations: 3200 bytes.
        large=lambda: DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "ta20x20_1os")),
        breakages={"an operation twice": lambda good: np.append(good[:-1], good[0])},
    )


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


def test_the_verifier_names_what_is_broken() -> None:
    times = np.array([[3, 2], [4, 1]], np.int32)
    check = verifier.schedule_violation
    assert check(times, np.array([[0, 3], [3, 0]])) is None
    assert check(times, np.array([[-1, 3], [3, 0]])) == "an operation starts before time 0"
    assert check(times, np.array([[0, 2], [3, 0]])) == "operations of machines 0 and 1 overlap on job 0"
    assert check(times, np.array([[0, 3], [2, 0]])) == "operations of jobs 0 and 1 overlap on machine 0"
    assert check(times, np.array([[0, 3]])) == "start times have shape (1, 2), expected (2, 2)"
