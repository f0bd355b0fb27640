"""Outcomes by candidate and instance: a mapping whose versions do not disturb one another."""

from __future__ import annotations

import pytest

from dga2d.events import InstanceKey
from dga2d.replay.state.outcomes import EvaluationKey, Outcome, Outcomes

KEYS: list[EvaluationKey] = [(j, InstanceKey(name)) for j in (3, 0, 1) for name in ("b", "a")]
GIVEN = {key: Outcome(float(n), None) for n, key in enumerate(KEYS)}


def test_it_holds_what_was_set_one_by_one_or_row_by_row() -> None:
    one_by_one = Outcomes()
    for key, outcome in GIVEN.items():
        one_by_one = one_by_one.set(key, outcome)
    assert one_by_one == Outcomes.of(GIVEN)
    assert dict(one_by_one) == GIVEN
    assert len(one_by_one) == 6
    assert one_by_one.row(3) == {"b": Outcome(0.0, None), "a": Outcome(1.0, None)}


def test_what_is_added_does_not_show_in_the_version_before() -> None:
    before = Outcomes.of(GIVEN)
    after = before.set((3, InstanceKey("c")), Outcome(9.0, None))
    assert (3, "c") in after
    assert (3, "c") not in before
    assert (len(before), len(after)) == (6, 7)
    assert dict(before) == GIVEN


def test_an_outcome_set_twice_counts_once() -> None:
    replaced = Outcomes.of(GIVEN).set(KEYS[0], Outcome(None, "crashed"))
    assert len(replaced) == 6
    assert replaced[KEYS[0]].failure == "crashed"


def test_a_candidate_fails_on_one_instance_or_more() -> None:
    outcomes = Outcomes.of(GIVEN)
    assert outcomes.failed_candidates == 0
    for key in (KEYS[0], KEYS[1], KEYS[2]):  # candidates 3, 3 and 0
        outcomes = outcomes.set(key, Outcome(None, "timeout"))
    assert outcomes.failed_candidates == 2


def test_what_is_not_there_is_not_found() -> None:
    outcomes = Outcomes.of(GIVEN)
    assert outcomes.row(7) == {}
    assert (7, "a") not in outcomes
    with pytest.raises(KeyError):
        outcomes[0, InstanceKey("z")]
