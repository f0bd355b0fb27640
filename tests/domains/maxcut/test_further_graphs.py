"""The graphs beside the G-set: of its families, in its sizes, from other seeds, and none to train on."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.published import shipped_table
from dga2d.domains.core.splits import split
from dga2d.domains.maxcut import DOMAIN, gset, suite
from dga2d.domains.maxcut.graph import WeightedGraph

FURTHER = {one.name: one for one in suite.further_instances()}

OF_THE_G_SET = {
    "random-800": 1,
    "signed-random-800": 6,
    "torus-800": 11,
    "planar-800": 14,
    "signed-planar-800": 18,
    "random-2000": 22,
    "signed-random-2000": 27,
    "torus-2000": 32,
    "planar-2000": 35,
    "signed-planar-2000": 39,
    "random-1000": 43,
    "planar-1000": 51,
}
"""Family and its first graph in the G-set."""


def published(number: int) -> WeightedGraph:
    made = gset.generate(f"G{number}")
    assert made is not None
    return made


def test_validation_and_test_have_at_least_33_and_training_what_it_had() -> None:
    parts = split(DOMAIN.generated())
    assert [len(part) for part in parts] == [24, 44, 45]
    assert [sum(ref.group == "gset" for ref in part) for part in parts] == [24, 8, 9]
    own = split(gset.generated_refs())
    assert [[ref for ref in part if ref.group == "gset"] for part in parts] == [list(part) for part in own]


def test_each_family_is_in_both_parts() -> None:
    for name in suite.FAMILIES:
        parts = [FURTHER[f"{name}-{number}"].part for number in range(1, 7)]
        assert parts == ["validation"] * 3 + ["test"] * 3
    assert suite.FAMILIES.keys() == OF_THE_G_SET.keys()


@pytest.mark.parametrize(("name", "number"), OF_THE_G_SET.items())
def test_a_graph_is_like_the_first_of_its_family_and_not_the_same(name: str, number: int) -> None:
    made, first = FURTHER[f"{name}-1"].graph(), published(number)
    assert made.n_vertices == first.n_vertices
    assert len(made.edges) == pytest.approx(len(first.edges), rel=0.02)
    assert set(made.weights.tolist()) == set(first.weights.tolist())
    is_same_graph = np.array_equal(made.edges, first.edges)
    assert is_same_graph == name.startswith("torus")
    assert not (is_same_graph and np.array_equal(made.weights, first.weights))


def test_seeds_are_none_of_the_g_sets_and_differ_within_a_family() -> None:
    recipes = gset.recipes().values()
    taken = {recipe.settings[-1] + k for recipe in recipes for k in (0, 1)}
    taken |= {recipe.sign_seed for recipe in recipes if recipe.sign_seed is not None}
    for name in suite.FAMILIES:
        seeds = [FURTHER[f"{name}-{number}"].seed for number in range(1, 7)]
        both = {seed + k for seed in seeds for k in (0, 1)}  # a union of planar graphs takes two
        assert len(both) == 12
        assert not both & taken


@pytest.mark.slow
def test_references_are_those_of_the_recipes_and_no_lighter_than_half_of_the_edges() -> None:
    table = shipped_table("dga2d.domains.maxcut")["references"]
    assert {f"rudy/{name}" for name in FURTHER} == table.keys()
    for name, one in FURTHER.items():
        assert table[f"rudy/{name}"]["seed"] == one.seed
    for ref in suite.generated_refs():
        assert ref.reference is not None
        if ref.group == "rudy" and "signed" not in ref.name and "torus" not in ref.name:
            assert ref.reference.value > len(FURTHER[ref.name].graph().edges) / 2


@pytest.mark.slow
def test_the_graphs_keep_their_digest() -> None:
    digest = hashlib.sha256()
    for name, one in FURTHER.items():
        made = one.graph()
        digest.update(f"{name} {made.n_vertices}".encode())
        digest.update(made.edges.astype("<i4").tobytes())
        digest.update(made.weights.astype("<i4").tobytes())
    assert digest.hexdigest() == "2021c72fc68740c75dfbe6106914d1222e6e4240dbd3a754eea611a7b976eb11"


def test_a_graph_loads_the_same_twice() -> None:
    ref = next(ref for ref in DOMAIN.generated() if ref.key == "rudy/signed-planar-800-2")
    first, second = DOMAIN.load(ref), DOMAIN.load(ref)
    np.testing.assert_array_equal(first.data["edges"], second.data["edges"])
    np.testing.assert_array_equal(first.data["weights"], second.data["weights"])


@pytest.mark.parametrize("name", ["planar-800-7", "planar-800", "G1"])
def test_an_unknown_graph_is_refused(name: str) -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("maxcut", "rudy", name, None))
