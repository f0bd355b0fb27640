"""Splits of the paper, and random streams keyed by meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.splits import part_sizes, split
from dga2d.replay.streams import PURPOSES, spawn_key, stream

JSP_GROUPS = {"abz": 5, "ft": 3, "la": 40, "orb": 10, "swv": 20, "ta": 80, "yn": 4}
"""The groups of the paper's Table of data sets, JSP: 162 instances."""


def refs(**groups: int) -> list[InstanceRef]:
    return [InstanceRef("d", group, f"{group}{i:03}", None) for group, n in groups.items() for i in range(n)]


@pytest.mark.parametrize(
    ("total", "sizes"),
    [(1, (1, 0, 0)), (2, (1, 0, 1)), (3, (1, 1, 1)), (4, (2, 1, 1)), (5, (3, 1, 1)), (18, (10, 3, 5)),
     (40, (24, 8, 8)), (198, (118, 39, 41))],
)  # fmt: skip
def test_sizes_of_the_parts_of_a_group(total: int, sizes: tuple[int, int, int]) -> None:
    assert part_sizes(total) == sizes


PAPER = {
    "cvrp": ((27, 23, 14, 13, 3, 20, 5, 24, 13), (81, 25, 36)),
    "fjsp": ((21, 60, 15, 18, 20, 198, 4), (199, 66, 71)),
    "fssp": ((10,) * 11, (66, 22, 22)),
    "jsp": ((5, 3, 40, 10, 20, 80, 4), (96, 33, 33)),
    "maxcut": ((41,), (24, 8, 9)),
    "ossp": ((10,) * 6, (36, 12, 12)),
    "rcpsp": ((480,), (288, 96, 96)),
    "tsp": ((35,), (21, 7, 7)),
}
"""Sizes of the published groups, and of the splits in the paper's table of benchmark groups."""


@pytest.mark.parametrize("domain", PAPER)
def test_split_sizes_are_the_papers(domain: str) -> None:
    groups, expected = PAPER[domain]
    assert tuple(map(sum, zip(*map(part_sizes, groups), strict=True))) == expected


def test_groups_are_split_each_on_its_own() -> None:
    assert sum(JSP_GROUPS.values()) == 162
    assert tuple(map(len, split(refs(**JSP_GROUPS)))) == (96, 33, 33)
    assert tuple(map(len, split(refs(a=1, b=1, c=1)))) == (3, 0, 0)  # the whole at once: (1, 1, 1)


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
        assert sizes == part_sizes(n)


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
