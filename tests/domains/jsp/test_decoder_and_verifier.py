"""Decoder, plain decoder and verifier of job shops agree; schedules made by hand."""

from __future__ import annotations

import numpy as np
from tests.domains.jsp import specimens
from tests.domains.scoring_claims import ShopScoring, scored_shop

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.jsp import DOMAIN, verifier


class JobShopClaims(ShopScoring):
    specimen = scored_shop(
        DOMAIN,
        verifier,
        specimens,
        ("machines", "times"),
        highest=7,
        # A work array of 100 jobs: 800 bytes.
        large=lambda: DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "ta71")),
    )


def test_a_schedule_made_by_hand() -> None:
    """Two jobs on two machines: 0 → 1 (3, 2) and 1 → 0 (4, 1); sequence 0 1 0 1 ends at max(6, 5) = 6."""
    data = {
        "machines": np.array([[0, 1], [1, 0]], np.int32),
        "times": np.array([[3, 2], [4, 1]], np.int32),
    }
    instance = Instance("jsp", "hand", "two", data)
    state = State(np.array([0, 1, 0, 1], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 6.0
    assert DOMAIN.verify(instance, state).objective == 6.0
    assert DOMAIN.write_solution(instance, state).splitlines()[2:] == ["2 2 6", "0 4", "0 4"]


def test_the_verifier_names_what_is_broken() -> None:
    machines, times = np.array([[0, 1], [0, 1]], np.int32), np.array([[3, 2], [3, 2]], np.int32)
    check = verifier.schedule_violation
    assert check(machines, times, np.array([[0, 3], [3, 6]])) is None
    assert check(machines, times, np.array([[-1, 3], [3, 6]])) == "an operation starts before time 0"
    assert (
        check(machines, times, np.array([[0, 2], [3, 6]]))
        == "operation 1 of job 0 starts before operation 0 ends"
    )
    assert check(machines, times, np.array([[0, 5], [2, 7]])) == "jobs 0 and 1 overlap on machine 0"
