"""Decoder, plain decoder and verifier of flow shops agree; schedules made by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from tests.domains.fssp import specimens
from tests.domains.scoring_claims import ShopScoring, scored_shop

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.fssp import DOMAIN, verifier


class FlowShopClaims(ShopScoring):
    specimen = scored_shop(
        DOMAIN,
        verifier,
        specimens,
        ("times",),
        highest=7,
        # A work array of 200 jobs: 1600 bytes.
        large=lambda: DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "tfs110")),
    )


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
