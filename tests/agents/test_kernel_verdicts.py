"""When a new kernel counts as clearly faster."""

from __future__ import annotations

import pytest

from dga2d.agents.kernel_trials import judge_speed
from dga2d.events import ImplementationId, InstanceKey
from dga2d.events.payloads import KernelPair


def pairs(*times: tuple[float, float], host: str = "a.1") -> list[KernelPair]:
    return [
        KernelPair(
            host=ImplementationId(host), instance=InstanceKey("g/i"), before_s=before, after_s=after, work=9
        )
        for before, after in times
    ]


def test_the_factor_is_the_geometric_mean_over_the_pairs() -> None:
    found = judge_speed(pairs(*[(0.2, 0.1), (0.8, 0.1)] * 4))
    assert found.factor == pytest.approx(4.0)
    assert found.is_faster
    assert "4.000 times as fast in 8 pairs of runs, 8 of them faster" in found.reason


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (pairs(*[(0.2, 0.1)] * 5), "5 pairs of runs, 6 are needed"),
        (pairs(*[(0.2, 0.199)] * 12), "not clearly faster: 1.005"),
        (pairs(*[(0.2, 0.2)] * 12), "12 pairs of runs, 0 of them faster"),
        (pairs(*[(0.4, 0.1)] * 6, *[(0.1, 0.11)] * 4), "not clearly faster"),  # a few large gains are no sign
        (pairs(*[(0.2, 0.1)] * 12) + pairs((0.2, 0.25), host="b.1"), "b.1 becomes slower"),
        ([], "0 pairs"),
    ],
)
def test_what_is_not_clear_is_no_gain(measured: list[KernelPair], words: str) -> None:
    found = judge_speed(measured)
    assert not found.is_faster
    assert words in found.reason
