"""Every implementation of the flow-shop library at work.

The quick tests run the texts as plain Python (which checks bounds, and compiles nothing) on tiny instances.
The slow ones compile each file, once for the whole session, compare it with the plain run and give it larger
instances.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dga2d.domains.budget import Budget
from dga2d.domains.contract import Implementation, Instance, Operator, State
from dga2d.domains.execution import Execution, Run, execute, load_implementation
from dga2d.domains.fssp import DOMAIN

Make = Callable[..., Instance]
Sequences = Callable[[Instance, int], NDArray[np.int32]]

OPERATORS = {op.id: op for op in DOMAIN.operators()}
CASES = [(op, impl) for op in DOMAIN.operators() for impl in op.implementations]
IDS = [impl.origin.removeprefix("library:") for _, impl in CASES]
every_implementation = pytest.mark.parametrize(("operator", "implementation"), CASES, ids=IDS)

SMALL_CHUNKS = re.compile(r"^(CHUNK_\w+) = [\d_]+", flags=re.MULTILINE)


def shortened(implementation: Implementation) -> Implementation:
    """The same text with kernel calls short enough for plain Python and for tiny budgets."""
    source = SMALL_CHUNKS.sub(r"\1 = 1500", implementation.source)
    source = source.replace("max(50, CHUNK", "max(5, CHUNK").replace("max(20, CHUNK", "max(5, CHUNK")
    return Implementation(implementation.operator, source, implementation.origin)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[Implementation], Run]:
    """Loads an implementation with ``njit`` replaced by nothing."""
    fake = ModuleType("numba")
    fake.njit = lambda **_: lambda function: function  # type: ignore[attr-defined]

    def load(implementation: Implementation) -> Run:
        module = ModuleType(f"plain_{implementation.digest[:12]}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "numba", fake)
            exec(compile(shortened(implementation).source, implementation.origin, "exec"), vars(module))
        return module.run  # type: ignore[no-any-return]

    return load


def start_with(sequence: NDArray[np.int32]) -> Run:
    """An initialiser that gives a copy of `sequence`."""

    def run(env_data: Any, state: State, calc_makespan_fn: Any) -> State:
        state.sequence = sequence.copy()
        return state

    return run


def run_on(
    instance: Instance, operator: Operator, run: Run, sequence: NDArray[np.int32], seed: int, work: int = 150
) -> Execution:
    environment = DOMAIN.environment(instance)
    runs = (run,) if operator.is_initialiser else (start_with(sequence), run)
    rng = np.random.Generator(np.random.Philox(seed))
    with np.errstate(over="ignore"):
        return execute(runs, environment, DOMAIN.decoder(environment), Budget(work, "work", len(runs)), rng)


SIZES = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5), (5, 3), (6, 6), (8, 3)]


@every_implementation
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_results_are_valid_and_never_worse_unless_perturbed(
    operator: Operator,
    implementation: Implementation,
    size: tuple[int, int],
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    run = plain(implementation)
    for seed in range(3):
        instance = make_instance(*size, seed, low=seed % 2)
        result = run_on(instance, operator, run, random_sequence(instance, seed), seed)
        verdict = DOMAIN.verify(instance, result.state)
        assert verdict.violation is None
        assert verdict.objective == result.score
        assert result.state.sequence.dtype == np.int32
        after = result.trace[-1].score_after
        assert after != DOMAIN.invalid_score
        if operator.category not in ("perturbation", "initialisation"):
            before = result.trace[-1].score_before
            assert before is not None
            assert after <= before


@every_implementation
def test_all_zero_times_do_no_harm(
    operator: Operator,
    implementation: Implementation,
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    instance = Instance("fssp", "random", "zeros", {"times": np.zeros((4, 3), np.int32)})
    result = run_on(instance, operator, plain(implementation), random_sequence(instance, 1), 1)
    assert DOMAIN.verify(instance, result.state).objective == 0.0


@every_implementation
def test_a_run_under_a_work_budget_is_repeatable(
    operator: Operator,
    implementation: Implementation,
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    instance = make_instance(6, 5, 7)
    sequence = random_sequence(instance, 7)
    runs = [run_on(instance, operator, plain(implementation), sequence, 11) for _ in range(2)]
    assert runs[0].state.sequence.tolist() == runs[1].state.sequence.tolist()
    assert [trace.work for trace in runs[0].trace] == [trace.work for trace in runs[1].trace]


@every_implementation
def test_the_input_arrays_are_left_alone(
    operator: Operator,
    implementation: Implementation,
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    instance = make_instance(4, 4, 2)
    environment = DOMAIN.environment(instance)
    decode = DOMAIN.decoder(environment)
    sequence = random_sequence(instance, 2)
    kept = sequence.copy()
    state = State() if operator.is_initialiser else State(sequence)
    env_data = {
        **environment,
        "rng": np.random.Generator(np.random.Philox(1)),
        "budget": Budget(60, "work", 1),
    }
    plain(implementation)(env_data, state, decode)
    assert sequence.tolist() == kept.tolist()
    assert (environment["processing_times"] == instance.data["times"].T).all()


class JumpingClock:
    """Stands still for `readings` readings, then is past every deadline; counts the later readings."""

    def __init__(self, readings: int) -> None:
        self.left = readings
        self.late = 0

    def __call__(self) -> float:
        self.left -= 1
        self.late += self.left < 0
        return 0.0 if self.left >= 0 else 1e9


@every_implementation
@pytest.mark.parametrize("readings", [3, 5, 12, 40])
def test_a_spent_share_is_left_after_the_chunk_at_hand(
    operator: Operator,
    implementation: Implementation,
    readings: int,
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    """Whenever the deadline passes, the operator asks a few times more, starts no new search and returns."""
    instance = make_instance(6, 5, 3)
    environment = DOMAIN.environment(instance)
    clock = JumpingClock(readings)
    budget = Budget(10.0, "s", 1, clock=clock)
    env_data = {**environment, "rng": np.random.Generator(np.random.Philox(5)), "budget": budget}
    state = State() if operator.is_initialiser else State(random_sequence(instance, 3))
    state = plain(implementation)(env_data, state, DOMAIN.decoder(environment))
    assert DOMAIN.verify(instance, state).is_feasible
    assert clock.late <= 3


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest) -> Callable[[Implementation], Run]:
    """Loads compiled implementations; machine code is kept in pytest's cache between sessions."""
    assert request.config.cache is not None
    folder = Path(request.config.cache.mkdir("fssp-implementations"))
    return lambda implementation: load_implementation(implementation, folder)


