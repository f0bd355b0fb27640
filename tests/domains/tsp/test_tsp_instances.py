"""Generated and published instances: sizes, seeds, references, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.tsp import DOMAIN
from dga2d.domains.tsp.generator import SubtractiveGenerator, clustered_cities, uniform_cities
from dga2d.domains.tsp.suite import find_generated, generated_instances

C1K_OPTIMA = {"C1000.0": 11387430, "C1000.1": 11376735, "C1000.2": 10855033, "C1000.3": 11886457}
"""Optimal lengths of the DIMACS challenge's C1k.0 … C1k.3: equal only if the generator is the same."""


def test_subtractive_generator_follows_its_recurrence() -> None:
    rng = SubtractiveGenerator(1000)
    drawn = [rng.integer() for _ in range(300)]
    for k in range(55, 300):
        assert drawn[k] == (drawn[k - 55] - drawn[k - 24]) % 10**9


@pytest.mark.parametrize("seed", [-1, 10**9])
def test_subtractive_generator_refuses_seeds_out_of_range(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        SubtractiveGenerator(seed)


def test_references_of_the_clustered_instances_are_the_published_optima() -> None:
    references = {ref.name: ref.reference for ref in DOMAIN.generated()}
    for name, optimum in C1K_OPTIMA.items():
        reference = references[name]
        assert reference is not None
        assert reference.value == optimum


def test_uniform_cities_are_whole_numbers_in_the_square() -> None:
    cities = uniform_cities(300, 7)
    assert cities.shape == (300, 2)
    assert cities.dtype == np.float64
    assert (cities == np.floor(cities)).all()
    assert cities.min() >= 0
    assert cities.max() < 1_000_000


@pytest.mark.parametrize("seed", range(5))
def test_clustered_cities_spread_normally_around_their_centre(seed: int) -> None:
    cities = clustered_cities(199, seed)  # below 200 cities there is a single centre, drawn first
    rng = SubtractiveGenerator(seed)
    centre = [int(rng.unit() * 1_000_000) for _ in range(2)]
    spread = 1_000_000 / np.sqrt(199)
    assert (cities == np.floor(cities)).all()
    assert np.abs(cities.mean(axis=0) - centre).max() < 4 * spread / np.sqrt(199)
    np.testing.assert_allclose(cities.std(axis=0), spread, rtol=0.2)


def test_clustered_cities_lie_near_one_of_size_over_100_centres() -> None:
    cities = clustered_cities(1000, 3)
    rng = SubtractiveGenerator(3)
    centres = np.array([[int(rng.unit() * 1_000_000) for _ in range(2)] for _ in range(10)])
    away = np.abs(cities[:, None, :] - centres[None, :, :]).max(axis=2)
    assert away.min(axis=1).max() < 5 * 1_000_000 / np.sqrt(1000)
    assert set(away.argmin(axis=1).tolist()) == set(range(10))


def test_generated_instances_have_references_and_stable_names() -> None:
    refs = DOMAIN.generated()
    assert [ref.key for ref in refs] == sorted(ref.key for ref in refs)
    assert {ref.group for ref in refs} == {"clustered", "uniform"}
    assert [len(part) for part in split(refs)] == [30, 38, 38]
    for ref in refs:
        assert ref.path is None
        assert ref.reference is not None
        assert ref.reference.kind == "computed"
        assert "LKH" in ref.reference.source


def test_reference_table_names_the_same_sizes_and_seeds() -> None:
    path = Path(__file__).parents[3] / "domains" / "tsp" / "references.json"
    table = json.loads(path.read_text(encoding="utf-8"))["references"]
    expected = {f"{i.group}/{i.name}": (i.size, i.seed) for i in generated_instances()}
    assert {key: (entry["size"], entry["seed"]) for key, entry in table.items()} == expected


def test_generated_instances_differ_and_load_the_same_twice() -> None:
    small = [ref for ref in DOMAIN.generated() if ref.name.split(".")[0] in ("C100", "E100")]
    texts = [DOMAIN.load(ref).data["coords"].tobytes() for ref in small]
    assert len(set(texts)) == len(small)
    assert texts == [DOMAIN.load(ref).data["coords"].tobytes() for ref in small]


def test_unknown_generated_name_is_refused() -> None:
    with pytest.raises(LookupError, match="uniform/E7"):
        find_generated("uniform", "E7")


def _published(tmp_path: Path, best_known: str | None) -> Path:
    group = tmp_path / "tsp" / "mine"
    group.mkdir(parents=True)
    head = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    for name in ("b3", "a3"):
        (group / f"{name}.tsp").write_text(head + "1 0 0\n2 3 4\n3 6 8\n", encoding="utf-8")
    if best_known is not None:
        (tmp_path / "tsp" / "bks.json").write_text(best_known, encoding="utf-8")
    return tmp_path


def test_published_instances_are_listed_with_best_known_values(tmp_path: Path) -> None:
    table = '{"mine/a3": {"best": 20, "optimal": true, "source": "by hand"}}'
    first, second = DOMAIN.published(_published(tmp_path, table))
    assert (first.key, second.key) == ("mine/a3", "mine/b3")
    assert first.reference is not None
    assert (first.reference.value, first.reference.kind) == (20.0, "optimal")
    assert second.reference is None
    instance = DOMAIN.load(first)
    assert instance.data["coords"].shape == (3, 2)
    assert not instance.data["coords"].flags.writeable


def test_published_works_without_a_table_and_without_a_folder(tmp_path: Path) -> None:
    assert DOMAIN.published(tmp_path) == ()
    assert len(DOMAIN.published(_published(tmp_path, None))) == 2


@pytest.mark.parametrize(
    "table",
    [
        "",
        "[]",
        '{"mine/a3": 20}',
        '{"mine/a3": {"best": "20", "optimal": true, "source": ""}}',
        '{"mine/a3": {"best": NaN, "optimal": true, "source": ""}}',
        '{"mine/a3": {"best": -1, "optimal": true, "source": ""}}',
        '{"mine/a3": {"optimal": true, "source": ""}}',
    ],
)
def test_malformed_table_of_best_known_values_is_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(InstanceFormatError, match=r"bks\.json"):
        DOMAIN.published(_published(tmp_path, table))


def test_loading_a_missing_file_is_a_format_error(tmp_path: Path) -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("tsp", "mine", "gone", tmp_path / "gone.tsp"))
