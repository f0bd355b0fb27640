"""The quick copy does what ``dataclasses.replace`` does."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import pytest

from dga2d.replay.state.handler import amend, replace


@dataclasses.dataclass(frozen=True)
class Record:
    first: int
    second: str = "a"

    @cached_property
    def double(self) -> int:
        return 2 * self.first


def test_a_copy_has_the_changes_and_the_rest() -> None:
    record = Record(1)
    copy = replace(record, first=3)
    assert copy == dataclasses.replace(record, first=3) == Record(3, "a")
    assert record == Record(1, "a")
    assert hash(copy) == hash(Record(3, "a"))


def test_what_was_derived_from_the_old_values_is_not_copied() -> None:
    record = Record(1)
    assert record.double == 2
    assert replace(record, first=3).double == 6
    assert replace(record, second="b").double == 2


@pytest.mark.parametrize("derived", [False, True])
def test_an_unknown_field_is_refused(derived: bool) -> None:
    record = Record(1)
    assert not derived or record.double == 2
    with pytest.raises(TypeError, match="Record has no field third"):
        replace(record, third=1)  # type: ignore[call-arg]


def test_a_copy_stays_frozen() -> None:
    copy = replace(Record(1), first=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        copy.first = 3  # type: ignore[misc]


def test_stamping_changes_a_fresh_copy_in_place() -> None:
    fresh = replace(Record(1), first=2)
    assert amend(fresh, second="b") is fresh
    assert fresh == Record(2, "b")
