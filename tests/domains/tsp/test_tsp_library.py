"""Every library implementation keeps tours valid, keeps its promises, and obeys the source rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Implementation, Instance, Operator, PipelineStep, State
from dga2d.domains.execution import Run, execute, load_implementation
from dga2d.domains.source_rules import check_source
from dga2d.domains.tsp import DOMAIN

CASES = [
    pytest.param(operator, implementation, id=implementation.origin.removeprefix("library:"))
    for operator in DOMAIN.operators()
    for implementation in operator.implementations
]
Loader = Callable[[Implementation], Run]


@pytest.fixture(scope="session")
def load(pytestconfig: pytest.Config) -> Loader:
    """Loads an implementation once per session; its machine code outlives the session in pytest's cache."""
    assert pytestconfig.cache is not None
    cache = pytestconfig.cache.mkdir("implementations")
    runs: dict[str, Run] = {}

    def cached(implementation: Implementation) -> Run:
        if implementation.digest not in runs:
            runs[implementation.digest] = load_implementation(implementation, cache)
        return runs[implementation.digest]

    return cached


def instances() -> Iterator[Instance]:
    """Small instances: spread points, points that coincide, points on a line, all in one place."""
    rng = np.random.default_rng(0)
    for i, n in enumerate([5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 23, 31, 42, 51, 60, *range(1, 5)]):
        spread = rng.integers(0, 1000, size=(n, 2)).astype(np.float64)
        twins = spread[rng.integers(0, max(n // 3, 1), size=n)]
        line = spread * [1.0, 0.0]
        for kind, coords in (("spread", spread), ("twins", twins), ("line", line), ("one", spread * 0.0)):
            if kind in ("spread", "twins") or i % 5 == 0:
                yield Instance("tsp", "test", f"{kind}{n}", {"coords": coords})


INSTANCES = list(instances())


def start(operator: Operator, n: int, seed: int) -> State:
    if operator.is_initialiser:
        return State()
    return State(np.random.default_rng(seed).permutation(n).astype(np.int32))


def apply(run: Run, instance: Instance, state: State, seed: int, work: int = 200) -> State:
    environment = DOMAIN.environment(instance)
    rng = np.random.Generator(np.random.Philox(seed))
    env_data = {**environment, "rng": rng, "budget": Budget(work, "work", 1)}
    return run(env_data, state, DOMAIN.decoder(environment))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("operator", "implementation"), CASES)
def test_implementation_compiles_and_solves_the_smoke_instance(
    operator: Operator, implementation: Implementation, load: Loader
) -> None:
    """Stands first: with an empty cache nearly all of this file's time is spent here, in the compiler."""
    instance = DOMAIN.smoke_instance()
    after = apply(load(implementation), instance, start(operator, 16, 0), seed=0)
    assert DOMAIN.verify(instance, after).is_feasible


@pytest.mark.parametrize(("operator", "implementation"), CASES)
def test_validity_is_kept_and_improvers_never_worsen(
    operator: Operator, implementation: Implementation, load: Loader
) -> None:
    run = load(implementation)
    for seed, instance in enumerate(INSTANCES):
        before = start(operator, len(instance.data["coords"]), seed)
        length_before = DOMAIN.verify(instance, before).objective
        verdict = DOMAIN.verify(instance, apply(run, instance, before, seed))
        assert verdict.violation is None, instance.name
        assert verdict.objective is not None
        if operator.category in ("local_search", "intensification"):
            assert length_before is not None
            assert verdict.objective <= length_before, instance.name


@pytest.mark.parametrize(("operator", "implementation"), CASES)
def test_runs_repeat_under_a_work_budget(
    operator: Operator, implementation: Implementation, load: Loader
) -> None:
    run = load(implementation)
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "E100.0"))
    first, again = (apply(run, instance, start(operator, 100, 3), seed=4, work=2500) for _ in range(2))
    np.testing.assert_array_equal(first.sequence, again.sequence)


@pytest.mark.parametrize(("operator", "implementation"), CASES)
def test_work_is_charged(operator: Operator, implementation: Implementation, load: Loader) -> None:
    environment = DOMAIN.environment(DOMAIN.smoke_instance())
    budget = Budget(100, "work", 1)
    rng = np.random.Generator(np.random.Philox(1))
    load(implementation)({**environment, "rng": rng, "budget": budget}, start(operator, 16, 1), lambda _: 0.0)
    assert budget.work > 0


class SuddenClock:
    """Stands still for some readings, then is far past any deadline."""

    def __init__(self, still: int) -> None:
        self.still = still

    def __call__(self) -> float:
        self.still -= 1
        return 0.0 if self.still >= 0 else 1e9


class WatchedBudget(Budget):
    """Counts charges made after the operator was told that its share is used up."""

    late_charges = 0
    has_said_so = False

    def exhausted(self) -> bool:
        self.has_said_so = super().exhausted()
        return self.has_said_so

    def charge(self, units: int = 1) -> None:
        self.late_charges += self.has_said_so
        super().charge(units)


