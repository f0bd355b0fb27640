"""What every operator library has to keep, as classes that each domain's tests inherit.

A domain describes its instances in a :class:`Specimen` and derives one class from :class:`LibraryRuns` and
:class:`LibraryTexts`; ``tests/domains/conftest.py`` gives their tests each implementation in turn.

The quick tests run the texts as plain Python (which checks bounds, and compiles nothing) on tiny instances.
The slow ones compile each file, once for the whole session, compare it with the plain run and give it larger
instances.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Domain, Implementation, Instance, Operator, State
from dga2d.domains.execution import Execution, Run, execute, load_implementation
from dga2d.domains.source_rules import check_source
from dga2d.runtime.plugins.elsewhere import JumpingClock

Size = tuple[int, ...]
Load = Callable[[Implementation], Run]


@dataclass(frozen=True)
class Specimen:
    """Instances and states that a domain's library is tried on."""

    domain: Domain
    make_instance: Callable[[Size, int], Instance]
    """A random instance of a size, from a seed."""
    random_state: Callable[[Instance, int], State]
    """A random valid solution, from a seed."""
    small: tuple[Size, ...]
    """Sizes for plain Python, degenerate ones among them."""
    middle: Size
    """A size of some thirty entries, still quick in plain Python."""
    larger: tuple[Size, ...]
    """Sizes for compiled runs, up to those of the benchmarks."""
    smoke_target: float
    """Score which the safe baseline reaches on the smoke instance with a work budget of 50,000."""
    blocks: frozenset[str]
    """Names of exchangeable blocks that the library must offer."""
    own_functions: frozenset[str]
    """Functions that may differ from file to file; others of one name must be equal copies."""
    oddities: tuple[tuple[Instance, float], ...] = ()
    """Degenerate instances and the score of every solution of theirs."""

    @property
    def cases(self) -> tuple[tuple[Operator, Implementation], ...]:
        return tuple((op, impl) for op in self.domain.operators() for impl in op.implementations)

    def run(
        self, instance: Instance, operator: Operator, run: Run, state: State, seed: int, work: int = 150
    ) -> Execution:
        """Execute one operator under a work budget, on `state` unless it is an initialiser."""
        environment = self.domain.environment(instance)
        runs = (run,) if operator.is_initialiser else (start_with(state), run)
        rng = np.random.Generator(np.random.Philox(seed))
        with np.errstate(over="ignore"):
            return execute(
                runs, environment, self.domain.decoder(environment), Budget(work, "work", len(runs)), rng
            )

    def call(self, instance: Instance, operator: Operator, run: Run, seed: int, budget: Budget) -> State:
        """Call one operator as the evaluation child does, with a budget of the test's own."""
        environment = self.domain.environment(instance)
        rng = np.random.Generator(np.random.Philox(seed))
        state = State() if operator.is_initialiser else self.random_state(instance, seed)
        return run({**environment, "rng": rng, "budget": budget}, state, self.domain.decoder(environment))


def shops(random_instance: Callable[..., Instance]) -> Callable[[Size, int], Instance]:
    """Random shops of a size (jobs, machines); those of even seeds may have operations without length."""
    return lambda size, seed: random_instance(*size, seed, low=seed % 2)


SMALL_CHUNKS = re.compile(r"^(CHUNK\w*) = [\d_]+", flags=re.MULTILINE)


def shortened(implementation: Implementation) -> Implementation:
    """The same text with kernel calls short enough for plain Python and for tiny budgets."""
    source = SMALL_CHUNKS.sub(r"\1 = 1500", implementation.source)
    source = source.replace("max(50, CHUNK", "max(5, CHUNK").replace("max(20, CHUNK", "max(5, CHUNK")
    return Implementation(implementation.operator, source, implementation.origin)


def start_with(state: State) -> Run:
    """An initialiser that gives a copy of `state`."""

    def run(env_data: Any, empty: State, decode: Any) -> State:
        return state.copy()

    return run


def encoded(state: State) -> dict[str, Any]:
    """All arrays of an encoding as lists."""
    arrays = {"sequence": state.sequence, **state.metadata}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in arrays.items()
    }


