"""Iterated searches composed of two implementations."""

from __future__ import annotations

import ast
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dga2d.agents.proposing.composition import (
    OWN_NAMES,
    Habits,
    Search,
    is_iterated,
    iterate,
    merge_modules,
    take_apart,
)
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.variation import rewrite
from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Implementation, Operator, OperatorName, State
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.tunables import find_tunables
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.source_rules import check_source

DESCENT = '''"""Halves what is above TARGET."""

import numpy as np

TARGET = 3  # tunable: int 1..9
STEP = 2


def limit(x):
    return TARGET


def shared(x):
    return x + STEP


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.maximum(state.sequence // 2, limit(0)).astype(np.int32)
    return state
'''

KICK = '''"""Adds and takes away."""

import math
import numpy as np

TARGET = 30  # tunable: int 10..90
STEP = 2


def limit(x):
    return math.floor(TARGET)


def shared(x):
    return x + STEP


def run(env_data, state, calc_makespan_fn):
    env_data["log"].append((limit(0), shared(1)))
    state.sequence = state.sequence + env_data["rng"].integers(-2, 2, 1).astype(np.int32)
    return state
'''


BUILD = '''"""Starts at a hundred."""

import numpy as np

START = 100  # tunable: int 10..900


def limit(x):
    return START


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.array([limit(0)], dtype=np.int32)
    return state
'''


def test_both_texts_keep_their_own_names_and_share_what_is_equal() -> None:
    text = iterate([DESCENT], KICK, Habits(7, 1))
    assert text is not None
    assert check_source(text) == ()
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == [
        *("limit", "shared", "improve_once", "perturb_limit", "perturb_once", "improve_all", "run")
    ]
    found = {tunable.name: tunable.value for tunable in find_tunables(text)}
    assert found == {"TARGET": 3, "PERTURB_TARGET": 30, "KICKS_IN_VAIN": 7, "PARTS": 1, "WARMTH": 0.0}
    assert text.count("import numpy as np\n") == 1
    assert "Halves what is above TARGET." in text
    assert "Adds and takes away." in text


def test_an_equal_function_on_unequal_ground_is_not_shared() -> None:
    text = iterate([DESCENT], KICK.replace("STEP = 2", "STEP = 5"), Habits(7, 1))
    assert text is not None
    assert "def perturb_shared(x):\n    return x + PERTURB_STEP" in text


def test_the_search_kicks_and_improves_until_the_share_is_spent() -> None:
    text = iterate([DESCENT], KICK, Habits(2, 1))
    assert text is not None
    module: dict[str, Any] = {}
    exec(text, module)
    log: list[tuple[int, int]] = []
    budget = Budget(5, "work", 1)
    env_data = {"rng": np.random.default_rng(1), "budget": budget, "log": log}
    seen: list[float] = []

    def score(state: State) -> float:
        seen.append(float(state.sequence.sum()))
        return seen[-1]

    best = module["run"](env_data, State(np.array([50], np.int32)), score)
    assert len(log) == 5  # each turn is charged one unit
    assert set(log) == {(30, 3)}
    assert float(best.sequence.sum()) == min(seen)
    assert budget.exhausted()


def test_rounds_that_find_nothing_left_to_do_are_not_for_nothing() -> None:
    """Neither the kick nor the descent, which has ended, counts any work."""
    text = iterate([DESCENT], KICK, Habits(2, 1, round_units=10))
    assert text is not None
    assert check_source(text) == ()
    assert len(ran(text, 100.0)[1]) == 10
    assert [tunable.name for tunable in find_tunables(text)][-3:] == ["KICKS_IN_VAIN", "PARTS", "WARMTH"]


ENDLESS = '''"""Counts up as long as it may."""


def run(env_data, state, calc_makespan_fn):
    budget = env_data["budget"]
    env_data["log"].append(budget.remaining())
    while not budget.exhausted():
        budget.charge(1)
    env_data["log"].append(budget.remaining())
    return state
'''


def ran(text: str, amount: float, state: State | None = None) -> tuple[State, list[Any]]:
    """The answer of a text under a work budget, and what it logged."""
    module: dict[str, Any] = {}
    exec(text, module)
    log: list[Any] = []
    env_data = {"rng": np.random.default_rng(1), "budget": Budget(amount, "work", 1), "log": log}
    start = State(np.array([50], np.int32)) if state is None else state
    return module["run"](env_data, start, lambda state: float(state.sequence.sum())), log


