"""Splits of the paper, and random streams keyed by meaning."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.domains.contract import InstanceRef
from dga2d.domains.splits import SHARES, largest_remainder, split
from dga2d.replay.streams import PURPOSES, spawn_key, stream

JSP_GROUPS = {"abz": 5, "ft": 3, "la": 40, "orb": 10, "swv": 20, "ta": 80, "yn": 4}
"""The groups of the paper's Table of data sets, JSP: 162 instances."""


def refs(**groups: int) -> list[InstanceRef]:
    return [InstanceRef("d", group, f"{group}{i:03}", None) for group, n in groups.items() for i in range(n)]


@pytest.mark.parametrize(
    ("total", "sizes"),
    [
        (0, (0, 0, 0)),
        (1, (1, 0, 0)),
        (2, (1, 1, 0)),
        (3, (2, 1, 0)),
        (4, (2, 1, 1)),
        (5, (3, 1, 1)),
        (40, (24, 8, 8)),
        (41, (25, 8, 8)),
    ],
)
def test_sizes_by_largest_remainder(total: int, sizes: tuple[int, int, int]) -> None:
    assert largest_remainder(total, SHARES) == sizes


@given(st.integers(0, 500), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_sizes_sum_to_the_total_and_are_off_by_less_than_one(total: int, weights: list[int]) -> None:
    shares = [w / sum(weights) for w in weights]
    sizes = largest_remainder(total, shares)
    assert sum(sizes) == total
    assert all(
        math.floor(total * s - 1e-6) <= size <= math.ceil(total * s + 1e-6)
        for size, s in zip(sizes, shares, strict=True)
    )


def test_groups_are_split_each_on_its_own() -> None:
    assert sum(JSP_GROUPS.values()) == 162
    assert tuple(map(len, split(refs(**JSP_GROUPS)))) == (97, 33, 32)
    assert tuple(map(len, split(refs(a=1, b=1, c=1)))) == (3, 0, 0)  # the whole at once: (2, 1, 0)


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 30), min_size=1))
def test_parts_are_disjoint_complete_and_do_not_depend_on_the_order(groups: dict[str, int]) -> None:
    every = refs(**groups)
    parts = split(every)
    keys = [ref.key for part in parts for ref in part]
    assert sorted(keys) == sorted(ref.key for ref in every)
    assert split(reversed(every)) == parts
    assert split(every).digest() == parts.digest()
    for group, n in groups.items():
        sizes = tuple(sum(ref.group == group for ref in part) for part in parts)
        assert sizes == largest_remainder(n, SHARES)


def test_streams_are_told_apart_by_purpose_and_keys_and_repeat() -> None:
    keys = [(purpose, t, j) for purpose in PURPOSES for t in (1, 2) for j in (0, 1)]
    draws = [stream(1, *key).random() for key in keys]
    assert len(set(draws)) == len(draws)
    assert draws == [stream(1, *key).random() for key in keys]
    assert draws[0] != stream(2, *keys[0]).random()
    assert len(set(PURPOSES.values())) == len(PURPOSES)


def test_an_unknown_purpose_is_refused() -> None:
    with pytest.raises(KeyError):
        spawn_key("lunch")
