from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.domains.budget import SMALLEST_SHARE, Budget, bounded_shares


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_first_of_three_positions_may_use_a_third() -> None:
    clock = HandClock()
    budget = Budget(90.0, "s", 3, clock)
    assert budget.remaining() == 1.0
    clock.now += 15.0
    assert budget.remaining() == 0.5
    assert not budget.exhausted()
    clock.now += 15.0
    assert budget.exhausted()
    assert budget.remaining() == 0.0


def test_what_a_position_leaves_goes_to_its_successors() -> None:
    clock = HandClock()
    budget = Budget(90.0, "s", 3, clock)
    clock.now += 10.0
    budget.next_position()  # 80 s are left for two: 40 s each
    clock.now += 39.0
    assert not budget.exhausted()
    clock.now += 1.0
    assert budget.exhausted()
    budget.next_position()
    clock.now += 39.0
    assert not budget.exhausted()
    clock.now += 1.0
    assert budget.exhausted()
    assert budget.spent() == 90.0


def test_a_position_that_overruns_takes_from_its_successors() -> None:
    clock = HandClock()
    budget = Budget(10.0, "s", 2, clock)
    clock.now += 9.0
    budget.next_position()
    assert not budget.exhausted()
    clock.now += 1.0
    assert budget.exhausted()


def test_after_the_whole_is_spent_every_share_is_empty() -> None:
    budget = Budget(10, "work", 2)
    budget.charge(25)
    budget.next_position()
    assert budget.exhausted()
    assert budget.remaining() == 0.0


def test_a_work_budget_never_reads_the_clock() -> None:
    readings = 0

    def clock() -> float:
        nonlocal readings
        readings += 1
        return float(readings)

    budget = Budget(100, "work", 2, clock)
    readings = 0
    budget.charge(20)
    assert not budget.exhausted()
    assert budget.remaining() == 0.6
    budget.next_position()
    budget.charge(80)
    assert budget.exhausted()
    assert budget.spent() == 100.0
    assert readings == 0


def test_work_is_counted_under_a_time_budget_but_spends_nothing() -> None:
    budget = Budget(1.0, "s", 1, HandClock())
    budget.charge(10**9)
    assert budget.work == 10**9
    assert budget.spent() == 0.0


