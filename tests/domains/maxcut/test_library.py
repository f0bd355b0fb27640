"""The Max-Cut library keeps what every library has to keep; some operators keep more."""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Size, Specimen
from tests.domains.maxcut.specimens import graph_instance, random_instance, random_sides

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance, InstanceRef, State
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.maxcut import DOMAIN
from dga2d.domains.maxcut.gset import best_known

NO_EDGES = graph_instance(5, [], [], "no-edges")
ZERO_WEIGHTS = graph_instance(4, [(0, 1), (1, 2), (2, 3)], [0, 0, 0], "zeros")


def instance_of(size: Size, seed: int) -> Instance:
    n_vertices, n_edges = size
    return random_instance(n_vertices, n_edges, seed)


class MaxCutLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=instance_of,
        random_state=lambda instance, seed: State(random_sides(instance, seed)),
        small=((1, 0), (2, 1), (3, 3), (4, 2), (7, 21), (9, 8), (14, 30)),
        middle=(30, 80),
        larger=((60, 1770), (400, 800), (2000, 20_000), (800, 19_000)),
        smoke_target=-13.0,
        blocks=frozenset({"tabu-tenure", "region-choice", "cooling", "acceptance", "jump-kind"}),
        own_functions=frozenset({"run", "improve_vertex"}),
        oddities=((NO_EDGES, 0.0), (ZERO_WEIGHTS, 0.0)),
    )


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    """Implementations as modules, compiled where they are called."""
    folder = tmp_path_factory.mktemp("texts")
    modules = {}
    for _, implementation in MaxCutLibrary.specimen.cases:
        name = implementation.origin.removeprefix("library:").removesuffix(".py")
        if name in ("partition_crossover_annealing", "forest_optimisation", "tabu_search"):
            path = folder / f"{name}.py"
            path.write_text(implementation.source, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(f"maxcut_{name}", path)
            assert spec is not None
            assert spec.loader is not None
            modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(modules[name])
    return modules


def cut_of(instance: Instance, signs: np.ndarray) -> int:
    verdict = DOMAIN.verify(instance, State(((signs + 1) // 2).astype(np.int32)))
    assert verdict.objective is not None
    return int(verdict.objective)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_crossover_takes_the_best_combination_of_regions(texts: dict[str, ModuleType], seed: int) -> None:
    """Regions are the components of the subgraph of disagreeing vertices; all their subsets are tried."""
    instance = random_instance(24, 28, seed)
    environment = DOMAIN.environment(instance)
    graph = environment["offsets"], environment["neighbors"], environment["edge_weights"]
    first, second = (2 * random_sides(instance, 2 * seed + k) - 1 for k in (0, 1))
    if int(first @ second) < 0:
        second = -second
    regions = regions_of(instance, np.flatnonzero(first != second).tolist())
    before, most = cut_of(instance, first), -(10**9)
    for taken in product((False, True), repeat=len(regions)):
        child = first.copy()
        for region, is_taken in zip(regions, taken, strict=True):
            if is_taken:
                child[region] *= -1
        most = max(most, cut_of(instance, child))
    child, scratch = first.copy(), [np.zeros(24, np.int32) for _ in range(2)]
    cross = texts["partition_crossover_annealing"].cross
    gained = cross(child, second, *graph, *scratch, np.random.default_rng(0))
    assert cut_of(instance, child) == before + gained == most


def regions_of(instance: Instance, members: list[int]) -> list[list[int]]:
    left, regions = set(members), []
    while left:
        region = [left.pop()]
        for vertex in region:
            for a, b in instance.data["edges"].tolist():
                other = b if a == vertex else a if b == vertex else -1
                if other in left:
                    left.remove(other)
                    region.append(other)
        regions.append(region)
    return regions


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_forest_is_solved_exactly(texts: dict[str, ModuleType], seed: int) -> None:
    """Dynamic programming over an induced forest against all signs of its vertices."""
    instance = random_instance(12, 20, seed)
    environment = DOMAIN.environment(instance)
    graph = environment["offsets"], environment["neighbors"], environment["edge_weights"]
    rng = np.random.default_rng(seed)
    signs = 2 * random_sides(instance, seed) - 1
    parent, inside, mark, above, link, queue = (np.zeros(12, np.int32) for _ in range(6))
    module = texts["forest_optimisation"]
    module.grow_forest(rng.permutation(12).astype(np.int32), *graph[:2], parent, inside, mark)
    members = np.flatnonzero(inside)
    n_inner = sum(int(inside[a] and inside[b]) for a, b in instance.data["edges"].tolist())
    assert len(regions_of(instance, members.tolist())) == len(members) - n_inner  # no circles
    before, most = cut_of(instance, signs), -(10**9)
    for choice in product((-1, 1), repeat=len(members)):
        other = signs.copy()
        other[members] = choice
        most = max(most, cut_of(instance, other))
    value = np.zeros((12, 2), np.int64)
    gained = module.optimise_forest(signs, *graph, inside, above, link, queue, value, rng)
    assert cut_of(instance, signs) == before + gained == most


@pytest.mark.slow
def test_a_tabu_walk_keeps_its_books(texts: dict[str, ModuleType]) -> None:
    """Cut, gains and best cut after a walk are what a fresh count gives."""
    module = texts["tabu_search"]
    for seed in range(12):
        instance = random_instance(40, 90, seed)
        environment = DOMAIN.environment(instance)
        graph = environment["offsets"], environment["neighbors"], environment["edge_weights"]
        signs, gains = (2 * random_sides(instance, seed) - 1).astype(np.int32), np.zeros(40, np.int32)
        cut = module.gains_of(signs, *graph, gains)
        best, cuts, free_at = signs.copy(), np.array([cut, cut, 0]), np.zeros(40, np.int64)
        span = module.largest_gain(graph[0], graph[2])
        for _ in range(5):
            rng = np.random.default_rng(seed)
            module.tabu_walk(signs, gains, best, cuts, free_at, *graph, span, 2, 5, 37, rng)
        fresh = np.zeros(40, np.int32)
        assert module.gains_of(signs, *graph, fresh) == cuts[0] == cut_of(instance, signs)
        assert (fresh == gains).all()
        assert cut_of(instance, best) == cuts[1] >= cut
        assert cuts[2] == 5 * 37


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_baselines_come_near_the_best_known_cut(tmp_path: Path) -> None:
    """Short runs on G54, which is in no split, come within two per cent."""
    instance = DOMAIN.load(InstanceRef("maxcut", "gset", "G54", None))
    environment = DOMAIN.environment(instance)
    decode = DOMAIN.decoder(environment)
    for steps in (DOMAIN.safe_baseline(), DOMAIN.basic_baseline(), DOMAIN.ils_baseline()):
        runs = [load_implementation(step.implementation, tmp_path) for step in steps]
        budget = Budget(40_000, "work", len(runs))
        result = execute(runs, environment, decode, budget, np.random.Generator(np.random.Philox(1)))
        assert -result.score >= 0.98 * best_known()[54].value
