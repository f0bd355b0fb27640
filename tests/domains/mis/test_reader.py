from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.mis.specimens import random_graph

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.mis import DOMAIN, reader
from dga2d.domains.mis.reader import environment_of_file

PATH_OF_FOUR = "c a path\np edge 4 3\ne 1 2\ne 3 2\ne 3 4\n"
ITS_MATRIX = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_a_mis_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "path.mis"
    path.write_text(PATH_OF_FOUR)
    matrix = reader.read_graph(path)
    assert matrix.dtype == np.uint8
    assert matrix.tolist() == ITS_MATRIX


def test_a_clique_file_is_complemented(tmp_path: Path) -> None:
    path = tmp_path / "path.clq"
    path.write_text(PATH_OF_FOUR)
    expected = 1 - np.array(ITS_MATRIX) - np.eye(4, dtype=int)
    assert reader.read_graph(path).tolist() == expected.tolist()


@pytest.mark.parametrize("suffix", [".clq", ".mis"])
def test_gzipped_files_are_read_like_plain_ones(tmp_path: Path, suffix: str) -> None:
    plain, packed = tmp_path / f"x{suffix}", tmp_path / f"x{suffix}.gz"
    plain.write_text(PATH_OF_FOUR)
    packed.write_bytes(gzip.compress(PATH_OF_FOUR.encode()))
    assert reader.read_graph(packed).tolist() == reader.read_graph(plain).tolist()


GOOD = {
    "p col": PATH_OF_FOUR.replace("edge", "col"),
    "weights": "p edge 4 3\nn 1 2\nn 4 -7\ne 1 2\ne 3 2\ne 3 4\n",
    "windows line ends": PATH_OF_FOUR.replace("\n", "\r\n"),
    "no final line end": PATH_OF_FOUR.rstrip("\n"),
    "comments and blanks between": "\np edge 4 3\ne 1 2\nc here\n\ne 3 2\nc\ne\t3  4 \n\n",
    "trailing comment": PATH_OF_FOUR + "c end\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_harmless_variations_give_the_same_graph(text: str) -> None:
    assert reader.parse_graph(text, "x").tolist() == ITS_MATRIX


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 12), percent=st.integers(0, 100), seed=st.integers(0, 1000), tidy=st.booleans())
def test_what_is_written_is_read_back(n: int, percent: int, seed: int, tidy: bool) -> None:
    """Both ways through the reader: the quick one for a plain list of edges, and line by line."""
    matrix = random_graph(n, percent, seed).data["adjacency"]
    edges = [f"e {v + 1} {u + 1}" for u, v in np.argwhere(np.triu(matrix))]
    gap = "\n" if tidy else "\nc\n"
    text = gap.join([f"p edge {n} {len(edges)}", *edges, ""])
    assert reader.parse_graph(text, "x").tolist() == matrix.tolist()


BAD: dict[str, tuple[str, int | None, str]] = {
    "empty": ("", None, "'p edge N M' is missing"),
    "comments only": ("c x\n", None, "'p edge N M' is missing"),
    "edge before header": ("e 1 2\np edge 2 1\n", 1, "expected the line 'p edge N M' before"),
    "weight before header": ("n 1 2\np edge 2 0\n", 1, "expected the line 'p edge N M' before"),
    "two headers": ("p edge 2 0\np edge 2 0\n", 2, "a second line p"),
    "other problem": ("p cnf 2 1\ne 1 2\n", 1, "expected 'p edge' or 'p col'"),
    "short header": ("p edge 2\ne 1 2\n", 1, "expected 4 words"),
    "no vertices": ("p edge 0 0\n", 1, "expected 1 to 10000 vertices, got 0"),
    "too many vertices": ("p edge 10001 0\n", 1, "expected 1 to 10000 vertices"),
    "too many edges": ("p edge 3 4\n", 1, "3 vertices cannot have 4 edges"),
    "negative edges": ("p edge 3 -1\n", 1, "cannot have -1 edges"),
    "huge number": ("p edge 3 9999999999999\n", 1, "expected an integer"),
    "truncated": ("p edge 3 2\ne 1 2\n", None, "announces 2 edges, there are 1"),
    "one edge more": ("p edge 3 1\ne 1 2\ne 1 3\n", None, "announces 1 edges, there are 2"),
    "loop": ("p edge 3 2\ne 1 2\ne 2 2\n", 3, "vertex 2 is its own neighbour"),
    "edge twice": ("p edge 3 2\ne 1 2\ne 2 1\n", 3, "the edge 2 1 is given twice"),
    "vertex 0": ("p edge 3 1\ne 0 2\n", 2, "expected a vertex in 1..3, got 0"),
    "vertex beyond": ("c\np edge 3 1\ne 1 4\n", 3, "expected a vertex in 1..3, got 4"),
    "vertex beyond, line by line": ("p edge 3 1\ne 1 4 \n", 2, "expected a vertex in 1..3, got 4"),
    "weight of no vertex": ("p edge 3 0\nn 4 1\n", 2, "expected a vertex in 1..3, got 4"),
    "weight twice": ("p edge 3 0\nn 2 1\nn 2 1\n", 3, "a second weight of vertex 2"),
    "fractional weight": ("p edge 3 0\nn 2 1.5\n", 2, "expected an integer, got '1.5'"),
    "fraction": ("p edge 3 1\ne 1 2.0\n", 2, "expected an integer, got '2.0'"),
    "nan": ("p edge 3 1\ne 1 nan\n", 2, "expected an integer, got 'nan'"),
    "sign": ("p edge 3 1\ne 1 +2\n", 2, "expected an integer"),
    "other digits": ("p edge 3 1\ne 1 \u0662\n", 2, "expected an integer"),
    "three ends": ("p edge 3 1\ne 1 2 3\n", 2, "expected 3 words"),
    "one end": ("p edge 3 1\ne 1\n", 2, "expected 3 words"),
    "unknown line": ("p edge 3 1\na 1 2\n", 2, "expected a line c, p, n or e"),
    "trailing data": ("p edge 3 1\ne 1 2\n17\n", 3, "expected a line c, p, n or e"),
    "odd blanks": ("p edge 3 1\ne 1\u00a02\n", 2, "other blanks"),
    "form feed": ("p edge 3 1\ne 1 2\f\n", 2, "other blanks"),
}