@pytest.mark.parametrize("amount", [0, -1, float("nan")])
def test_an_amount_that_is_not_above_zero_is_refused(amount: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Budget(amount, "s", 1)


def test_no_positions_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one position"):
        Budget(1.0, "s", 0)


@pytest.mark.parametrize("units", [-1, float("nan"), float("inf")])
def test_what_is_no_amount_of_work_is_refused(units: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        Budget(1.0, "work", 1).charge(units)


def test_parts_of_a_unit_count() -> None:
    budget = Budget(10, "work", 1)
    for _ in range(40):
        budget.charge(0.25)
    assert (budget.spent(), budget.work) == (10.0, 10)
    assert budget.exhausted()


@given(st.integers(1, 10_000), st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_positions_that_stop_when_told_never_overspend(amount: int, chunks: list[int]) -> None:
    """Each position charges single units until its share is used up or its own wish is fulfilled."""
    budget = Budget(amount, "work", len(chunks))
    for position, wish in enumerate(chunks):
        if position:
            budget.next_position()
        for _ in range(wish):
            if budget.exhausted():
                break
            budget.charge(1)
    assert budget.work <= amount


def test_units_count_by_the_scale_of_their_position() -> None:
    budget = Budget(120, "work", 2, scales=(4.0, 0.5))
    budget.charge(10)
    assert budget.work == 40
    assert budget.remaining() == pytest.approx(1 / 3)
    budget.next_position()  # 80 are left
    budget.charge(159)
    assert not budget.exhausted()
    budget.charge(1)
    assert budget.exhausted()
    assert budget.work == 120


def test_charged_work_is_rounded_down_only_when_it_is_reported() -> None:
    budget = Budget(10, "work", 1, scales=(0.25,))
    for _ in range(7):
        budget.charge(1)
    assert budget.work == 1
    budget.charge(1)
    assert budget.work == 2


@pytest.mark.parametrize("scales", [(1.0,), (1.0, 0.0), (1.0, float("inf")), (1.0, -1.0), (1.0, 1.0, 1.0)])
def test_scales_are_one_positive_number_for_each_position(scales: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 scales above 0"):
        Budget(10, "work", 2, scales=scales)


def test_what_all_calls_take_is_taken_off_before_positions_share_the_rest() -> None:
    budget = Budget(100, "work", 2, call_costs=(10.0, 30.0))
    assert budget.work == 10  # the call of the first position
    budget.charge(29)
    assert not budget.exhausted()
    assert budget.remaining() == pytest.approx(1 / 30)
    budget.charge(1)
    assert budget.exhausted()
    budget.next_position()
    assert budget.work == 70
    assert budget.remaining() == 1.0
    budget.charge(30)
    assert budget.exhausted()
    assert budget.work == 100


def test_calls_that_take_more_than_there_is_leave_a_little() -> None:
    budget = Budget(100, "work", 2, call_costs=(80.0, 90.0))
    budget.charge(1)
    assert budget.exhausted()
    budget.next_position()
    budget.charge(1)
    assert budget.exhausted()
    assert budget.work == 172


def test_a_walk_that_repeats_counts_no_calls() -> None:
    budget = Budget(100, "work", 2, scales=(3.0, 1.0), call_costs=(10.0, 30.0))
    budget.put_together()
    budget.charge(99)
    assert not budget.exhausted()
    budget.charge(1)
    assert budget.exhausted()
    assert budget.work == 100


@given(
    st.integers(1, 10_000),
    st.lists(st.tuples(st.floats(0.01, 100.0), st.floats(0.0, 50.0)), min_size=1, max_size=8),
)
def test_positions_that_use_up_their_shares_spend_the_budget_with_their_calls(
    amount: int, positions: list[tuple[float, float]]
) -> None:
    shares, costs = zip(*positions, strict=True)
    budget = Budget(amount, "work", len(positions), shares=shares, call_costs=costs)
    units = 0
    for position in range(len(positions)):
        if position:
            budget.next_position()
        while not budget.exhausted():
            budget.charge(1)
            units += 1
    left = max(amount - sum(costs), 0.02 * amount)
    assert left - 1e-6 <= units < left + len(positions)
    assert budget.work == int(units + sum(costs))


@pytest.mark.parametrize("costs", [(1.0,), (1.0, -1.0), (1.0, float("inf")), (1.0, 1.0, 1.0)])
def test_costs_of_calls_are_one_number_from_0_for_each_position(costs: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 costs of calls"):
        Budget(10, "work", 2, call_costs=costs)


def test_a_position_has_its_share_of_what_remains() -> None:
    budget = Budget(100, "work", 3, shares=(2.0, 6.0, 2.0))
    budget.charge(20)
    assert budget.exhausted()
    budget.next_position()  # 80 are left for shares 6 and 2
    budget.charge(20)
    assert not budget.exhausted()  # it stops early
    budget.next_position()
    budget.charge(59)
    assert not budget.exhausted()
    budget.charge(1)
    assert budget.exhausted()


def test_no_share_is_below_the_smallest() -> None:
    assert bounded_shares(()) == ()
    assert bounded_shares((1.0, 3.0)) == (0.25, 0.75)
    assert bounded_shares((1e-9, 1.0, 3.0)) == pytest.approx((SMALLEST_SHARE, 0.245, 0.735))
    # 0.021 of the whole falls below the bound when the first is lifted to it
    assert bounded_shares((1e-9, 0.0201, 0.9799)) == pytest.approx((0.02, 0.02, 0.96))


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=60))
def test_bounded_shares_are_fractions_of_the_whole(shares: list[float]) -> None:
    found = bounded_shares(shares)
    assert sum(found) == pytest.approx(1.0)
    assert min(found) >= min(SMALLEST_SHARE, 1.0 / len(shares))


@pytest.mark.parametrize("shares", [(1.0,), (1.0, 0.0), (1.0, float("inf")), (1.0, -1.0), (1.0, 1.0, 1.0)])
def test_shares_are_one_positive_number_for_each_position(shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 shares above 0"):
        Budget(10, "work", 2, shares=shares)
