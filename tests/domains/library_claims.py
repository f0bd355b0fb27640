"""The claims about operator libraries, tried on each implementation, as classes that domains' tests inherit.

The claims are those of :mod:`dga2d.domains.claims`; what is added here is what only the libraries of this
project have to keep. A domain describes its instances in a :class:`Specimen` and derives one class from
:class:`LibraryRuns` and :class:`LibraryTexts`; ``tests/domains/conftest.py`` gives their tests each
implementation in turn.

The quick tests run the texts as plain Python (which checks bounds, and compiles nothing) on tiny instances.
The slow ones compile files, once for the whole session, compare them with the plain run and give them larger
instances; ``tests/domains/conftest.py`` says which.
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
from dga2d.domains.claims import (
    DESCRIPTION_CLAIMS,
    OPERATOR_CLAIMS,
    Claim,
    Trial,
    TrialOutcome,
    conduct_faults,
    examine,
)
from dga2d.domains.claims.descriptions import exchangeable_blocks
from dga2d.domains.claims.operators import charging_claim
from dga2d.domains.core.contract import Domain, Implementation, Instance, Operator, State
from dga2d.domains.execution import Execution, Run, execute, load_implementation, preparing

Size = tuple[int, ...]
Load = Callable[[Implementation], Run]
QUESTIONS = (1, 3, 10)
"""Questions that budgets answer before they are spent; more of them take plain Python too long."""


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
    work: int = 100
    """Work units of one run."""
    chunk: int = 300
    """Steps of one kernel call in plain Python."""
    do_blocks_stand_alone: bool = True
    """Whether exchangeable blocks use nothing but their arguments; else the text's own functions, too."""
    docstring_parts: tuple[str, ...] = ("Method:", "Source:", "Complexity:")
    """What the docstring of each text must say."""
    oddities: tuple[tuple[Instance, float], ...] = ()
    """Degenerate instances and the score of every solution of theirs."""

    @property
    def cases(self) -> tuple[tuple[Operator, Implementation], ...]:
        return tuple((op, impl) for op in self.domain.operators() for impl in op.implementations)

    def run(
        self,
        instance: Instance,
        operator: Operator,
        run: Run,
        state: State,
        seed: int,
        work: int | None = None,
    ) -> Execution:
        """Execute one operator under a work budget, on `state` unless it is an initialiser."""
        environment = self.domain.environment(instance)
        runs = (run,) if operator.is_initialiser else (start_with(state), run)
        rng = np.random.Generator(np.random.Philox(seed))
        with np.errstate(over="ignore"):
            return execute(
                runs,
                environment,
                self.domain.decoder(environment),
                Budget(work or self.work, "work", len(runs)),
                rng,
            )

    def outcome(
        self,
        instance: Instance,
        operator: Operator,
        run: Run,
        state: State,
        seed: int,
        work: int | None = None,
    ) -> TrialOutcome:
        """What claims see of one run: the verifier's objective, or what it finds wrong."""
        result = self.run(instance, operator, run, state, seed, work)
        verdict = self.domain.verify(instance, result.state)
        return TrialOutcome(verdict.violation, verdict.objective, result.state, result.trace)

    def trial(
        self,
        instance: Instance,
        case: tuple[Operator, Implementation],
        run: Run,
        seed: int,
        work: int | None = None,
        is_repeated: bool = True,
    ) -> Trial:
        """Two runs from the same random state, or one that stands for both."""
        state = self.random_state(instance, seed)
        first = self.outcome(instance, case[0], run, state, seed, work)
        again = self.outcome(instance, case[0], run, state, seed, work) if is_repeated else first
        return Trial(*case, instance, first, again)


def shops(random_instance: Callable[..., Instance]) -> Callable[[Size, int], Instance]:
    """Random shops of a size (jobs, machines); those of even seeds may have operations without length."""
    return lambda size, seed: random_instance(*size, seed, low=seed % 2)


SMALL_CHUNKS = re.compile(r"^(CHUNK\w*|\w+_PER_CHUNK|\w+_WORK) = [\d_]+", flags=re.MULTILINE)


