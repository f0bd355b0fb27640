"""The check of packings as geometry names what is broken, and shares nothing with the placement."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from dga2d.domains.shared.packing import geometry
from dga2d.domains.shared.packing.geometry import Packing, packing_violation, rebuild

SIZE = (4, 4, 4)
TURNS = [[(2, 2, 4)], [(2, 4, 4), (4, 2, 4)], [(2, 2, 2)]]


def packing(bins: list[int], low: list[list[int]], high: list[list[int]]) -> Packing:
    return Packing(np.array(bins, np.int64), np.array(low, np.int64), np.array(high, np.int64))


GOOD_LOW, GOOD_HIGH = [[0, 0, 0], [2, 0, 0], [0, 2, 0]], [[2, 2, 4], [4, 4, 4], [2, 4, 2]]


def test_a_feasible_packing_passes() -> None:
    assert packing_violation(packing([0, 0, 0], GOOD_LOW, GOOD_HIGH), TURNS, SIZE, one_bin=True) is None
    assert packing_violation(packing([0, 1, 1], GOOD_LOW, GOOD_HIGH), TURNS, SIZE, one_bin=False) is None


@pytest.mark.parametrize(
    ("bins", "change", "one_bin", "message"),
    [
        ([0, 0, 0], (2, [0, 1, 0], [2, 3, 2]), True, "items 0 and 2 overlap"),
        ([0, 0, 0], (2, [0, 3, 0], [2, 5, 2]), True, "item 2 sticks out"),
        ([0, 0, 0], (2, [0, 2, -1], [2, 4, 1]), True, "item 2 sticks out"),
        ([0, 0, 0], (2, [0, 2, 0], [2, 4, 3]), True, "not permitted"),
        ([0, 1, 0], (2, [0, 2, 0], [2, 4, 2]), True, "second container"),
        ([0, 0, -1], (2, [0, 0, 0], [0, 0, 0]), False, "lies in no bin"),
        ([0, 2, 0], (2, [0, 2, 0], [2, 4, 2]), False, "a bin is empty"),
    ],
)
def test_each_fault_is_named(
    bins: list[int], change: tuple[int, list[int], list[int]], one_bin: bool, message: str
) -> None:
    low, high = [list(row) for row in GOOD_LOW], [list(row) for row in GOOD_HIGH]
    low[change[0]], high[change[0]] = change[1:]
    violation = packing_violation(packing(bins, low, high), TURNS, SIZE, one_bin=one_bin)
    assert violation is not None
    assert message in violation


def test_points_are_tried_by_z_then_y_then_x_and_orientations_in_their_order() -> None:
    found = rebuild(np.array([0, 2, 1]), TURNS, SIZE, one_bin=False)
    assert found.low.tolist() == [[0, 0, 0], [0, 2, 0], [2, 0, 0]]
    assert found.bins.tolist() == [0, 0, 0]


def test_what_finds_no_place_is_left_out_or_opens_a_bin() -> None:
    two = [[(3, 3, 3)], [(3, 3, 3)]]
    assert rebuild(np.array([1, 0]), two, SIZE, one_bin=True).bins.tolist() == [-1, 0]
    assert rebuild(np.array([1, 0]), two, SIZE, one_bin=False).bins.tolist() == [1, 0]


def test_the_geometry_does_not_import_the_placement() -> None:
    tree = ast.parse(inspect.getsource(geometry))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any("library" in module or "numba" in module for module in imported)
