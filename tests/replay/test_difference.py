"""How a difference of two decisions is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.events.payloads import RunPaused
from dga2d.replay.difference import SHOWN_CHARS, first_difference, require_same
from dga2d.replay.errors import DecisionMismatchError


def test_the_first_place_is_named_and_both_sides_shown() -> None:
    expected = {"a": [1, 2], "b": "x"}
    assert first_difference(expected, {"a": [1, 3], "b": "y"}, "payload") == ("payload.a[1]", "2", "3")
    assert first_difference(expected, {"a": [1], "b": "x"}, "payload") == ("payload.a[1]", "2", "nothing")
    assert first_difference(expected, {"a": [1, 2]}, "payload") == ("payload.b", '"x"', "nothing")
    assert first_difference(expected, dict(expected), "payload") is None


@given(st.text("ab", max_size=400), st.text("ab", max_size=400))
def test_of_long_texts_the_part_that_differs_is_shown(one: str, other: str) -> None:
    found = first_difference(one, other, "payload.reason")
    assert (found is None) == (one == other)
    if found is not None:
        path, ours, theirs = found
        assert path == "payload.reason"
        assert ours != theirs
        assert max(len(ours), len(theirs)) <= SHOWN_CHARS


def test_a_decision_that_differs_late_in_a_long_text_is_told() -> None:
    text = "x" * 500
    with pytest.raises(DecisionMismatchError, match=r"expected …x+ax+…, got …x+bx+…"):
        require_same(RunPaused(reason=f"{text}a{text}"), RunPaused(reason=f"{text}b{text}"), 7, "conductor")