def test_an_improvement_that_never_stops_gets_its_part_of_the_budget() -> None:
    text = iterate([ENDLESS], KICK.replace('env_data["log"].append((limit(0), shared(1)))', ""), Habits(1, 5))
    assert text is not None
    log = ran(text, 100.0)[1]
    assert log == [1.0, 0.0] * 5  # a turn costs some units besides: the last part is a little shorter


def test_what_an_improvement_prepares_takes_nothing_from_a_part_that_is_shorter() -> None:
    """By the clock preparing costs what it takes; here it charges ten units, and a part has one."""
    text = iterate(
        [ENDLESS.replace("    env_data", "    budget.charge(10)\n    env_data", 1).replace("(1)\n", "(2)\n")],
        KICK.replace('env_data["log"].append((limit(0), shared(1)))', ""),
        Habits(1, 100),
    )
    assert text is not None
    log = ran(text, 100.0)[1]
    assert log[::2] == [1.0] * 8
    assert log[1::2][:7] == [0.0] * 7


def test_two_improvements_take_turns_until_neither_gains() -> None:
    halve = DESCENT.replace("state.sequence // 2", "np.where(state.sequence % 2, 9**9, state.sequence // 2)")
    less = DESCENT.replace("state.sequence // 2", "state.sequence - 2")
    text = iterate([less, halve], KICK, Habits(1, 1))
    assert text is not None
    assert check_source(text) == ()
    assert ran(text, 1.0)[0].sequence.tolist() < [12]  # 48, 24, 22, 11, 9; odd numbers are not halved
    alone = iterate([less], KICK, Habits(1, 1))
    assert alone is not None
    assert ran(alone, 1.0)[0].sequence.tolist() > [40]


def test_what_is_iterated_already_is_not_iterated_again() -> None:
    text = iterate([DESCENT], KICK, Habits(7, 1))
    assert text is not None
    assert is_iterated(text)
    assert not is_iterated(DESCENT)
    assert iterate([text], KICK, Habits(7, 1)) is None
    assert iterate([DESCENT], text, Habits(7, 1)) is None


def test_taken_names_are_left_alone() -> None:
    assert iterate([DESCENT + "\n\ndef perturb_limit():\n    pass\n"], KICK, Habits(7, 1)) is None
    assert iterate(["KICKS_IN_VAIN = 1\n" + DESCENT], KICK, Habits(7, 1)) is None


def test_attributes_are_no_names() -> None:
    text = iterate([DESCENT], KICK.replace("math.floor(TARGET)", "math.floor(np.run.limit)"), Habits(7, 1))
    assert text is not None
    assert "np.run.limit" in text


def test_a_text_that_is_not_python_is_refused() -> None:
    with pytest.raises(ProposalError, match="line 1"):
        iterate(["def run("], KICK, Habits(1, 1))


STEEP = DESCENT.replace("limit(0)", "limit(shared(0))")  # nothing in it is without use


def put_together(search: Search | None) -> str | None:
    assert search is not None
    return iterate(search.improvers, search.perturbation, search.habits, search.constructor)


def test_methods_and_fields_are_no_names() -> None:
    """A method may be called like a function of its text: where it is called it is an attribute."""
    numbers = """class Numbers:
    STEP = 5

    def limit(self):
        return limit(0) + self.STEP + STEP


def run("""
    kick = KICK.replace("def run(", numbers).replace("limit(0), shared(1)", "Numbers().limit(), shared(1)")
    text = iterate([STEEP], kick, Habits(2, 1))
    assert text is not None
    assert "    STEP = 5\n\n    def limit(self):\n        return perturb_limit(0) + self.STEP + STEP" in text
    assert check_source(text) == ()
    assert put_together(take_apart(text)) == text
    module: dict[str, Any] = {}
    exec(text, module)
    env_data: dict[str, Any] = {"rng": np.random.default_rng(1), "budget": Budget(5, "work", 1), "log": []}
    module["run"](env_data, State(np.array([50], np.int32)), lambda state: float(state.sequence.sum()))
    assert {*env_data["log"]} == {(37, 3)}


