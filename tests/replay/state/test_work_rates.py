from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.events import ImplementationId, InstanceKey
from dga2d.events.payloads import WorkRatePoint
from dga2d.replay.state.work_rates import RESOLUTION_S, WorkRates

FAST = ImplementationId("climb.000000000001")
SLOW = ImplementationId("climb.000000000002")


def point(size: int, work: int, cpu_s: float, call_s: float = 0.0) -> WorkRatePoint:
    key = InstanceKey(f"g/{size}")
    return WorkRatePoint(instance=key, size=size, work=work, cpu_s=cpu_s, call_s=call_s)


REFERENCE = WorkRates().with_reference([point(100, 1000, 1.0), point(10_000, 100, 1.0)], seq=7)
"""1,000 units per second on instances of 100 numbers, 100 on those of 10,000."""


def test_units_of_what_counts_six_times_as_much_are_worth_a_sixth() -> None:
    rates = REFERENCE.with_implementation(FAST, [point(100, 3000, 0.5)])
    assert rates.scale(FAST, 100) == 0.167


def test_units_of_what_counts_little_are_worth_more() -> None:
    rates = REFERENCE.with_implementation(SLOW, [point(100, 5, 0.5), point(10_000, 50, 0.5)])
    assert rates.scale(SLOW, 100) == pytest.approx(100.0)
    assert rates.scale(SLOW, 10_000) == pytest.approx(1.0)
    assert rates.scale(SLOW, 1000) == pytest.approx(10.0)  # half way between, as logarithms go
    assert (rates.scale(SLOW, 1), rates.scale(SLOW, 10**9)) == (100.0, 1.0)


def test_a_reference_between_its_sizes_is_interpolated() -> None:
    assert REFERENCE.seconds(1000, 100) == pytest.approx(1.0)
    assert REFERENCE.seconds(1000, 1000) == pytest.approx(1000 / math.sqrt(1000 * 100))
    rates = REFERENCE.with_implementation(FAST, [point(1000, 1000, 1.0)])
    assert rates.scale(FAST, 1000) == 0.316


@pytest.mark.parametrize(
    "unmeasured",
    [
        pytest.param([], id="nothing"),
        pytest.param([point(100, 0, 5.0)], id="no work"),
        pytest.param([point(100, 900, RESOLUTION_S / 2)], id="too short"),
    ],
)
def test_what_cannot_be_measured_counts_as_it_is_charged(unmeasured: list[WorkRatePoint]) -> None:
    rates = REFERENCE.with_implementation(FAST, unmeasured)
    assert rates.scale(FAST, 100) == 1.0
    assert FAST in rates.scales  # and is not measured again
    assert rates.scale(SLOW, 100) == 1.0


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**7)), min_size=1, max_size=4),
    st.floats(1.0, 1e7),
    st.integers(1, 10**7),
)
def test_alike_work_takes_as_long_on_every_size(
    measured: list[tuple[int, int]], work: float, size: int
) -> None:
    points = [point(at, units, 0.5) for at, units in dict(measured).items()]
    first = WorkRates().with_reference(points, 1)
    middle = first.middle
    assert middle is not None
    seconds = first.seconds(work, middle.size)
    assert first.seconds(first.alike(work, size), size) == pytest.approx(seconds)
    assert first.alike(work, middle.size) == pytest.approx(work)
    elsewhere = first.with_reference([point(5, 3, 1.0)], 9)  # another machine
    assert elsewhere.alike(work, size) == first.alike(work, size)


def test_without_rates_all_work_is_alike() -> None:
    assert WorkRates().alike(1000.0, 7) == 1000.0
    assert WorkRates().with_reference([point(100, 900, RESOLUTION_S / 2)], 1).alike(1000.0, 7) == 1000.0


def test_without_a_reference_nothing_is_scaled() -> None:
    rates = (
        WorkRates()
        .with_reference([point(100, 10, 0.0)], seq=3)
        .with_implementation(FAST, [point(100, 3000, 0.5)])
    )
    assert rates.seconds(10, 100) is None
    assert rates.scale(FAST, 100) == 1.0


def test_a_new_reference_leaves_the_scales_of_the_old_one() -> None:
    rates = REFERENCE.with_implementation(FAST, [point(100, 3000, 0.5)])
    on_a_faster_machine = rates.with_reference([point(100, 4000, 1.0)], seq=99)
    assert on_a_faster_machine.scale(FAST, 100) == rates.scale(FAST, 100)
    assert on_a_faster_machine.seconds(4000, 100) == pytest.approx(1.0)


@given(
    st.dictionaries(
        st.integers(1, 10**7), st.tuples(st.integers(1, 10**9), st.floats(RESOLUTION_S, 100.0)), min_size=1
    ),
    st.integers(1, 10**8),
)
def test_a_scale_lies_between_those_measured(points: dict[int, tuple[int, float]], size: int) -> None:
    rates = REFERENCE.with_implementation(FAST, [point(s, *figures) for s, figures in points.items()])
    scales = [scale for _, scale in rates.scales[FAST]]
    assert min(scales) * (0.99) <= rates.scale(FAST, size) <= max(scales) * (1.01)
    for known, scale in rates.scales[FAST]:
        assert rates.scale(FAST, known) == pytest.approx(scale, rel=0.006)


def test_a_call_costs_the_units_that_the_baseline_makes_in_its_time() -> None:
    rates = REFERENCE.with_implementation(FAST, [point(100, 3000, 0.5), point(10_000, 3000, 0.5, 0.03)])
    assert rates.scale(FAST, 10_000) == 0.0167  # what calls take does not make units dearer
    assert rates.call_cost(FAST, 10_000) == pytest.approx(3.0)
    assert rates.call_cost(FAST, 100) == 0.0
    assert rates.call_cost(FAST, 5050) == pytest.approx(1.5)  # linear between
    assert rates.call_cost(FAST, 20_000) == pytest.approx(6.0)  # proportional beyond
    assert rates.call_cost(FAST, 50) == 0.0
    assert rates.call_cost(SLOW, 10_000) == 0.0


def test_calls_that_cost_nothing_leave_no_trace() -> None:
    rates = REFERENCE.with_implementation(FAST, [point(100, 3000, 0.5), point(10_000, 3000, 0.5)])
    assert not rates.calls
    again = rates.with_reference([point(100, 4000, 1.0)], seq=99)
    costly = again.with_implementation(SLOW, [point(100, 3000, 0.5, 0.01)])
    assert costly.call_cost(SLOW, 100) == pytest.approx(40.0)
    assert costly.with_reference([point(100, 10, 1.0)], seq=100).call_cost(SLOW, 100) == pytest.approx(40.0)


def test_a_child_counts_as_its_parent_with_its_calls() -> None:
    child = ImplementationId("climb.000000000003")
    rates = REFERENCE.with_implementation(FAST, [point(100, 3000, 0.5, 0.01)])
    alike = rates.configured_alike(child, FAST)
    assert alike.scale(child, 100) == rates.scale(FAST, 100)
    assert alike.call_cost(child, 200) == rates.call_cost(FAST, 200) > 0.0
    assert rates.configured_alike(child, SLOW) == rates