def arrays_of(state: State) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an encoding themselves."""
    arrays = {"sequence": state.sequence, **state.metadata}
    return {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}


class LibraryRuns:
    """Every implementation at work."""

    specimen: ClassVar[Specimen]

    @pytest.fixture
    def plain(self, monkeypatch: pytest.MonkeyPatch) -> Load:
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

    @pytest.fixture
    def compiled(self, request: pytest.FixtureRequest) -> Load:
        """Loads compiled implementations; machine code is kept in pytest's cache between sessions."""
        assert request.config.cache is not None
        folder = Path(request.config.cache.mkdir(f"{self.specimen.domain.name}-implementations"))
        return lambda implementation: load_implementation(implementation, folder)

    def test_results_are_valid_and_never_worse_unless_perturbed(
        self, operator: Operator, implementation: Implementation, size: Size, plain: Load
    ) -> None:
        run, domain = plain(implementation), self.specimen.domain
        for seed in range(3):
            instance = self.specimen.make_instance(size, seed)
            state = self.specimen.random_state(instance, seed)
            result = self.specimen.run(instance, operator, run, state, seed)
            verdict = domain.verify(instance, result.state)
            assert verdict.violation is None
            assert result.score == domain.decoder(domain.environment(instance))(result.state)
            if domain.sense == "min":
                assert result.score == verdict.objective
            assert result.state.sequence.dtype == np.int32
            assert result.trace[-1].score_after != domain.invalid_score
            self._assert_no_worse(operator, result)

    def test_degenerate_instances_do_no_harm(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        for instance, score in self.specimen.oddities:
            state = self.specimen.random_state(instance, 1)
            result = self.specimen.run(instance, operator, plain(implementation), state, 1)
            assert self.specimen.domain.verify(instance, result.state).is_feasible
            assert result.score == score

    def test_a_run_under_a_work_budget_is_repeatable(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        instance = self.specimen.make_instance(self.specimen.middle, 7)
        state = self.specimen.random_state(instance, 7)
        first, again = (
            self.specimen.run(instance, operator, plain(implementation), state, 11) for _ in range(2)
        )
        assert encoded(first.state) == encoded(again.state)
        assert [trace.work for trace in first.trace] == [trace.work for trace in again.trace]

    def test_the_input_arrays_are_left_alone(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        instance = self.specimen.make_instance(self.specimen.middle, 2)
        environment = self.specimen.domain.environment(instance)
        decode = self.specimen.domain.decoder(environment)
        given = self.specimen.random_state(instance, 2)
        kept = encoded(given)
        arrays = dict(arrays_of(given))
        state = State() if operator.is_initialiser else given
        rng = np.random.Generator(np.random.Philox(1))
        plain(implementation)({**environment, "rng": rng, "budget": Budget(60, "work", 1)}, state, decode)
        assert {name: value.tolist() for name, value in arrays.items()} == {
            name: kept[name] for name in arrays
        }
        fresh = self.specimen.domain.environment(instance)
        for key, value in environment.items():
            assert np.array_equal(value, fresh[key]), key

    @pytest.mark.parametrize("readings", [3, 5, 12, 40])
    def test_a_spent_share_is_left_after_the_chunk_at_hand(
        self, operator: Operator, implementation: Implementation, readings: int, plain: Load
    ) -> None:
        """When the deadline passes, the operator asks a few times more, starts nothing new and returns."""
        instance = self.specimen.make_instance(self.specimen.middle, 3)
        clock = JumpingClock(readings)
        budget = Budget(10.0, "s", 1, clock=clock)
        state = self.specimen.call(instance, operator, plain(implementation), 3, budget)
        assert self.specimen.domain.verify(instance, state).is_feasible
        assert clock.late <= 3

    @pytest.mark.slow
    @pytest.mark.timeout(240)
    def test_compiled_and_plain_runs_agree(
        self, operator: Operator, implementation: Implementation, compiled: Load, plain: Load
    ) -> None:
        fast, slow = compiled(shortened(implementation)), plain(implementation)
        for seed, size in enumerate((*self.specimen.small[-2:], self.specimen.middle)):
            instance = self.specimen.make_instance(size, seed)
            state = self.specimen.random_state(instance, seed)
            ours = self.specimen.run(instance, operator, fast, state, seed)
            theirs = self.specimen.run(instance, operator, slow, state, seed)
            assert encoded(ours.state) == encoded(theirs.state)
            assert ours.trace[-1].work == theirs.trace[-1].work

    @pytest.mark.slow
    @pytest.mark.timeout(240)
    def test_the_safe_baseline_solves_the_smoke_instance(self, compiled: Load) -> None:
        domain = self.specimen.domain
        environment = domain.environment(domain.smoke_instance())
        runs = [compiled(step.implementation) for step in domain.safe_baseline()]
        rng = np.random.Generator(np.random.Philox(0))
        budget = Budget(50_000, "work", len(runs))
        assert execute(runs, environment, domain.decoder(environment), budget, rng).score <= (
            self.specimen.smoke_target
        )

    @pytest.mark.slow
    @pytest.mark.timeout(240)
    def test_nothing_is_left_to_compile_after_a_run_on_the_smoke_instance(
        self, operator: Operator, implementation: Implementation, compiled: Load
    ) -> None:
        """A timed evaluation must not pay for the compiler, whatever the size of its instance."""
        run, small = compiled(implementation), self.specimen.domain.smoke_instance()
        self.specimen.run(small, operator, run, self.specimen.random_state(small, 1), 1, work=20_000)
        functions = [
            value for value in vars(sys.modules[run.__module__]).values() if hasattr(value, "signatures")
        ]
        before = [len(function.signatures) for function in functions]
        for size in self.specimen.larger[:2]:
            instance = self.specimen.make_instance(size, 6)
            state = self.specimen.random_state(instance, 6)
            self.specimen.run(instance, operator, run, state, 6, work=40_000)
        assert [len(function.signatures) for function in functions] == before

    @pytest.mark.slow
    @pytest.mark.timeout(240)
    def test_compiled_runs_keep_larger_solutions_valid_and_repeatable(
        self, operator: Operator, implementation: Implementation, compiled: Load
    ) -> None:
        run, domain = compiled(shortened(implementation)), self.specimen.domain
        for size in self.specimen.larger:
            instance = self.specimen.make_instance(size, 9)
            state = self.specimen.random_state(instance, 9)
            first, second = (
                self.specimen.run(instance, operator, run, state, 4, work=2000) for _ in range(2)
            )
            assert encoded(first.state) == encoded(second.state)
            assert domain.verify(instance, first.state).is_feasible
            assert first.score == domain.decoder(domain.environment(instance))(first.state)
            self._assert_no_worse(operator, first)

    def _assert_no_worse(self, operator: Operator, result: Execution) -> None:
        if operator.category not in ("perturbation", "initialisation"):
            before = result.trace[-1].score_before
            assert before is not None
            assert result.trace[-1].score_after <= before


TUNABLE = re.compile(
    r"^(?P<name>[A-Z][A-Z_0-9]*) = (?P<value>\S+)  # tunable: "
    r"(?:(?P<kind>int|float) (?P<low>\S+)\.\.(?P<high>\S+)|choice (?P<words>[\w ]+))$"
)


class LibraryTexts:
    """The texts: source rules, tunables, exchangeable blocks, tiers, baselines."""

    specimen: ClassVar[Specimen]

    def test_the_text_obeys_the_source_rules(
        self, operator: Operator, implementation: Implementation
    ) -> None:
        assert check_source(implementation.source) == ()
        docstring = ast.get_docstring(ast.parse(implementation.source))
        assert docstring is not None
        for part in ("Method:", "Source:", "Complexity:"):
            assert part in docstring

    def test_tunables_are_well_formed_and_within_their_range(
        self, operator: Operator, implementation: Implementation
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

    def test_exchangeable_blocks_of_one_name_have_one_signature(self) -> None:
        seen: dict[str, tuple[str, str]] = {}
        count = 0
        for _, implementation in self.specimen.cases:
            count += implementation.source.count("# exchangeable: ")
            for name, signature in exchangeable(implementation).items():
                count -= 1
                assert seen.setdefault(name, signature) == signature
        assert count == 0
        assert self.specimen.blocks <= seen.keys()

    def test_exchangeable_blocks_stand_alone(self) -> None:
        for _, implementation in self.specimen.cases:
            tree = ast.parse(implementation.source)
            blocks = {function for function, _ in exchangeable(implementation).values()}
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and node.name in blocks:
                    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
                    bound = {"np", "math", "njit", *dir(builtins), *(arg.arg for arg in node.args.args)}
                    bound |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
                    used = {name.id for name in names}
                    assert used <= bound, (node.name, used - bound)

    def test_a_function_of_one_name_is_the_same_in_every_file(self) -> None:
        """Texts of one domain may be merged; only what a file brings of its own may differ."""
        seen: dict[str, str] = {}
        for _, implementation in self.specimen.cases:
            for name, text in functions(implementation).items():
                if name not in self.specimen.own_functions | {"run"}:
                    assert seen.setdefault(name, text) == text, (name, implementation.origin)

    def test_the_library_has_what_the_domain_promises(self) -> None:
        operators = self.specimen.domain.operators()
        assert len(operators) >= 12
        basic = [op for op in operators if op.tier == "basic"]
        assert len(basic) >= 5
        assert sum(op.is_initialiser for op in basic) >= 2
        assert [op.id for op in operators] == sorted({op.id for op in operators})
        module = sys.modules[type(self.specimen.domain).__module__].__file__
        folder = {path.name for path in Path(module or "").parent.glob("library/*.py")}
        assert folder == {impl.origin.removeprefix("library:") for _, impl in self.specimen.cases}
        for op in operators:
            assert op.is_initialiser is (op.category == "initialisation")
            assert op.provides == "complete"


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