@pytest.mark.parametrize("constructor", [None, BUILD])
@pytest.mark.parametrize("second", [(), (STEEP.replace("// 2", "// 3"),)])
def test_a_search_is_taken_apart_as_it_was_put_together(
    second: tuple[str, ...], constructor: str | None
) -> None:
    habits = Habits(7, 4, 0.3, round_units=10)
    text = iterate([STEEP, *second], KICK, habits, constructor)
    assert text is not None
    search = take_apart(text)
    assert search is not None
    assert search.habits == habits
    assert [len(search.improvers), search.constructor is None] == [1 + len(second), constructor is None]
    for part in (*search.improvers, search.perturbation):
        assert check_source(part) == ()
        names = [node.name for node in ast.parse(part).body if isinstance(node, ast.FunctionDef)]
        assert sorted(names) == ["limit", "run", "shared"]
    assert put_together(search) == text


def test_parts_keep_the_constants_that_they_have_become() -> None:
    text = iterate([STEEP], KICK, Habits(7, 1))
    assert text is not None
    tuned = rewrite(text, {"TARGET": 5, "PERTURB_TARGET": 40, "PARTS": 9})
    search = take_apart(tuned)
    assert search is not None
    values = [
        {t.name: t.value for t in find_tunables(part)} for part in (*search.improvers, search.perturbation)
    ]
    assert values == [{"TARGET": 5}, {"TARGET": 40}]
    assert search.habits == Habits(7, 9)
    assert put_together(search) == tuned


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Iterated local search.", "A search of my own."),
        ("\n\nThen:\n", "\n\n"),
        ("def perturb_once", "def perturb_twice"),
        ("budget.charge(1)", "budget.charge(UNITS)"),
        ("PARTS = 1  # tunable: int 1..400", "PARTS = 1"),
        ("math.floor(PERTURB_TARGET)", "math.floor(PARTS)"),
        ("math.floor(PERTURB_TARGET)", "run({}, None, None)"),
        ("math.floor(PERTURB_TARGET)", "limit(0)"),
    ],
)
def test_what_has_become_another_program_is_not_taken_apart(old: str, new: str) -> None:
    text = iterate([DESCENT], KICK, Habits(7, 1))
    assert text is not None
    assert old in text
    assert take_apart(text.replace(old, new)) is None
    assert take_apart(DESCENT) is None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name != "jsp" else ()) for name in domain_names()]
)
def test_all_texts_of_a_library_can_follow_another_one(name: str) -> None:
    operators = get_domain(name).operators()
    texts = [text.source for operator in operators for text in operator.implementations]
    for text in texts:
        parts = ((texts[0], "construct_solution"), (text, "improve_solution"))
        merged = merge_modules(parts, "Both.", OWN_NAMES)
        assert merged is not None
        assert [found for found in check_source(merged) if found.rule != "signature"] == []  # it has no run


def marks(number: int) -> tuple[pytest.MarkDecorator, ...]:
    return () if number < 1 else (pytest.mark.slow,)


def pairs() -> list[Any]:
    """Every improver with a perturbation of its domain; most of them are slow."""
    found = []
    for name in domain_names():
        operators = get_domain(name).operators()
        kicks = [op for op in operators if op.category == "perturbation"]
        improvers = [op for op in operators if op.category in ("local_search", "intensification")]
        found += [
            pytest.param(name, op, kicks[i % len(kicks)], id=f"{name}-{op.id}", marks=marks(i))
            for i, op in enumerate(improvers)
            if kicks
        ]
    return found