def shortened(implementation: Implementation, chunk: int) -> Implementation:
    """The same text with kernel calls short enough for plain Python and for tiny budgets."""
    source = SMALL_CHUNKS.sub(rf"\1 = {chunk}", implementation.source)
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
                source = shortened(implementation, self.specimen.chunk).source
                exec(compile(source, implementation.origin, "exec"), vars(module))
            return module.run  # type: ignore[no-any-return]

        return load

    @pytest.fixture
    def compiled(self, request: pytest.FixtureRequest) -> Load:
        """Loads compiled implementations; machine code is kept in pytest's cache between sessions."""
        assert request.config.cache is not None
        folder = Path(request.config.cache.mkdir(f"{self.specimen.domain.name}-implementations"))
        return lambda implementation: load_implementation(implementation, folder)

    def test_the_claims_about_operators_hold(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        """Valid, never worse unless perturbed, repeatable, no better than an optimum; work is charged."""
        run = plain(implementation)
        for number, size in enumerate(self.specimen.small):
            self._assert_claims((operator, implementation), run, size, (number,), is_repeated=False)
        self._assert_claims((operator, implementation), run, self.specimen.middle, (0, 1))

    @pytest.mark.long
    def test_the_claims_about_operators_hold_for_other_seeds(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        run = plain(implementation)
        for size in (*self.specimen.small, self.specimen.middle):
            self._assert_claims((operator, implementation), run, size, (20, 21, 22), charges=False)

    def _assert_claims(
        self,
        case: tuple[Operator, Implementation],
        run: Run,
        size: Size,
        seeds: tuple[int, ...],
        charges: bool = True,
        is_repeated: bool = True,
    ) -> None:
        """`charges` is off for seeds whose start may be optimal: then there is nothing to charge for."""
        trials = [
            self.specimen.trial(
                self.specimen.make_instance(size, seed), case, run, seed, is_repeated=is_repeated
            )
            for seed in seeds
        ]
        for claim in OPERATOR_CLAIMS:
            if claim.check is not charging_claim or (charges and size == self.specimen.middle):
                contradictions = examine(claim.check, self.specimen.domain, trials).contradictions
                assert contradictions == (), (claim.title, size)
        for trial in trials:
            self._assert_scored_as_decoded(trial)

    def _assert_scored_as_decoded(self, trial: Trial) -> None:
        """The best score of the trace is that of the solution, which is what the verifier says of it."""
        domain, solution = self.specimen.domain, trial.first.solution
        assert solution is not None
        assert solution.sequence.dtype == np.int32
        score = domain.decoder(domain.environment(trial.instance))(solution)
        assert score == min(position.score_after for position in trial.first.trace)
        if domain.sense == "min":
            assert score == trial.first.objective

    def test_degenerate_instances_do_no_harm(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        for instance, score in self.specimen.oddities:
            state = self.specimen.random_state(instance, 1)
            result = self.specimen.run(instance, operator, plain(implementation), state, 1)
            assert self.specimen.domain.verify(instance, result.state).is_feasible
            assert result.score == score

    def test_operators_stop_in_time_and_leave_their_input_alone(
        self, operator: Operator, implementation: Implementation, plain: Load
    ) -> None:
        instance = self.specimen.make_instance(self.specimen.middle, 3)
        environment = self.specimen.domain.environment(instance)
        state = State() if operator.is_initialiser else self.specimen.random_state(instance, 3)
        known, asked = preparing(environment), set[tuple[Any, ...]]()

        def prepared(*key: Any) -> Any:
            asked.add(key)
            return known(*key)

        env_data = {
            **environment,
            "rng": np.random.Generator(np.random.Philox(3)),
            "budget": Budget(60, "work", 1),
            "prepared": prepared,
        }
        decode = self.specimen.domain.decoder(environment)
        faults, answer = conduct_faults(
            plain(implementation), env_data, state, decode, self.specimen.domain.invalid_score, QUESTIONS
        )
        assert faults == []
        assert self.specimen.domain.verify(instance, answer).is_feasible
        for key in asked:  # what is made once is as it was made
            np.testing.assert_equal(known(*key), preparing(environment)(*key))

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_compiled_and_plain_runs_agree(
        self, operator: Operator, implementation: Implementation, compiled: Load, plain: Load
    ) -> None:
        fast, slow = compiled(shortened(implementation, self.specimen.chunk)), plain(implementation)
        for seed, size in enumerate((*self.specimen.small[-2:], self.specimen.middle)):
            instance = self.specimen.make_instance(size, seed)
            state = self.specimen.random_state(instance, seed)
            ours = self.specimen.run(instance, operator, fast, state, seed)
            theirs = self.specimen.run(instance, operator, slow, state, seed)
            assert encoded(ours.state) == encoded(theirs.state)
            assert ours.trace[-1].work == theirs.trace[-1].work

    @pytest.mark.slow
    @pytest.mark.timeout(900)
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
    @pytest.mark.timeout(900)
    def test_nothing_is_left_to_compile_after_a_run_on_the_smoke_instance(
        self, operator: Operator, implementation: Implementation, compiled: Load
    ) -> None:
        """A timed evaluation must not pay for the compiler, whatever the size of its instance."""
        run = compiled(shortened(implementation, self.specimen.chunk))
        small = self.specimen.domain.smoke_instance()
        self.specimen.run(small, operator, run, self.specimen.random_state(small, 1), 1, work=2000)
        functions = [
            value for value in vars(sys.modules[run.__module__]).values() if hasattr(value, "signatures")
        ]
        before = [len(function.signatures) for function in functions]
        for size in self.specimen.larger[:2]:
            instance = self.specimen.make_instance(size, 6)
            state = self.specimen.random_state(instance, 6)
            self.specimen.run(instance, operator, run, state, 6, work=4000)
        assert [len(function.signatures) for function in functions] == before

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_compiled_runs_keep_larger_solutions_valid_and_repeatable(
        self, operator: Operator, implementation: Implementation, compiled: Load
    ) -> None:
        run, domain = compiled(shortened(implementation, self.specimen.chunk)), self.specimen.domain
        for size in self.specimen.larger:
            instance = self.specimen.make_instance(size, 9)
            trial = self.specimen.trial(instance, (operator, implementation), run, 9, work=2000)
            for claim in OPERATOR_CLAIMS:
                assert examine(claim.check, domain, [trial]).contradictions == (), (claim.title, size)
            self._assert_scored_as_decoded(trial)


class LibraryTexts:
    """The texts: descriptions, source rules, tunables, exchangeable blocks, tiers, baselines."""

    specimen: ClassVar[Specimen]

    @pytest.mark.parametrize("claim", DESCRIPTION_CLAIMS, ids=[claim.title for claim in DESCRIPTION_CLAIMS])
    def test_what_the_domain_says_of_itself_holds(self, claim: Claim) -> None:
        assert examine(claim.check, self.specimen.domain).contradictions == ()

    def test_a_text_says_where_it_comes_from_and_can_be_varied(
        self, operator: Operator, implementation: Implementation
    ) -> None:
        docstring = ast.get_docstring(ast.parse(implementation.source))
        assert docstring is not None
        for part in self.specimen.docstring_parts:
            assert part in docstring
        assert "# tunable: " in implementation.source

    def test_exchangeable_blocks_of_the_domain_are_there_and_stand_alone(self) -> None:
        seen = set()
        for _, implementation in self.specimen.cases:
            for name, function in exchangeable_blocks(implementation).items():
                seen.add(name)
                names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
                bound = {"np", "math", "njit", *dir(builtins), *(arg.arg for arg in function.args.args)}
                bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
                is_alone = {node.id for node in names} <= bound
                assert is_alone or not self.specimen.do_blocks_stand_alone, function.name
        assert self.specimen.blocks <= seen

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
        named = {impl.origin.removeprefix("library:") for _, impl in self.specimen.cases}
        assert folder == {file for file in named if "/" not in file}
        for op in operators:
            assert op.is_initialiser is (op.category == "initialisation")
            assert op.provides == "complete"


def functions(implementation: Implementation) -> dict[str, str]:
    """Texts of the top-level functions, decorators included."""
    tree = ast.parse(implementation.source)
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
