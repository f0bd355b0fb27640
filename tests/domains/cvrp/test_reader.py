"""The CVRPLIB reader takes what the library publishes and refuses everything else, with file and line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.domains.cvrp.specimens import E13

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.cvrp.domain import VehicleRouting
from dga2d.domains.cvrp.reader import MAX_NODES, operator_environment, parse_instance, read_instance
from dga2d.domains.cvrp.verifier import distance_of, solution_text, verified_objective, verify_routes

DOMAIN = VehicleRouting()
GOOD = """NAME : t4
COMMENT : (by hand)
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 8
4 0 9.5
DEMAND_SECTION
1 0
2 5
3 6
4 0
DEPOT_SECTION
 1
 -1
EOF
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(GOOD.replace("EOF\n", ""), id="no EOF"),
        pytest.param(GOOD.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(GOOD.replace("\n", "\n\n"), id="blank lines"),
        pytest.param(GOOD.replace(" : ", " : \t").replace("\n", "\t\n"), id="tabs, as in the X set"),
        pytest.param(GOOD.replace(" : ", ":"), id="no spaces round the colon"),
        pytest.param(GOOD.replace("2 3 4\n3 6 8", "3 6.0 +8\n 2  3e0 4."), id="any order, decimals"),
        pytest.param(GOOD.replace("TYPE", "COMMENT : b\nTYPE", 1), id="two comments"),
        pytest.param(GOOD.replace("CAPACITY", "VEHICLES : 3\nCAPACITY"), id="a number of vehicles"),
        pytest.param(GOOD.replace(" 1\n -1\n", " 1 -1\n"), id="depot on one line"),
        pytest.param(GOOD.replace("NAME : t4\n", ""), id="no name"),
    ],
)
def test_reader_accepts_the_published_variants(text: str) -> None:
    data = parse_instance(text, "t4.vrp")
    np.testing.assert_array_equal(data.coords, [[0, 0], [3, 4], [6, 8], [0, 9.5]])
    assert data.demands.tolist() == [0, 5, 6, 0]
    assert data.capacity == 10
    assert data.max_length is None
    assert not data.demands.flags.writeable


def test_distances_are_rounded_as_the_file_says() -> None:
    planar = operator_environment(parse_instance(GOOD, "t4"))
    # 2-4: sqrt(9 + 30.25) = 6.26…, 3-4: sqrt(36 + 2.25) = 6.18…, 1-4: 9.5 rounds up
    assert planar["dist_matrix"].tolist() == [[0, 5, 10, 10], [5, 0, 5, 6], [10, 5, 0, 6], [10, 6, 6, 0]]
    ceiled = operator_environment(parse_instance(GOOD.replace("EUC_2D", "CEIL_2D"), "t4"))
    assert ceiled["dist_matrix"].tolist() == [[0, 5, 10, 10], [5, 0, 5, 7], [10, 5, 0, 7], [10, 7, 7, 0]]


def test_the_depot_may_be_another_node() -> None:
    """The customers keep their order: nodes 1, 2 and 3 of the file are customers 1, 2 and 3."""
    text = GOOD.replace("1 0\n2 5\n3 6\n4 0\n", "1 7\n2 5\n3 6\n4 0\n").replace(" 1\n -1", " 4\n -1")
    data = parse_instance(text, "t4")
    assert data.demands.tolist() == [0, 7, 5, 6]
    np.testing.assert_array_equal(data.coords, [[0, 9.5], [0, 0], [3, 4], [6, 8]])


def test_distances_that_are_not_rounded_are_measured_exactly() -> None:
    """Operators see thousandths; the verifier adds up two times 5, 10, sqrt(38.25) and 9.5."""
    data = parse_instance(GOOD.replace("EUC_2D", "EXACT_2D"), "t4")
    environment = operator_environment(data)
    assert environment["dist_matrix"].tolist()[1] == [5000, 0, 5000, 6265]
    state = State(np.array([1, 0, 2, 3], dtype=np.int32))
    verdict = verify_routes(state.sequence, data.demands, data.capacity, distance_of(data))
    assert verdict.objective == pytest.approx(10 + 10 + 38.25**0.5 + 9.5, abs=1e-9)
    assert verdict.objective is not None
    seen = verified_objective(environment, state)
    assert seen.objective == pytest.approx(verdict.objective, abs=1e-3)
    assert solution_text("t4", environment, state, verdict.objective).endswith("Cost 35.68\n")