@pytest.mark.slow
@pytest.mark.timeout(240)
@every_implementation
def test_compiled_and_plain_runs_agree(
    operator: Operator,
    implementation: Implementation,
    compiled: Callable[[Implementation], Run],
    plain: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    fast, slow = compiled(shortened(implementation)), plain(implementation)
    for size, seed in (((3, 3), 0), ((6, 4), 1), ((7, 5), 2)):
        instance = make_instance(*size, seed)
        sequence = random_sequence(instance, seed)
        ours = run_on(instance, operator, fast, sequence, seed)
        theirs = run_on(instance, operator, slow, sequence, seed)
        assert ours.state.sequence.tolist() == theirs.state.sequence.tolist()
        assert ours.trace[-1].work == theirs.trace[-1].work


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_safe_baseline_is_as_good_as_the_best_permutation(
    compiled: Callable[[Implementation], Run],
) -> None:
    environment = DOMAIN.environment(DOMAIN.smoke_instance())
    runs = [compiled(step.implementation) for step in DOMAIN.safe_baseline()]
    rng = np.random.Generator(np.random.Philox(0))
    result = execute(runs, environment, DOMAIN.decoder(environment), Budget(50_000, "work", len(runs)), rng)
    assert result.score <= 427.0


@pytest.mark.slow
@pytest.mark.timeout(240)
@every_implementation
def test_nothing_is_left_to_compile_after_a_run_on_the_smoke_instance(
    operator: Operator,
    implementation: Implementation,
    compiled: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    """A timed evaluation must not pay for the compiler, whatever the size of its instance."""
    run = compiled(implementation)
    small = DOMAIN.smoke_instance()
    run_on(small, operator, run, random_sequence(small, 1), 1, work=2000)
    functions = [
        value for value in vars(sys.modules[run.__module__]).values() if hasattr(value, "signatures")
    ]
    before = [len(function.signatures) for function in functions]
    for size in ((20, 5), (30, 10)):
        instance = make_instance(*size, 6)
        run_on(instance, operator, run, random_sequence(instance, 6), 6, work=40_000)
    assert [len(function.signatures) for function in functions] == before


LARGER = [(15, 15), (20, 5), (5, 20), (50, 10), (200, 20)]


@pytest.mark.slow
@pytest.mark.timeout(240)
@every_implementation
def test_compiled_runs_keep_larger_schedules_valid_and_repeatable(
    operator: Operator,
    implementation: Implementation,
    compiled: Callable[[Implementation], Run],
    make_instance: Make,
    random_sequence: Sequences,
) -> None:
    run = compiled(shortened(implementation))
    for size in LARGER:
        instance = make_instance(*size, 9, low=0)
        sequence = random_sequence(instance, 9)
        first, second = (run_on(instance, operator, run, sequence, 4, work=2000) for _ in range(2))
        assert first.state.sequence.tolist() == second.state.sequence.tolist()
        assert DOMAIN.verify(instance, first.state).objective == first.score
        before, after = first.trace[-1].score_before, first.trace[-1].score_after
        if operator.category not in ("perturbation", "initialisation"):
            assert before is not None
            assert after <= before
