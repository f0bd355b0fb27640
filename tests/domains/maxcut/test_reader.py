"""Reading rudy files and finding best known cuts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.domains.reading_claims import Malformed, MalformedTexts, PublishedFiles, ReadFile, Refused

from dga2d.domains.maxcut import DOMAIN
from dga2d.domains.maxcut.reader import MAX_VERTICES, parse_instance

GOOD = "4 3 \n1 2 1\n\n 4 2 -7 \n3 4 0\n"


def test_a_file_is_read_line_by_line() -> None:
    graph = parse_instance(GOOD, "good")
    assert graph.n_vertices == 4
    assert graph.edges.tolist() == [[0, 1], [1, 3], [2, 3]]
    assert graph.weights.tolist() == [1, -7, 0]
    assert graph.edges.dtype == graph.weights.dtype == np.int32
    assert not graph.edges.flags.writeable
    assert not graph.weights.flags.writeable


def test_windows_line_ends_and_tabs_pass() -> None:
    graph = parse_instance(GOOD.replace("\n", "\r\n").replace(" ", "\t"), "dos")
    assert graph.weights.tolist() == [1, -7, 0]


def test_a_graph_without_edges_passes() -> None:
    assert parse_instance("1 0\n", "one").edges.shape == (0, 2)


MALFORMED: dict[str, Malformed] = {
    "empty": ("", None),
    "only comments": ("# nothing\n", None),
    "header of one number": ("4\n1 2 1\n", 1),
    "header of three numbers": ("4 1 0\n1 2 1\n", 1),
    "a stray letter behind the header": ("4 1 G\n1 2 1\n", 1),
    "a stray letter in the header": ("4 1a\n1 2 1\n", 1),
    "no vertices": ("0 0\n", 1),
    "negative vertices": ("-4 1\n1 2 1\n", 1),
    "too many vertices": (f"{MAX_VERTICES + 1} 1\n1 2 1\n", 1),
    "negative edges": ("4 -1\n", 1),
    "more edges than pairs": ("3 4\n", 1),
    "truncated": ("4 2\n1 2 1\n", 2),
    "header alone": ("4 2\n", 1),
    "trailing edge": ("4 1\n1 2 1\n2 3 1\n", 3),
    "trailing number": ("4 1\n1 2 1\n0\n", 3),
    "no weight": ("4 1\n1 2\n", 2),
    "four numbers": ("4 1\n1 2 1 1\n", 2),
    "vertex zero": ("4 1\n0 2 1\n", 2),
    "vertex too large": ("4 1\n1 5 1\n", 2),
    "vertex negative": ("4 1\n1 -2 1\n", 2),
    "loop": ("4 1\n3 3 1\n", 2),
    "repeated edge": ("4 2\n1 2 1\n1 2 1\n", 3),
    "repeated edge, turned round": ("4 2\n1 2 1\n2 1 5\n", 3),
    "a word": ("4 1\n1 two 1\n", 2),
    "a decimal": ("4 1\n1 2 1.0\n", 2),
    "not a number": ("4 1\n1 2 nan\n", 2),
    "infinite": ("4 1\n1 2 inf\n", 2),
    "an exponent": ("4 1\n1 2 1e3\n", 2),
    "a huge number": ("4 1\n1 2 9999999999999\n", 2),
    "an underscore": ("4 1\n1 2 1_0\n", 2),
    "a digit of another script": ("4 1\n1 ٢ 1\n", 2),
    "weights reach the invalid score": ("4 2\n1 2 999999998\n2 3 -1\n", None),
}


class CutTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED)


def test_weights_just_below_the_invalid_score_pass() -> None:
    assert parse_instance("4 2\n1 2 999999997\n2 3 -1\n", "edge").weights.tolist() == [999_999_997, -1]


def published(folder: Path, **files: str) -> Path:
    group = folder / "maxcut" / "gset"
    group.mkdir(parents=True)
    for name, text in files.items():
        (group / name.replace("_txt", ".txt")).write_text(text)
    return folder


def test_files_named_like_the_set_come_with_its_best_known_cuts(tmp_path: Path) -> None:
    published(tmp_path, G1=GOOD, G50_txt=GOOD, gset_14=GOOD, G99=GOOD, other=GOOD, G014=GOOD)
    values = {ref.name: ref.reference and ref.reference.value for ref in DOMAIN.published(tmp_path)}
    assert values == {
        "G1": 11624.0,
        "G50": 5880.0,
        "gset_14": 3064.0,
        "G014": 3064.0,
        "G99": None,
        "other": None,
    }


def test_a_table_of_best_values_comes_before_the_set(tmp_path: Path) -> None:
    published(tmp_path, G1=GOOD, G2=GOOD)
    table = {"gset/G1": {"best": 9, "optimal": True, "source": "by hand"}}
    (tmp_path / "maxcut" / "bks.json").write_text(json.dumps(table))
    first, second = DOMAIN.published(tmp_path)
    assert first.reference is not None
    assert (first.reference.value, first.reference.kind) == (9.0, "optimal")
    assert second.reference is not None
    assert second.reference.value == 11620.0
    assert DOMAIN.load(first).data["weights"].tolist() == [1, -7, 0]


def test_all_published_files_can_be_read(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert refs
    for ref in refs:
        assert DOMAIN.load(ref).data["n_vertices"] >= 1


class CutFileClaims(PublishedFiles):
    specimen = ReadFile(
        DOMAIN, GOOD, "own/tiny.txt", [1, -7, 0], lambda instance: instance.data["weights"].tolist()
    )