@pytest.mark.parametrize(("name", "improver", "kick"), pairs())
def test_all_libraries_can_be_iterated(name: str, improver: Operator, kick: Operator) -> None:
    text = iterate([improver.implementations[0].source], kick.implementations[0].source, Habits(3, 8))
    assert text is not None
    assert check_source(text) == ()
    assert put_together(take_apart(text)) == text


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "improver", "kick"), [("tsp", "two_opt", "double_bridge")])
def test_an_iterated_descent_beats_the_descent(name: str, improver: str, kick: str, tmp_path: Any) -> None:
    domain = get_domain(name)
    sources = SimpleNamespace(**{op.id: op.implementations[0] for op in domain.operators()})
    first = load_implementation(domain.basic_baseline()[0].implementation, tmp_path)
    descent: Implementation = getattr(sources, improver)
    text = iterate([descent.source], getattr(sources, kick).source, Habits(10, 50))
    assert text is not None
    composed = Implementation(descent.operator, text, "test")
    instance = domain.load(next(ref for ref in domain.generated() if ref.name == "E100.0"))
    environment = domain.environment(instance)
    scores = []
    for second in (descent, composed):
        runs = (first, load_implementation(second, tmp_path))
        rng = np.random.Generator(np.random.Philox(1))
        budget = Budget(2000, "work", 2)
        scores.append(execute(runs, environment, domain.decoder(environment), budget, rng).score)
    assert scores[1] < scores[0]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "improvers", "kick", "makers"),
    [
        ("tsp", ("two_opt", "or_opt"), "double_bridge", ("near_cities",)),
        ("mis", ("two_improvement",), "random_insertion", ("read_graph",)),
        ("cvrp", ("relocate_and_exchange", "or_opt"), "random_transfers",
         ("distances_and_demands", "near_customers")),
    ],
)  # fmt: skip
def test_a_search_reads_the_instance_once(
    name: str, improvers: tuple[str, ...], kick: str, makers: tuple[str, ...], tmp_path: Any
) -> None:
    """In every round it asks for what one call has made, and both its improvements share the code for it."""
    domain = get_domain(name)
    sources = {op.id: op.implementations[0] for op in domain.operators()}
    first = load_implementation(domain.basic_baseline()[0].implementation, tmp_path)
    descents = [sources[OperatorName(improver)].source for improver in improvers]
    text = iterate(descents, sources[OperatorName(kick)].source, Habits(10, 50))
    assert text is not None
    run = load_implementation(Implementation(OperatorName(improvers[0]), text, "test"), tmp_path)
    asked = Counter[Any]()

    def search(env_data: Any, state: State, calc_makespan_fn: Any) -> State:
        def prepared(make: Any, *numbers: Any) -> Any:
            asked[make, numbers] += 1
            return env_data["prepared"](make, *numbers)

        return run({**env_data, "prepared": prepared}, state, calc_makespan_fn)

    environment = domain.environment(domain.smoke_instance())
    budget = Budget(3000, "work", 2)
    execute((first, search), environment, domain.decoder(environment), budget, np.random.default_rng(1))
    assert {make.__name__ for make, _ in asked} == set(makers)
    assert asked.total() > 100
    assert len(asked) <= len(improvers) * len(makers)  # what the improvements look at may differ in size


def test_an_initialiser_constructs_first_and_then_improves() -> None:
    text = iterate([DESCENT], KICK, Habits(3, 1), BUILD)
    assert text is not None
    assert check_source(text) == ()
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names[:4] == ["limit", "construct_once", "improve_limit", "improve_shared"]
    assert names[4:] == [
        "improve_once",
        "perturb_limit",
        "perturb_shared",
        "perturb_once",
        "improve_all",
        "run",
    ]
    module: dict[str, Any] = {}
    exec(text, module)
    log: list[tuple[int, int]] = []
    env_data = {"rng": np.random.default_rng(1), "budget": Budget(4, "work", 1), "log": log}
    seen: list[float] = []

    def score(state: State) -> float:
        seen.append(float(state.sequence.sum()))
        return seen[-1]

    best = module["run"](env_data, State(), score)
    assert seen[0] == 50.0  # a hundred, improved once
    assert float(best.sequence.sum()) == min(seen)
    assert len(log) == 4


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if number % 6 else ())
        for number, name in enumerate(domain_names())
    ],
)
def test_all_initialisers_can_be_followed_by_a_search(name: str) -> None:
    operators = get_domain(name).operators()
    kick = next(op for op in operators if op.category == "perturbation")
    improver = next(op for op in operators if op.category == "local_search")
    for op in operators:
        if op.is_initialiser:
            first, second, third = (o.implementations[0].source for o in (op, improver, kick))
            text = iterate([second], third, Habits(3, 50), first)
            assert text is not None
            assert check_source(text) == ()
            assert put_together(take_apart(text)) == text