EXPLICIT = GOOD[: GOOD.index("NODE_COORD")].replace("EUC_2D", "EXPLICIT") + (
    "EDGE_WEIGHT_FORMAT : {format}\nEDGE_WEIGHT_SECTION\n{weights}\n" + GOOD[GOOD.index("DEMAND") :]
)


@pytest.mark.parametrize(
    ("edge_format", "weights"),
    [
        ("LOWER_ROW", "1\n2 3\n4 5 6"),
        ("LOWER_ROW", "1 2 3 4\n5 6"),
        ("UPPER_ROW", "1 2 4\n3 5\n6"),
        ("LOWER_DIAG_ROW", "0\n1 0\n2 3 0\n4 5 6 0"),
        ("UPPER_DIAG_ROW", "0 1 2 4\n0 3 5\n0 6\n0"),
        ("FULL_MATRIX", "0 1 2 4\n1 0 3 5\n2 3 0 6\n4 5 6 0"),
    ],
)
def test_explicit_matrices_are_read_in_all_formats(edge_format: str, weights: str) -> None:
    data = parse_instance(EXPLICIT.format(format=edge_format, weights=weights), "t4.vrp")
    assert data.coords is None
    assert data.weights is not None
    assert data.weights.tolist() == [[0, 1, 2, 4], [1, 0, 3, 5], [2, 3, 0, 6], [4, 5, 6, 0]]


