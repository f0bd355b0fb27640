"""Tunables found, rewritten, varied, and moved away from worse values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.proposing.variation import (
    place_in_range,
    rewrite,
    step_away,
    value_at,
    value_beside,
    vary,
)
from dga2d.domains.core.tunables import Tunable, find_tunables, tunable_faults


def test_all_kinds_are_found_and_text_in_strings_is_not(parent_source: str) -> None:
    found = [(t.name, t.kind, t.value, t.low, t.high, t.choices) for t in find_tunables(parent_source)]
    assert found == [
        ("ROUNDS", "int", 3, 1.0, 20.0, ()),
        ("NOISE", "float", 0.25, 0.0, 2.0, ()),
        ("PATIENCE", "int", 1000, 10.0, 100000.0, ()),
        ("RULE", "choice", "spt", 0.0, 0.0, ("spt", "lpt", "mwkr")),
    ]
    assert tunable_faults(parent_source) == ()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A = -3  # tunable: int -5..5", -3),
        ("A = 1e-4  # tunable: float 1e-6..1e-2", 1e-4),
        ("A=5#tunable: int 1..9", 5),
        ("A = 5  # tunable:  int  1..9  ", 5),
        ("A = True  # tunable: choice True False", True),
        ("A = 16  # tunable: choice 8 16 32", 16),
        ("A = 'x'  # tunable: choice 'x', 'y'", "x"),
        ("A = 70_000  # tunable: int 10_000..100_000", 70_000),
    ],
)
def test_a_marker_is_read_in_any_usual_spelling(line: str, value: Any) -> None:
    (tunable,) = find_tunables(line)
    assert tunable.value == value
    assert tunable.can_vary


@pytest.mark.parametrize(
    "line",
    [
        "A = 5  # tunable: int 9..1",
        "A = 5.0  # tunable: float -1e308..1e308",
        "A = {[1]}  # tunable: choice 1 2",
        "A = (1, 2)  # tunable: choice 1 2",
        "A = [1]  # tunable: choice [1] [2]",
        "A = 5  # tunable: choice [5] {}",
        "A = 5  # tunable: int 1-9",
        "A = 5  # tunable: int",
        "A = 5  # tunable: integer 1..9",
        "A = 5  # tunable int 1..9",
        "A = 50  # tunable: int 1..9",
        "A = 5.0  # tunable: int 1..9",
        "A = 5  # tunable: float 1..9",
        "A = True  # tunable: int 0..1",
        "A = 5  # tunable: int 0.5..9.5",
        "A = 5.0  # tunable: float 0..inf",
        "A = 5.0  # tunable: float nan..9",
        "A = 'z'  # tunable: choice x y",
        "A = B = 5  # tunable: int 1..9",
        "A, B = 5, 6  # tunable: int 1..9",
        "A = [5]  # tunable: int 1..9",
        "A = len('x')  # tunable: int 1..9",
    ],
)
def test_a_marker_that_declares_nothing_usable_is_named_and_left_alone(line: str) -> None:
    source = f"B = 1\n{line}\n"
    assert find_tunables(source) == ()
    (fault,) = tunable_faults(source)
    assert fault.line == 2


names = st.from_regex(r"[A-Z][A-Z_0-9]{0,8}", fullmatch=True)
filler = st.sampled_from(
    ["", "# äöü 𝛼 …", "X_ = 'Straße'", "def f():\n    return '''\nA = 1  # tunable: int 0..9\n'''", "\t# tab"]
)


@st.composite
def declared(draw: st.DrawFn) -> tuple[str, Any, str, Any]:
    """Value text, value, declaration and another value in range."""
    kind = draw(st.sampled_from(["int", "float", "choice"]))
    if kind == "int":
        low, high = sorted(draw(st.tuples(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))))
        value, other = draw(st.integers(low, high)), draw(st.integers(low, high))
        return repr(value), value, f"int {low}..{high}", other
    if kind == "float":
        finite = st.floats(-1e6, 1e6)
        low_f, high_f = sorted(draw(st.tuples(finite, finite)))
        inside = st.floats(low_f, high_f)
        value_f, other_f = draw(inside), draw(inside)
        return repr(value_f), value_f, f"float {low_f!r}..{high_f!r}", other_f
    words = draw(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, unique=True))
    word, another = draw(st.sampled_from(words)), draw(st.sampled_from(words))
    return f"'{word}'", word, "choice " + " ".join(words), another


@given(
    st.lists(st.tuples(names, declared(), filler), min_size=1, max_size=6, unique_by=lambda item: item[0]),
    st.sampled_from(["\n", "\r\n"]),
    st.data(),
)
def test_rewriting_changes_the_value_and_no_other_byte(
    items: list[tuple[str, tuple[str, Any, str, Any], str]], line_end: str, data: st.DataObject
) -> None:
    def text(values: dict[str, str]) -> str:
        lines = []
        for name, (literal, _, declaration, _), between in items:
            lines += [between, f"{name}  =  {values.get(name, literal)} # tunable: {declaration}"]
        return line_end.join(lines).replace("\r\n", "\n").replace("\n", line_end)

    picked = data.draw(st.sets(st.sampled_from([name for name, _, _ in items])))
    new = {name: other for name, (_, _, _, other), _ in items if name in picked}
    changed = {
        name: f'"{other}"' if isinstance(other, str) else repr(other)
        for name, (_, value, _, other), _ in items
        if name in picked and other != value
    }
    assert rewrite(text({}), new) == text(changed)
    found = {tunable.name: tunable.value for tunable in find_tunables(rewrite(text({}), new))}
    assert found == {name: new.get(name, value) for name, (_, value, _, _), _ in items}


@pytest.mark.parametrize(
    "values", [{"FIXED": 3}, {"ROUNDS": 21}, {"ROUNDS": 2.0}, {"RULE": "fdd"}, {"NOISE": 1}]
)
def test_rewriting_refuses_what_is_not_declared(parent_source: str, values: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        rewrite(parent_source, values)


@st.composite
def tunables(draw: st.DrawFn) -> Tunable:
    if draw(st.booleans()):
        low, width = draw(st.integers(-50, 1000)), draw(st.integers(1, 10**5))
        value: Any = draw(st.integers(low, low + width))
        return Tunable("T", "int", value, low, low + width)
    low_f, width_f = draw(st.floats(1e-6, 10.0)), draw(st.floats(0.1, 1e4))
    return Tunable("T", "float", draw(st.floats(low_f, low_f + width_f)), low_f, low_f + width_f)


@given(tunables(), st.integers(0, 2**32))
def test_a_varied_value_is_another_one_within_the_range(tunable: Tunable, seed: int) -> None:
    value = vary(tunable, np.random.default_rng(seed))
    assert tunable.accepts(value)
    assert value != tunable.value
    assert value == vary(tunable, np.random.default_rng(seed))


@given(tunables(), st.floats(0.0, 1.0), st.data())
def test_a_step_away_stays_in_range_and_never_comes_nearer(
    tunable: Tunable, factor: float, data: st.DataObject
) -> None:
    if tunable.kind == "int":
        worse: Any = data.draw(st.integers(int(tunable.low), int(tunable.high)))
    else:
        worse = data.draw(st.floats(tunable.low, tunable.high))
    value = step_away(tunable, worse, factor)
    if worse == tunable.value:
        assert value is None
        return
    assert isinstance(value, int | float)
    assert isinstance(tunable.value, int | float)
    assert tunable.accepts(value)
    slack = 1e-3 * (abs(tunable.value) + abs(tunable.low) + abs(worse)) if tunable.kind == "float" else 0.0
    assert abs(value - worse) >= abs(tunable.value - worse) - slack


@given(tunables(), st.floats(0.001, 2.0), st.booleans())
def test_a_value_beside_is_in_range_on_its_side_and_another_one_where_there_is_room(
    tunable: Tunable, distance: float, is_up: bool
) -> None:
    assert isinstance(tunable.value, int | float)
    here = place_in_range(tunable, tunable.value)
    assert here is not None
    value = value_beside(tunable, here + distance if is_up else here - distance)
    assert isinstance(value, int | float)
    assert tunable.accepts(value)
    slack = 1e-3 * abs(tunable.value) if tunable.kind == "float" else 0.0
    assert value >= tunable.value - slack if is_up else value <= tunable.value + slack
    if tunable.kind == "int" and tunable.value != (tunable.high if is_up else tunable.low):
        assert value != tunable.value


@given(tunables())
def test_values_at_the_ends_of_a_range_are_its_ends(tunable: Tunable) -> None:
    assert value_at(tunable, -0.1) == value_at(tunable, 0.0) == pytest.approx(tunable.low, rel=1e-3)
    assert value_at(tunable, 1.1) == value_at(tunable, 1.0) == pytest.approx(tunable.high, rel=1e-3)


def test_every_choice_and_every_value_of_a_small_range_is_reached() -> None:
    rng = np.random.default_rng(0)
    rule = Tunable("RULE", "choice", "a", choices=("a", "b", "c", "d"))
    assert {vary(rule, rng) for _ in range(100)} == {"b", "c", "d"}
    small = Tunable("N", "int", 3, 1, 6)
    assert {vary(small, rng) for _ in range(200)} == {1, 2, 4, 5, 6}


def test_wide_ranges_are_varied_by_factors() -> None:
    rng = np.random.default_rng(0)
    wide = Tunable("PATIENCE", "int", 1000, 10, 100_000)
    values = [vary(wide, rng) for _ in range(400)]
    below = sum(isinstance(value, int) and value < 1000 for value in values)
    assert 0.35 < below / 400 < 0.65  # 1000 is the geometric middle; on a linear scale 1 % lie below