@pytest.mark.parametrize(("text", "line", "reason"), BAD.values(), ids=BAD.keys())
def test_a_broken_file_is_refused_with_line_and_reason(
    tmp_path: Path, text: str, line: int | None, reason: str
) -> None:
    path = tmp_path / "broken.clq"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(InstanceFormatError) as caught:
        reader.read_graph(path)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert caught.value.path == str(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(PATH_OF_FOUR.encode())
    contents = {
        "binary.clq": b"p edge 3 1\xff\n",
        "no.clq.gz": PATH_OF_FOUR.encode(),
        "cut.clq.gz": packed[:-6],
        "changed.clq.gz": packed[:20] + bytes([packed[20] ^ 255]) + packed[21:],
        "name.txt": PATH_OF_FOUR.encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InstanceFormatError):
            reader.read_graph(tmp_path / name)
    with pytest.raises(InstanceFormatError, match="cannot be read"):
        reader.read_graph(tmp_path / "missing.clq")


def test_a_decompression_bomb_is_refused_before_it_unfolds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_TEXT_BYTES", 10_000)
    path = tmp_path / "bomb.clq.gz"
    path.write_bytes(gzip.compress(b"c" * 10_001))
    with pytest.raises(InstanceFormatError, match="more than 10000 bytes"):
        reader.read_graph(path)
    path.write_bytes(gzip.compress(b"p edge 2 0\n" + b"\n" * 9_989))
    assert reader.read_graph(path).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("name", ["C125.9.clq.gz", "C125.9.clq", "C125.9.mis"])
def test_operators_see_the_graph_of_a_file_and_not_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = PATH_OF_FOUR.encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert set(environment_of_file(path)) == {"num_vertices", "total_vertices", "adj"}


def test_published_instances_have_names_without_suffixes(tmp_path: Path) -> None:
    folder = tmp_path / "mis" / "bhoslib"
    folder.mkdir(parents=True)
    (folder / "frb2-2.mis").write_text(PATH_OF_FOUR)
    (folder / "x.clq.gz").write_bytes(gzip.compress(PATH_OF_FOUR.encode()))
    (folder / "notes.txt").write_text("no instance")
    table = '{"bhoslib/frb2-2": {"best": 2, "optimal": true, "source": "by hand"}}'
    (tmp_path / "mis" / "bks.json").write_text(table)
    refs = DOMAIN.published(tmp_path)
    assert [ref.key for ref in refs] == ["bhoslib/frb2-2", "bhoslib/x"]
    assert refs[0].reference is not None
    assert refs[1].reference is None
    assert DOMAIN.load(refs[0]).data["adjacency"].tolist() == ITS_MATRIX
    (folder / "x.clq").write_text(PATH_OF_FOUR)
    with pytest.raises(InstanceFormatError, match="a second file of the instance bhoslib/x"):
        DOMAIN.published(tmp_path)


@pytest.mark.slow
def test_every_published_file_is_read_and_has_a_reference(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert len(refs) == 69
    assert all(ref.reference is not None and ref.reference.kind in ("optimal", "best_known") for ref in refs)
    sizes = {}
    for ref in refs:
        adjacency = DOMAIN.load(ref).data["adjacency"]
        sizes[ref.name] = (len(adjacency), int(adjacency.sum()) // 2)
    assert sizes["MANN_a27"] == (378, 702)
    assert sizes["brock200_1"] == (200, 19900 - 14834)
    assert sizes["p_hat1500-1"] == (1500, 1500 * 1499 // 2 - 284923)
    parts = split(refs)
    assert [len(part) for part in parts] == [41, 13, 15]
