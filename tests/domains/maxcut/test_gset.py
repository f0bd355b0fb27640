"""The graphs made here are those of the G-set."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.maxcut import DOMAIN
from dga2d.domains.maxcut.graph import WeightedGraph, csr_of, edges_of
from dga2d.domains.maxcut.gset import HELD_BACK, best_known, generate, generated_refs, recipes
from dga2d.domains.maxcut.rudy import FlipGenerator


def test_the_generator_passes_the_test_knuth_gives_with_it() -> None:
    """Module GB_FLIP of the Stanford GraphBase comes with these numbers."""
    generator = FlipGenerator(-314159)
    assert generator.integer() == 119318998
    for _ in range(133):
        generator.integer()
    assert generator.below(0x55555555) == 748103812


@cache
def graph(number: int) -> WeightedGraph:
    made = generate(f"G{number}")
    assert made is not None
    return made


def rudy_lines(made: WeightedGraph) -> list[str]:
    """The lines of the published file after the first."""
    edges, weights = made.edges.tolist(), made.weights.tolist()
    return [f"{a + 1} {b + 1} {weight}" for (a, b), weight in zip(edges, weights, strict=True)]


SIZES = {
    1: (800, 19176),
    11: (800, 1600),
    14: (800, 4694),
    15: (800, 4661),
    16: (800, 4672),
    17: (800, 4667),
    22: (2000, 19990),
    32: (2000, 4000),
    35: (2000, 11778),
    36: (2000, 11766),
    37: (2000, 11785),
    38: (2000, 11779),
    43: (1000, 9990),
    51: (1000, 5909),
    52: (1000, 5916),
    53: (1000, 5914),
    54: (1000, 5916),
}
"""First lines of published files; how many edges a union of planar graphs has depends on every draw."""


@pytest.mark.parametrize(("number", "size"), SIZES.items())
def test_vertices_and_edges_are_as_many_as_published(number: int, size: tuple[int, int]) -> None:
    made = graph(number)
    assert (made.n_vertices, len(made.edges)) == size


LENGTHS = {
    6: 196132,
    10: 196314,
    12: 16379,
    13: 16360,
    18: 45357,
    19: 44939,
    21: 44998,
    27: 227843,
    32: 45571,
    33: 45597,
    34: 45606,
    40: 124362,
    46: 97700,
    47: 97803,
    54: 54629,
}
"""Characters of published files without the last line's end: digits of all ends and signs of all weights."""


@pytest.mark.parametrize(("number", "length"), LENGTHS.items())
def test_the_texts_are_as_long_as_published(number: int, length: int) -> None:
    made = graph(number)
    first = f"{made.n_vertices} {len(made.edges)} "
    assert len("\n".join([first, *rudy_lines(made)])) == length


LAST_LINES = {
    10: ["791 798 -1", "791 792 -1", "793 796 -1", "793 799 -1", "796 798 1", "798 800 1"],
    11: ["796 797 -1", "797 798 -1", "798 799 -1", "799 800 -1"],
    12: ["796 797 -1", "797 798 1", "798 799 -1", "799 800 1"],
    13: ["796 797 -1", "797 798 1", "798 799 1", "799 800 1"],
    18: ["758 784 -1", "760 771 1", "762 765 1", "773 792 -1"],
    21: ["749 762 1", "759 789 1", "773 774 -1", "774 775 -1", "783 791 1"],
    27: ["1975 1999 -1", "1978 1994 -1", "1980 1995 -1", "1981 1994 1", "1986 1998 1"],
    34: ["1996 1997 -1", "1997 1998 1", "1998 1999 1", "1999 2000 -1"],
    40: ["1945 1958 -1", "1948 1979 -1", "1954 1965 1", "1970 1988 -1"],
    46: ["985 986 1", "987 998 1", "996 997 1", "999 1000 1"],
}


@pytest.mark.parametrize(("number", "lines"), LAST_LINES.items())
def test_the_last_lines_are_the_published_ones(number: int, lines: list[str]) -> None:
    assert rudy_lines(graph(number))[-len(lines) :] == lines


def test_the_first_lines_are_the_published_ones() -> None:
    """Vertex 1 of G14: the newest edge first, those of the second planar graph before those of the first."""
    others = [int(line.split()[1]) for line in rudy_lines(graph(14)) if line.startswith("1 ")]
    assert others[:12] == [7, 10, 12, 13, 14, 15, 20, 21, 23, 24, 27, 31]
    assert others[-4:] == [711, 728, 739, 754]
    assert [line for line in rudy_lines(graph(22)) if line.startswith("1411 ")] == [
        "1411 1938 1",
        "1411 1840 1",
        "1411 1419 1",
        "1411 1839 1",
        "1411 1478 1",
    ]


def test_toroidal_grids_have_the_published_width() -> None:
    """The edges that leave the last row's first vertex downwards lead to row 0."""
    for number, width in ((11, 8), (12, 16), (13, 32), (32, 20), (33, 25), (34, 40)):
        assert [0, width] in graph(number).edges.tolist()


@pytest.mark.slow
def test_the_graphs_keep_their_digest() -> None:
    digest = hashlib.sha256()
    for ref in generated_refs():
        data = DOMAIN.load(ref).data
        digest.update(f"{ref.key} {data['n_vertices']}".encode())
        digest.update(data["edges"].astype("<i4").tobytes())
        digest.update(data["weights"].astype("<i4").tobytes())
    assert digest.hexdigest() == "f3b0a455677b67e76a83004e7a2528e881843c78651f122da6f77c5b2f096384"


def test_there_are_as_many_instances_as_in_the_paper_and_no_more_in_a_split() -> None:
    refs = generated_refs()
    assert len(refs) == 41
    parts = split(refs)
    assert [len(part) for part in parts] == [24, 8, 9]
    assert {int(ref.name[1:]) for ref in refs} == recipes().keys() - HELD_BACK
    for ref in refs:
        assert ref.reference == best_known()[int(ref.name[1:])]


def test_graphs_held_back_can_be_loaded() -> None:
    instance = DOMAIN.load(InstanceRef("maxcut", "gset", "G5", None))
    assert len(instance.data["edges"]) == 19176


@pytest.mark.parametrize(("group", "name"), [("gset", "G55"), ("gset", "G0"), ("gset", "x"), ("other", "G1")])
def test_an_unknown_generated_instance_is_refused(group: str, name: str) -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("maxcut", group, name, None))


def test_edges_and_csr_say_the_same() -> None:
    made = graph(14)
    csr = csr_of(made.n_vertices, made.edges, made.weights)
    edges, weights = edges_of(csr)
    assert sorted(edges.tolist()) == sorted(made.edges.tolist())
    assert weights.sum() == made.weights.sum()
    for vertex in range(made.n_vertices):
        row = csr.neighbours[csr.offsets[vertex] : csr.offsets[vertex + 1]]
        assert (np.diff(row) > 0).all()