def test_lower_rows_of_the_eilon_set_give_the_published_optimum() -> None:
    """CVRPLIB's 247 for E-n13-k4 belongs to the matrix as its format says, row by row."""
    instance = Instance("cvrp", "E", "E-n13-k4", {"routing": parse_instance(E13, "E-n13-k4.vrp")})
    routes = np.array([11, 4, 7, 2, 0, 3, 5, 8, 0, 9, 12, 10, 6, 0, 1], dtype=np.int32)
    assert DOMAIN.verify(instance, State(routes)).objective == 247.0


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        pytest.param("", None, "TYPE is missing", id="empty"),
        pytest.param(GOOD.replace("EUC_2D", "GEO"), 5, "GEO", id="other distances"),
        pytest.param(GOOD.replace(": CVRP", ": TSP"), 3, "TSP", id="other type"),
        pytest.param(GOOD.replace("DIMENSION : 4\n", ""), None, "DIMENSION is missing", id="no dimension"),
        pytest.param(GOOD.replace("CAPACITY : 10\n", ""), None, "CAPACITY is missing", id="no capacity"),
        pytest.param(GOOD.replace(": 10", ": 0"), 6, "CAPACITY", id="capacity 0"),
        pytest.param(GOOD.replace(": 10", ": -10"), 6, "CAPACITY", id="negative capacity"),
        pytest.param(GOOD.replace(": 10", ": 10.5"), 6, "CAPACITY", id="fractional capacity"),
        pytest.param(GOOD.replace(": 10", ": 5"), 15, "the capacity", id="demand above the capacity"),
        pytest.param(GOOD.replace(": 4\n", ": 1\n"), 4, "at least one customer", id="no customers"),
        pytest.param(GOOD.replace(": 4\n", f": {MAX_NODES + 1}\n"), 4, "DIMENSION", id="too large"),
        pytest.param(GOOD.replace(": 4\n", ": 5\n"), 11, "4 of 5", id="dimension too large"),
        pytest.param(GOOD.replace(": 4\n", ": 3\n"), 11, "after the last node", id="dimension too small"),
        pytest.param(GOOD[: GOOD.index("3 6 8")], 9, "2 of 4", id="truncated in the coordinates"),
        pytest.param(GOOD[: GOOD.index("3 6\n")], 14, "2 of 4", id="truncated in the demands"),
        pytest.param(GOOD[: GOOD.index("DEPOT")], None, "DEPOT_SECTION is missing", id="no depot section"),
        pytest.param(GOOD[: GOOD.index(" 1\n -1")], 17, "-1", id="truncated in the depots"),
        pytest.param(GOOD.replace(" -1\n", ""), 18, "-1", id="depots not ended"),
        pytest.param(
            GOOD.replace(" 1\n -1", " 2\n -1"), 14, "the depot has a demand of 5", id="a customer as depot"
        ),
        pytest.param(GOOD.replace(" 1\n -1", " 1\n 2\n -1"), 18, "one depot", id="two depots"),
        pytest.param(GOOD.replace("1 0\n2 5", "1 3\n2 5"), 13, "depot has a demand", id="depot's demand"),
        pytest.param(GOOD.replace("2 5\n", "2 -5\n"), 14, "demand in 0..10", id="negative demand"),
        pytest.param(GOOD.replace("2 5\n", "2 5.5\n"), 14, "integer", id="fractional demand"),
        pytest.param(GOOD.replace("2 5\n", "2 5 1\n"), 14, "node id and 1", id="two demands"),
        pytest.param(GOOD.replace("2 3 4", "3 3 4"), 10, "given twice", id="repeated node"),
        pytest.param(GOOD.replace("2 3 4", "5 3 4"), 9, "node id in 1..4", id="node out of range"),
        pytest.param(GOOD.replace("2 3 4", "2 3"), 9, "node id and 2", id="short line"),
        pytest.param(GOOD.replace("2 3 4", "2 nan 4"), 9, "finite decimal", id="NaN"),
        pytest.param(GOOD.replace("2 3 4", "2 3 1e999"), 9, "finite decimal", id="overflow"),
        pytest.param(GOOD.replace("2 3 4", "2 3 4e9"), None, "apart", id="too far apart"),
        pytest.param(GOOD.replace("2 3 4", "2 3\u00a04"), 9, "node id and 2", id="odd blank"),
        pytest.param(GOOD + "5 5\n", 21, "after EOF", id="text after the end"),
        pytest.param(GOOD.replace("TYPE : CVRP", "TYPE : CVRP\nTYPE : CVRP"), 4, "given twice", id="twice"),
        pytest.param(GOOD.replace("TYPE", "SPEED : 3\nTYPE", 1), 3, "unknown keyword", id="unknown keyword"),
        pytest.param("hello\n" + GOOD, 1, "KEYWORD : value", id="no colon"),
        pytest.param(GOOD + GOOD, 21, "after EOF", id="two files"),
        pytest.param(
            GOOD.replace("DEPOT_S", "DEMAND_SECTION\n1 0\nDEPOT_S"), 17, "given twice", id="section twice"
        ),
        pytest.param(EXPLICIT.format(format="LOWER_ROW", weights="1 2 3 4 5"), 9, "5 of 6", id="few weights"),
        pytest.param(
            EXPLICIT.format(format="LOWER_ROW", weights="1 2 3 4 5 6 7"), 9, "more than 6", id="many"
        ),
        pytest.param(EXPLICIT.format(format="LOWER_ROW", weights="1 2 3 4 5 x"), 9, "integer", id="a word"),
        pytest.param(EXPLICIT.format(format="LOWER_ROW", weights="1 2 3 4 5 -6"), 9, "length", id="negative"),
        pytest.param(EXPLICIT.format(format="COLUMNS", weights="1"), 7, "COLUMNS", id="unknown format"),
        pytest.param(
            EXPLICIT.format(format="FULL_MATRIX", weights="0 1 2 4\n1 0 3 5\n2 3 0 6\n4 5 7 0"),
            8,
            "not symmetric",
            id="asymmetric",
        ),
        pytest.param(
            EXPLICIT.format(format="LOWER_DIAG_ROW", weights="1\n1 0\n2 3 0\n4 5 6 0"),
            8,
            "zero diagonal",
            id="diagonal",
        ),
    ],
)
def test_reader_refuses_malformed_files(tmp_path: Path, text: str, line: int | None, reason: str) -> None:
    path = tmp_path / "t4.vrp"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InstanceFormatError) as caught:
        read_instance(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line, caught.value.reason
    assert reason in caught.value.reason


def test_reader_reports_unreadable_files(tmp_path: Path) -> None:
    binary = tmp_path / "b.vrp"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.vrp", tmp_path, binary):
        with pytest.raises(InstanceFormatError, match="cannot be read"):
            read_instance(path)


def test_published_files_all_parse_and_have_references(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert len(refs) == len(list((data_dir / "cvrp").glob("*/*.vrp"))) >= 80
    for ref in refs:
        instance = DOMAIN.load(ref)
        assert instance.reference is not None
        if size := re.search(r"-n(\d+)-k", ref.name):
            assert len(instance.data["routing"].demands) == int(size[1])


def test_a_limit_of_route_lengths_is_read_and_told_in_the_unit_of_the_matrix() -> None:
    text = GOOD.replace("CAPACITY", "DISTANCE : 40.5\nSERVICE_TIME : 2\nCAPACITY")
    data = parse_instance(text, "t4")
    assert (data.max_length, data.service) == (40.5, 2.0)
    environment = operator_environment(data)
    assert (environment["max_route_length"], environment["service_time"]) == (40, 2)
    exact = operator_environment(parse_instance(text.replace("EUC_2D", "EXACT_2D"), "t4"))
    assert (exact["max_route_length"], exact["service_time"]) == (40_500, 2_000)
