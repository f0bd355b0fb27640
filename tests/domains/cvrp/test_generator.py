"""Uchoa's generator follows its recipe, and the generated suite has references."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.cvrp import DOMAIN
from dga2d.domains.cvrp.generator import DemandPattern, Recipe, generate
from dga2d.domains.cvrp.suite import generated_instances


@pytest.mark.parametrize("customers", ["random", "clustered", "half"])
def test_nodes_are_distinct_grid_points(customers: str) -> None:
    recipe = Recipe(120, "random", customers, "1-10", 6.0, 7)  # type: ignore[arg-type]
    coords = generate(recipe).coords
    assert coords is not None
    assert len(np.unique(coords, axis=0)) == 121
    assert (coords == np.floor(coords)).all()
    assert coords.min() >= 0
    assert coords.max() <= 1000


def test_depots_stand_where_the_recipe_says() -> None:
    for depot, place in (("centre", [500, 500]), ("eccentric", [0, 0])):
        coords = generate(Recipe(10, depot, "random", "unitary", 3.0, 1)).coords  # type: ignore[arg-type]
        assert coords is not None
        assert coords[0].tolist() == place


def test_clustered_customers_are_nearer_to_each_other_than_random_ones() -> None:
    def mean_nearest(customers: str, seed: int) -> float:
        coords = generate(Recipe(150, "centre", customers, "unitary", 5.0, seed)).coords  # type: ignore[arg-type]
        assert coords is not None
        away = np.sqrt(((coords[1:, None, :] - coords[None, 1:, :]) ** 2).sum(axis=2))
        np.fill_diagonal(away, np.inf)
        return float(away.min(axis=1).mean())

    def mean(customers: str) -> float:
        return sum(mean_nearest(customers, seed) for seed in range(8)) / 8

    assert mean("clustered") < 0.7 * mean("random")
    assert mean("clustered") < mean("half") < mean("random")


@pytest.mark.parametrize(
    ("pattern", "low", "high"),
    [("unitary", 1, 1), ("1-10", 1, 10), ("5-10", 5, 10), ("1-100", 1, 100), ("50-100", 50, 100)],
)
def test_demands_fill_their_range(pattern: DemandPattern, low: int, high: int) -> None:
    demands = generate(Recipe(2000, "centre", "random", pattern, 5.0, 3)).demands
    assert demands[0] == 0
    assert (demands[1:].min(), demands[1:].max()) == (low, high)


def test_quadrants_decide_on_demands() -> None:
    data = generate(Recipe(300, "centre", "random", "quadrant", 5.0, 3))
    assert data.coords is not None
    for (x, y), demand in zip(data.coords[1:].tolist(), data.demands[1:].tolist(), strict=True):
        is_even = (x < 500) != (y < 500)
        assert 1 <= demand <= 50 if is_even else 51 <= demand <= 100


def test_most_demands_are_small_in_the_last_pattern() -> None:
    for seed in range(5):
        demands = generate(Recipe(600, "centre", "random", "many-small", 5.0, seed)).demands[1:]
        assert set(demands.tolist()) <= {*range(1, 11), *range(50, 101)}
        assert 0.62 < (demands <= 10).mean() < 0.99


def test_the_capacity_lets_about_r_customers_into_a_route() -> None:
    data = generate(Recipe(200, "centre", "random", "1-100", 8.0, 5))
    assert data.capacity == math.ceil(8.0 * data.demands.sum() / 200)
    assert generate(Recipe(20, "centre", "random", "1-100", 0.1, 5)).capacity >= data.demands[1:].min()


def test_the_suite_covers_positions_demands_and_sizes() -> None:
    recipes = [instance.recipe for instance in generated_instances()]
    assert len(recipes) == len(set(recipes)) == 90
    assert {recipe.depot for recipe in recipes} == {"centre", "eccentric", "random"}
    assert {recipe.customers for recipe in recipes} == {"clustered", "half", "random"}
    assert len({recipe.demands for recipe in recipes}) == 7


def test_reference_table_names_the_same_recipes() -> None:
    path = Path(__file__).parents[3] / "domains" / "cvrp" / "references.json"
    table = json.loads(path.read_text(encoding="utf-8"))["references"]
    expected = {f"{i.group}/{i.name}": i.recipe._asdict() for i in generated_instances()}
    assert {key: entry["recipe"] for key, entry in table.items()} == expected


def test_generated_instances_load_the_same_twice_and_differ() -> None:
    refs = DOMAIN.generated()
    assert [len(part) for part in split(refs)] == [18, 36, 36]
    first, again = (
        [DOMAIN.load(ref).data["routing"].coords.tobytes() for ref in refs[::6]] for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == len(first)
    for ref in refs:
        assert ref.reference is not None
        assert ref.reference.kind == "computed"
        assert "PyVRP" in ref.reference.source


def test_an_unknown_generated_name_is_refused() -> None:
    with pytest.raises(InstanceFormatError, match="no file"):
        DOMAIN.load(InstanceRef("cvrp", "random", "n007-centre", None))
