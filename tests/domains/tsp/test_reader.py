"""The TSPLIB reader takes what the library publishes and refuses everything else, with file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.tsp.reader import MAX_CITIES, format_tour, read_tsplib

HEAD = "NAME: t\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
GOOD = HEAD + "1 0 0\n2 3 4\n3 6 8\nEOF\n"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t3.tsp"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(GOOD.replace("EOF\n", ""), id="no EOF"),
        pytest.param(GOOD.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(GOOD.replace(":", "   :\t"), id="spaces round the colon"),
        pytest.param(GOOD.replace("\n", "\n\n"), id="blank lines"),
        pytest.param(GOOD.replace("2 3 4", "  2   3.0    +4e0"), id="decimals and exponents"),
        pytest.param(HEAD + "3 6 8\n1 0 0\n2 3 4\nEOF\n", id="any order of ids"),
        pytest.param(GOOD.replace("TYPE: TSP", "TYPE: TSP\nCOMMENT: a\nCOMMENT: b"), id="two comments"),
        pytest.param(GOOD.replace("TYPE: TSP\n", "TYPE: TSP (by hand)\n", 1), id="remark behind the type"),
        pytest.param(GOOD.replace("NAME: t", "NAME: t\nVEHICLES: 1"), id="vehicles"),
        pytest.param(GOOD.replace("NODE_COORD_S", "NODE_COORD_TYPE: TWOD_COORDS\nNODE_COORD_S"), id="2-D"),
    ],
)
def test_reader_accepts_the_published_variants(tmp_path: Path, text: str) -> None:
    read = read_tsplib(write(tmp_path, text))
    assert read.name == "t"
    np.testing.assert_array_equal(read.coords, [[0, 0], [3, 4], [6, 8]])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        pytest.param("", None, "TYPE is missing", id="empty"),
        pytest.param(GOOD[: GOOD.index("NODE")], None, "NODE_COORD_SECTION is missing", id="no cities"),
        pytest.param(GOOD.replace("EUC_2D", "XRAY1"), 4, "XRAY1", id="other distances"),
        pytest.param(GOOD.replace("EUC_2D", "EXPLICIT"), None, "without EDGE_WEIGHT_FORMAT", id="no matrix"),
        pytest.param(GOOD.replace("TYPE: TSP", "TYPE: ATSP", 1), 2, "ATSP", id="other type"),
        pytest.param(GOOD.replace("DIMENSION: 3\n", ""), None, "DIMENSION is missing", id="no dimension"),
        pytest.param(GOOD.replace("TYPE: TSP\n", "", 1), None, "TYPE is missing", id="no type"),
        pytest.param(GOOD.replace(": 3", ": 0"), 3, "DIMENSION", id="dimension 0"),
        pytest.param(GOOD.replace(": 3", ": -3"), 3, "DIMENSION", id="negative dimension"),
        pytest.param(GOOD.replace(": 3", ": 3.0"), 3, "DIMENSION", id="fractional dimension"),
        pytest.param(GOOD.replace(": 3", ": ³"), 3, "DIMENSION", id="superscript dimension"),
        pytest.param(GOOD.replace(": 3", f": {MAX_CITIES + 1}"), 3, "DIMENSION", id="too large"),
        pytest.param(GOOD.replace(": 3", ": 4"), 8, "ends after 3 of 4", id="dimension too large"),
        pytest.param(GOOD.replace(": 3", ": 2"), 8, "unexpected text", id="dimension too small"),
        pytest.param(GOOD[: GOOD.index("3 6 8")], 7, "ends after 2 of 3", id="truncated"),
        pytest.param(GOOD.replace("3 6 8", "3 6"), 8, "a node id and 2 value(s)", id="truncated line"),
        pytest.param(GOOD.replace("3 6 8", "3 6 8 9"), 8, "a node id and 2 value(s)", id="too many numbers"),
        pytest.param(GOOD.replace("3 6 8", "2 6 8"), 8, "given twice", id="repeated id"),
        pytest.param(GOOD.replace("3 6 8", "4 6 8"), 8, "a node id in 1..3", id="id out of range"),
        pytest.param(GOOD.replace("1 0 0", "0 0 0"), 6, "a node id in 1..3", id="id 0"),
        pytest.param(GOOD.replace("3 6 8", "3 six 8"), 8, "finite decimal", id="word"),
        pytest.param(GOOD.replace("3 6 8", "3 nan 8"), 8, "finite decimal", id="NaN"),
        pytest.param(GOOD.replace("3 6 8", "3 6 inf"), 8, "finite decimal", id="infinity"),
        pytest.param(GOOD.replace("3 6 8", "3 6 1e999"), 8, "finite decimal", id="overflow"),
        pytest.param(GOOD.replace("3 6 8", "3 6 1_0"), 8, "finite decimal", id="underscore"),
        pytest.param(GOOD.replace("3 6 8", "3 6 2e9"), None, "apart", id="too far apart"),
        pytest.param(GOOD + "4 1 1\n", 10, "unexpected text", id="text after the end"),
        pytest.param(GOOD + "EOF\n", 10, "unexpected text", id="two ends"),
        pytest.param(GOOD.replace("NAME: t", "NAME: t\nNAME: u"), 2, "given twice", id="two names"),
        pytest.param("CAPACITY: 3\n" + GOOD, 1, "unknown keyword", id="other problem"),
        pytest.param("hello\n" + GOOD, 1, "KEYWORD : value", id="no colon"),
    ],
)
def test_reader_refuses_malformed_files(tmp_path: Path, text: str, line: int | None, reason: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InstanceFormatError) as caught:
        read_tsplib(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_reader_reports_unreadable_files(tmp_path: Path) -> None:
    binary = tmp_path / "b.tsp"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.tsp", tmp_path, binary):
        with pytest.raises(InstanceFormatError, match="cannot be read"):
            read_tsplib(path)


def test_name_falls_back_to_the_stem(tmp_path: Path) -> None:
    assert read_tsplib(write(tmp_path, GOOD.replace("NAME: t\n", ""))).name == "t3"


def test_tour_file_counts_cities_from_one() -> None:
    text = format_tour("t3", np.array([2, 0, 1], dtype=np.int32), 20)
    assert text.splitlines() == [
        "NAME : t3.tour",
        "COMMENT : Length 20",
        "TYPE : TOUR",
        "DIMENSION : 3",
        "TOUR_SECTION",
        "3",
        "1",
        "2",
        "-1",
        "EOF",
    ]
