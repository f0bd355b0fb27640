from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.mis import DOMAIN, constructions, suite

GENERATED = {ref.name: ref for ref in DOMAIN.generated()}
CONSTRUCTIONS = sorted(name for name, ref in GENERATED.items() if ref.group == "constructions")
UNPUBLISHED = {"hamming10-2", "hamming10-4", "steiner45"}
"""Constructions that have no file among the published instances."""


def test_there_are_instances_enough_of_at_most_two_thousand_vertices() -> None:
    assert [len(part) for part in split(GENERATED.values())] == [33, 35, 35]
    assert len(CONSTRUCTIONS) == 15
    assert max(np.prod(made.parameters[:2]) for made in suite.instances().values()) <= 59 * 26
    for ref in GENERATED.values():
        assert ref.reference is not None
        assert ref.reference.kind == "optimal"


def test_the_constructions_without_a_published_file_are_known(data_dir: Path) -> None:
    published = {ref.name for ref in DOMAIN.published(data_dir)}
    assert set(CONSTRUCTIONS) - published == UNPUBLISHED


@pytest.mark.parametrize("name", [name for name in CONSTRUCTIONS if name not in UNPUBLISHED])
def test_a_construction_equals_the_published_file(name: str, data_dir: Path) -> None:
    published = {ref.name: ref for ref in DOMAIN.published(data_dir)}
    ours, theirs = DOMAIN.load(GENERATED[name]), DOMAIN.load(published[name])
    assert np.array_equal(ours.data["adjacency"], theirs.data["adjacency"])
    assert ours.reference is not None
    assert theirs.reference is not None
    assert ours.reference.value == theirs.reference.value


COUNTS = {
    "hamming6-4": (64, 64 * 63 // 2 - 704),
    "hamming10-2": (1024, 5120),
    "hamming10-4": (1024, 89600),
    "johnson8-2-4": (28, 168),
    "johnson32-2-4": (496, 14880),
    "keller4": (171, 5100),
    "keller5": (776, 74710),
    "MANN_a9": (45, 72),
    "MANN_a27": (378, 702),
    "steiner45": (1035, 1980),
}


@pytest.mark.parametrize("name", COUNTS)
def test_vertices_and_edges_are_those_of_the_literature(name: str) -> None:
    adjacency = DOMAIN.load(GENERATED[name]).data["adjacency"]
    assert (len(adjacency), int(adjacency.sum()) // 2) == COUNTS[name]


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_graphs_are_symmetric_without_loops_and_read_only(name: str) -> None:
    adjacency = DOMAIN.load(GENERATED[name]).data["adjacency"]
    assert adjacency.dtype == np.uint8
    assert not adjacency.flags.writeable
    assert np.array_equal(adjacency, adjacency.T)
    assert not np.diagonal(adjacency).any()
    assert set(np.unique(adjacency).tolist()) <= {0, 1}


@pytest.mark.parametrize("points", [9, 27, 45, 81])
def test_triple_systems_cover_every_pair_once(points: int) -> None:
    adjacency = suite.steiner_graph(points)
    triples = [
        [int(np.flatnonzero(adjacency[corner])[0]) for corner in range(first, first + 3)]
        for first in range(points, len(adjacency), 3)
    ]
    pairs = [pair for triple in triples for pair in combinations(sorted(triple), 2)]
    assert sorted(pairs) == list(combinations(range(points), 2))


def test_a_projective_plane_has_the_lines_of_fano() -> None:
    assert constructions.projective_triples(2) == (
        *((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)),
    )


def test_an_unknown_instance_without_a_file_is_refused() -> None:
    with pytest.raises(InstanceFormatError, match="is not a generated instance"):
        DOMAIN.load(InstanceRef("mis", "constructions", "hamming7-3", None))
