"""Every definition of edge lengths in TSPLIB, and edges that a tour must have."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from dga2d.domains.core.contract import State
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.tsp.decoder import make_decoder
from dga2d.domains.tsp.domain import TspDomain
from dga2d.domains.tsp.reader import EDGE_TYPES, length_matrix, operator_environment, read_tsplib
from dga2d.domains.tsp.verifier import edge_length, verified_objective, verify_tour

BURMA = """16.47 96.10|16.47 94.44|20.09 92.54|22.39 93.37|25.23 97.24|22.00 96.05|20.47 97.02|17.20 96.29
16.30 97.38|14.05 98.12|16.53 97.38|21.52 95.59|19.41 97.13|20.09 94.55"""
"""burma14, latitude and longitude as degrees and minutes."""
BURMA_OPTIMUM = 3323
GR17 = """633 257 390 91 661 228 412 227 169 383 150 488 112 120 267 80 572 196 77 351 63 134 530 154 105
309 34 29 259 555 372 175 338 264 232 249 505 289 262 476 196 360 444 402 495 353 282 110 324 61
208 292 250 352 154 324 638 437 240 421 329 297 314 95 578 435 70 567 191 27 346 83 47 68 189
439 287 254 211 466 74 182 243 105 150 108 326 336 184 391 145 268 420 53 239 199 123 207 165
383 240 140 448 202 57 246 745 472 237 528 364 332 349 202 685 542 157 289 426 483 121 518 142
84 297 35 29 36 236 390 238 301 55 96 153 336"""
"""gr17: the lower triangle."""
GR17_OPTIMUM = 2085


def write(folder: Path, *lines: str) -> Path:
    path = folder / "t.tsp"
    path.write_text("\n".join(["NAME : t", "TYPE : TSP", *lines, "EOF", ""]), encoding="utf-8")
    return path


def burma(folder: Path) -> Path:
    cities = [f"{k} {city}" for k, city in enumerate(BURMA.replace("\n", "|").split("|"), 1)]
    return write(folder, "DIMENSION: 14", "EDGE_WEIGHT_TYPE: GEO", "NODE_COORD_SECTION", *cities)


def gr17(folder: Path) -> Path:
    head = ("DIMENSION: 17", "EDGE_WEIGHT_TYPE: EXPLICIT", "EDGE_WEIGHT_FORMAT: LOWER_ROW")
    return write(folder, *head, "EDGE_WEIGHT_SECTION", GR17)


def shortest(lengths: NDArray[np.int64]) -> int:
    """Return the length of a shortest tour (Held and Karp, 1962)."""
    n = len(lengths)
    cost = np.full((1 << (n - 1), n - 1), 2**40, dtype=np.int64)
    cost[1 << np.arange(n - 1), np.arange(n - 1)] = lengths[0, 1:]
    for visited in range(1, 1 << (n - 1)):
        into = (cost[visited][:, None] + lengths[1:, 1:]).min(axis=0)
        for last in range(n - 1):
            if not visited >> last & 1:
                longer = visited | 1 << last
                cost[longer, last] = min(cost[longer, last], into[last])
    return int((cost[-1] + lengths[1:, 0]).min())


def test_the_optimum_of_a_published_instance_in_degrees(tmp_path: Path) -> None:
    assert shortest(length_matrix(read_tsplib(burma(tmp_path)).data())) == BURMA_OPTIMUM


@pytest.mark.slow
def test_the_optimum_of_a_published_matrix(tmp_path: Path) -> None:
    assert shortest(length_matrix(read_tsplib(gr17(tmp_path)).data())) == GR17_OPTIMUM


def test_a_published_tour_of_a_published_instance(tmp_path: Path) -> None:
    tour = np.array([1, 2, 14, 3, 4, 5, 6, 12, 7, 13, 8, 11, 9, 10], np.int32) - np.int32(1)
    assert verify_tour(read_tsplib(burma(tmp_path)).data(), tour).objective == BURMA_OPTIMUM


@pytest.mark.parametrize(
    ("edge_type", "length"),
    [("EUC_2D", 5), ("CEIL_2D", 6), ("MAN_2D", 7), ("MAX_2D", 5), ("ATT", 2), ("GEO", 591)],
)
def test_lengths_worked_out_by_hand(edge_type: str, length: int) -> None:
    """(0, 0) to (5, 2): sqrt(29) = 5.39, 7, 5, sqrt(2.9) = 1.70; on the globe 5 degrees north, 2 east."""
    by_hand = {"GEO": int(6378.388 * np.arccos(np.cos(np.radians(5)) * np.cos(np.radians(2))) + 1)}
    assert edge_length(edge_type, (0.0, 0.0), (5.0, 2.0)) == by_hand.get(edge_type, length)


@pytest.mark.parametrize("edge_type", [name for name in EDGE_TYPES if name != "EXPLICIT"])
@given(points=arrays(np.float64, (5, 2), elements=st.integers(-8999, 8999).map(lambda k: k / 100)))
def test_the_matrix_is_what_the_verifier_measures(edge_type: str, points: NDArray[np.float64]) -> None:
    matrix = length_matrix({"coords": points, "edge_type": edge_type})
    for a, one in enumerate(points.tolist()):
        for b, other in enumerate(points.tolist()):
            assert matrix[a, b] == (edge_length(edge_type, one, other) if a != b else 0)


@pytest.mark.parametrize(
    "edge_format", ["FULL_MATRIX", "UPPER_ROW", "LOWER_DIAG_ROW", "UPPER_COL", "LOWER_DIAG_COL"]
)
def test_every_form_of_a_matrix_is_the_same_instance(tmp_path: Path, edge_format: str) -> None:
    full = length_matrix(read_tsplib(gr17(tmp_path)).data())
    rows = {
        "FULL_MATRIX": full.ravel(),
        "UPPER_ROW": full[np.triu_indices(17, 1)],
        "LOWER_DIAG_ROW": full[np.tril_indices(17)],
        "UPPER_COL": full.T[np.tril_indices(17, -1)],
        "LOWER_DIAG_COL": full.T[np.triu_indices(17)],
    }[edge_format]
    head = ("DIMENSION: 17", "EDGE_WEIGHT_TYPE: EXPLICIT", f"EDGE_WEIGHT_FORMAT: {edge_format}")
    path = write(tmp_path, *head, "EDGE_WEIGHT_SECTION", " ".join(map(str, rows)))
    np.testing.assert_array_equal(length_matrix(read_tsplib(path).data()), full)


FIXED = ("DIMENSION: 6", "EDGE_WEIGHT_TYPE: EUC_2D", "NODE_COORD_SECTION")
CITIES = ("1 0 0", "2 10 0", "3 20 0", "4 30 0", "5 30 9", "6 20 11")


def fixed(folder: Path, *section: str) -> dict[str, Any]:
    return read_tsplib(write(folder, *FIXED, *CITIES, "FIXED_EDGES_SECTION", *section)).data()


def test_a_tour_without_a_fixed_edge_is_no_solution(tmp_path: Path) -> None:
    data = fixed(tmp_path, "1 4", "-1")
    assert verify_tour(data, np.arange(6, dtype=np.int32)).violation == (
        "the fixed edge between cities 0 and 3 is not in the tour"
    )


def test_fixed_edges_are_in_the_shortest_tours_of_the_operators(tmp_path: Path) -> None:
    data = fixed(tmp_path, "1 4 2 6", "-1")
    environment = operator_environment(data)
    decode = make_decoder(environment)
    tours = [np.array((0, *rest), np.int32) for rest in permutations(range(1, 6))]
    best = min(tours, key=lambda tour: decode(State(tour)))
    lengths = [
        verdict.objective for tour in tours if (verdict := verify_tour(data, tour)).objective is not None
    ]
    assert decode(State(best)) == min(lengths) == verified_objective(environment, State(best)).objective


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        (("1 4",), "then -1"),
        (("1 7", "-1"), "cities in 1..6"),
        (("1 4", "4 1", "-1"), "fixed twice"),
        (("1 2", "1 3", "1 4", "-1"), "three fixed edges"),
        (("1 2", "2 3", "3 1", "-1"), "a cycle"),
    ],
)
def test_fixed_edges_that_no_tour_has_are_refused(
    tmp_path: Path, section: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(InstanceFormatError, match=reason):
        fixed(tmp_path, *section)


def test_operators_solve_an_instance_without_points(tmp_path: Path) -> None:
    domain = TspDomain()
    data = domain.read(gr17(tmp_path))
    environment = operator_environment(data)
    assert environment["coords"].shape == (17, 2)
    assert verified_objective(environment, State(np.arange(17, dtype=np.int32))).objective == (
        verify_tour(data, np.arange(17, dtype=np.int32)).objective
    )