@pytest.mark.parametrize(("operator", "implementation"), CASES)
@pytest.mark.parametrize("readings", [2, 5, 20])
def test_no_work_is_done_once_the_budget_is_exhausted(
    operator: Operator, implementation: Implementation, readings: int, load: Loader
) -> None:
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "E200.0"))
    environment = DOMAIN.environment(instance)
    budget = WatchedBudget(1.0, "s", 1, clock=SuddenClock(readings))
    env_data = {**environment, "rng": np.random.Generator(np.random.Philox(1)), "budget": budget}
    before = start(operator, 200, 1)
    after = load(implementation)(env_data, before, lambda _: 0.0)
    assert DOMAIN.verify(instance, after).is_feasible
    assert budget.late_charges == 0
    if operator.category == "intensification":
        assert budget.has_said_so


@pytest.mark.parametrize(("operator", "implementation"), CASES)
def test_source_obeys_the_static_rules(operator: Operator, implementation: Implementation) -> None:
    assert check_source(implementation.source) == ()


PERTURBATIONS = [case for case in CASES if getattr(case.values[0], "category", "") == "perturbation"]


@pytest.mark.parametrize(("operator", "implementation"), PERTURBATIONS)
def test_perturbations_change_the_tour(
    operator: Operator, implementation: Implementation, load: Loader
) -> None:
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "E100.0"))
    before = start(operator, 100, 5)
    links = _links(before.sequence.copy())
    changed = [
        links - _links(apply(load(implementation), instance, before.copy(), seed).sequence)
        for seed in range(5)
    ]
    assert all(1 <= len(gone) <= 12 for gone in changed)


def _links(tour: NDArray[np.int32]) -> set[frozenset[int]]:
    cities = tour.tolist()
    return {frozenset(pair) for pair in zip(cities, cities[1:] + cities[:1], strict=True)}


def test_double_bridge_exchanges_exactly_four_edges(load: Loader) -> None:
    operator = next(op for op in DOMAIN.operators() if op.id == "double_bridge")
    for n in (8, 9, 16, 60):
        coords = np.random.default_rng(n).integers(0, 1000, size=(n, 2)).astype(np.float64)
        instance = Instance("tsp", "test", f"spread{n}", {"coords": coords})
        before = start(operator, n, 2)
        for implementation in operator.implementations:
            for seed in range(25):
                after = apply(load(implementation), instance, before.copy(), seed)
                assert len(_links(before.sequence) - _links(after.sequence)) == 4


def test_strong_descents_reach_two_opt_optima(load: Loader) -> None:
    instance = DOMAIN.load(next(ref for ref in DOMAIN.generated() if ref.name == "E100.1"))
    optimum = next(ref.reference for ref in DOMAIN.generated() if ref.name == "E100.1")
    assert optimum is not None
    for name, share in (
        ("two_opt", 1.25),
        ("or_two_opt", 1.15),
        ("or_three_opt", 1.25),
        ("lin_kernighan", 1.10),
    ):
        operator = next(op for op in DOMAIN.operators() if op.id == name)
        begun = start(operator, 100, 1)
        tour = apply(load(operator.implementations[0]), instance, begun, 1, work=10**6)
        length = DOMAIN.verify(instance, tour).objective
        assert length is not None
        assert length < share * optimum.value, name


@pytest.mark.parametrize("name", ["safe", "basic"])
@pytest.mark.parametrize("key", ["uniform/E100.0", "clustered/C100.0", "uniform/E200.0"])
def test_baselines_come_near_the_references_and_do_not_beat_them(key: str, name: str, load: Loader) -> None:
    ref = next(ref for ref in DOMAIN.generated() if ref.key == key)
    steps = DOMAIN.safe_baseline() if name == "safe" else DOMAIN.basic_baseline()
    execution, instance = _execute(steps, DOMAIN.load(ref), load)
    length = DOMAIN.verify(instance, execution).objective
    assert length is not None
    assert ref.reference is not None
    assert 0.9999 * ref.reference.value <= length
    assert length <= (1.01 if name == "safe" else 1.05) * ref.reference.value


def _execute(steps: tuple[PipelineStep, ...], instance: Instance, load: Loader) -> tuple[State, Instance]:
    environment = DOMAIN.environment(instance)
    runs = [load(step.implementation) for step in steps]
    budget = Budget(15_000, "work", len(runs))
    rng = np.random.Generator(np.random.Philox(1))
    return execute(runs, environment, DOMAIN.decoder(environment), budget, rng).state, instance


def test_baselines_start_with_an_initialiser_and_keep_to_their_tier() -> None:
    by_id = {operator.id: operator for operator in DOMAIN.operators()}
    for steps in (DOMAIN.safe_baseline(), DOMAIN.basic_baseline()):
        assert by_id[steps[0].operator].is_initialiser
        assert not any(by_id[step.operator].is_initialiser for step in steps[1:])
    assert {by_id[step.operator].tier for step in DOMAIN.basic_baseline()} == {"basic"}


def test_library_has_enough_of_each_kind() -> None:
    operators = DOMAIN.operators()
    assert [op.id for op in operators] == sorted(op.id for op in operators)
    assert len(operators) >= 12
    basic = [op for op in operators if op.tier == "basic"]
    assert len(basic) >= 5
    assert sum(op.is_initialiser for op in basic) >= 2
    files = {path.name for path in (Path(__file__).parents[3] / "domains/tsp/library").glob("*.py")}
    named = {i.origin.removeprefix("library:") for op in operators for i in op.implementations}
    assert files == named
