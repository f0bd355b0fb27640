"""Every implementation of the job-shop library, run as plain Python (bounds checked) on tiny instances.

The compiled runs are slow tests: they compile each file once and compare it with the plain run.
"""

from __future__ import annotations

import ast
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
from dga2d.domains.jsp import DOMAIN
from dga2d.domains.source_rules import check_source

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
    instance = make_instance(4, 3, 1)
    data = {"machines": instance.data["machines"], "times": np.zeros((4, 3), np.int32)}
    instance = Instance("jsp", "random", "zeros", data)
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
    assert (environment["machines_matrix"] == instance.data["machines"]).all()
    assert (environment["times_matrix"] == instance.data["times"]).all()


@every_implementation
def test_the_text_obeys_the_source_rules(operator: Operator, implementation: Implementation) -> None:
    assert check_source(implementation.source) == ()
    docstring = ast.get_docstring(ast.parse(implementation.source))
    assert docstring is not None
    for part in ("Method:", "Source:", "Complexity:"):
        assert part in docstring


TUNABLE = re.compile(
    r"^(?P<name>[A-Z_]+) = (?P<value>\S+)  # tunable: "
    r"(?:(?P<kind>int|float) (?P<low>\S+)\.\.(?P<high>\S+)|choice (?P<words>[\w ]+))$"
)


@every_implementation
def test_tunables_are_well_formed_and_within_their_range(
    operator: Operator, implementation: Implementation
) -> None:
    marked = [line for line in implementation.source.splitlines() if "# tunable" in line]
    assert marked
    for line in marked:
        match = TUNABLE.match(line)
        assert match, line
        if match["words"]:
            assert ast.literal_eval(match["value"]) in match["words"].split()
            continue
        number = int if match["kind"] == "int" else float
        assert number(match["low"]) <= number(match["value"]) <= number(match["high"]), line


def functions(implementation: Implementation) -> dict[str, str]:
    """Texts of the top-level functions, decorators included."""
    tree = ast.parse(implementation.source)
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def exchangeable(implementation: Implementation) -> dict[str, tuple[str, str]]:
    """Exchangeable blocks: name → (function, its arguments)."""
    lines = implementation.source.splitlines()
    blocks = {}
    for node in ast.parse(implementation.source).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            marker = re.match(r"# exchangeable: ([\w-]+)$", lines[first - 2])
            if marker:
                blocks[marker[1]] = (node.name, ast.unparse(node.args))
    return blocks


def test_exchangeable_blocks_of_one_name_have_one_signature() -> None:
    seen: dict[str, tuple[str, str]] = {}
    count = 0
    for _, implementation in CASES:
        count += implementation.source.count("# exchangeable: ")
        for name, signature in exchangeable(implementation).items():
            count -= 1
            assert seen.setdefault(name, signature) == signature
    assert count == 0
    assert {"neighbourhood", "tabu-tenure", "priority-rule"} <= seen.keys()


def test_exchangeable_blocks_stand_alone() -> None:
    for _, implementation in CASES:
        tree = ast.parse(implementation.source)
        blocks = {function for function, _ in exchangeable(implementation).values()}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in blocks:
                bound = {
                    "np",
                    "math",
                    "njit",
                    *dir(__builtins__),
                    "max",
                    "min",
                    "int",
                    "float",
                    "range",
                    "len",
                }
                bound |= {arg.arg for arg in node.args.args}
                bound |= {
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
                used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                assert used <= bound, (node.name, used - bound)


OWN = {"run", "schedule", "search", "restart", "block_moves", "insert", "construct"}


def test_a_function_of_one_name_is_the_same_in_every_file() -> None:
    """Files are self-contained copies; this keeps the copies from drifting apart."""
    seen: dict[str, str] = {}
    for _, implementation in CASES:
        for name, text in functions(implementation).items():
            if name not in OWN:
                assert seen.setdefault(name, text) == text, (name, implementation.origin)


def test_the_library_has_what_the_domain_promises() -> None:
    assert len(OPERATORS) >= 12
    basic = [op for op in OPERATORS.values() if op.tier == "basic"]
    assert len(basic) >= 5
    assert sum(op.is_initialiser for op in basic) >= 2
    assert [op.id for op in DOMAIN.operators()] == sorted(OPERATORS)
    folder = {
        path.name
        for path in Path(sys.modules[type(DOMAIN).__module__].__file__ or "").parent.glob("library/*.py")
    }
    assert folder == set(IDS)
    for op in OPERATORS.values():
        assert op.is_initialiser is (op.category == "initialisation")
        assert op.provides == "complete"


def test_baselines_start_with_an_initialiser_and_basic_stays_basic() -> None:
    for pipeline in (DOMAIN.safe_baseline(), DOMAIN.basic_baseline()):
        assert OPERATORS[pipeline[0].operator].is_initialiser
        assert not any(OPERATORS[step.operator].is_initialiser for step in pipeline[1:])
    assert all(OPERATORS[step.operator].tier == "basic" for step in DOMAIN.basic_baseline())


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest) -> Callable[[Implementation], Run]:
    """Loads compiled implementations; machine code is kept in pytest's cache between sessions."""
    assert request.config.cache is not None
    folder = Path(request.config.cache.mkdir("jsp-implementations"))
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
def test_the_safe_baseline_solves_ft06(compiled: Callable[[Implementation], Run]) -> None:
    environment = DOMAIN.environment(DOMAIN.smoke_instance())
    runs = [compiled(step.implementation) for step in DOMAIN.safe_baseline()]
    rng = np.random.Generator(np.random.Philox(0))
    result = execute(runs, environment, DOMAIN.decoder(environment), Budget(50_000, "work", len(runs)), rng)
    assert result.score == 55.0
