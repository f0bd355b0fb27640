from __future__ import annotations

import importlib.util
import marshal
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import GIVEN_TO_ALL, Decoder, Implementation, OperatorName, State
from dga2d.domains.execution import Run, execute, load_implementation


def implementation(source: str) -> Implementation:
    return Implementation(OperatorName("op"), source, "test")


@pytest.fixture(autouse=True)
def only_our_modules() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("impl_"):
            del sys.modules[name]


def total(state: State) -> float:
    """A decoder: the sum of the sequence."""
    return float(state.sequence.sum())


def setting(*values: int) -> Run:
    """An operator that replaces the sequence."""

    def run(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        state.sequence = np.array(values, np.int32)
        return state

    return run


def generator() -> np.random.Generator:
    return np.random.Generator(np.random.Philox(0))


def test_the_answer_is_the_best_state_seen_at_a_border() -> None:
    runs = [setting(5), setting(2), setting(4)]
    result = execute(runs, {}, total, Budget(100, "work", 3), generator())
    assert result.score == 2.0
    assert result.state.sequence.tolist() == [2]
    assert [(step.score_before, step.score_after) for step in result.trace] == [
        (None, 5.0),
        (5.0, 2.0),
        (2.0, 4.0),
    ]


def test_of_equal_states_the_first_is_kept() -> None:
    result = execute([setting(3, 1), setting(1, 3)], {}, total, Budget(9, "work", 2), generator())
    assert result.state.sequence.tolist() == [3, 1]


def test_an_operator_that_changes_the_kept_array_does_not_change_the_answer() -> None:
    def spoil(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        state.sequence[:] = 9
        state.metadata["alloc"][:] = 9
        return state

    def first(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        return State(np.array([1, 2], np.int32), {"alloc": np.zeros(2)})

    result = execute([first, spoil], {}, total, Budget(9, "work", 2), generator())
    assert result.state.sequence.tolist() == [1, 2]
    assert result.state.metadata["alloc"].tolist() == [0.0, 0.0]


def test_every_decode_of_an_operator_costs_a_unit_and_those_of_the_runner_cost_none() -> None:
    def decoding(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        state.sequence = np.ones(1, np.int32)
        for _ in range(3):
            calc_makespan_fn(state)
        env_data["budget"].charge(4)
        return state

    budget = Budget(100, "work", 2)
    result = execute([decoding, setting(1)], {}, total, budget, generator())
    assert [step.work for step in result.trace] == [7, 0]
    assert budget.work == 7


def test_each_position_gets_its_own_share() -> None:
    seen = []

    def greedy(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        while not env_data["budget"].exhausted():
            env_data["budget"].charge(1)
        seen.append(env_data["budget"].work)
        state.sequence = np.ones(1, np.int32)
        return state

    execute([greedy] * 3, {}, total, Budget(30, "work", 3), generator())
    assert seen == [10, 20, 30]


def test_the_environment_of_the_caller_gains_no_keys() -> None:
    environment = {"n": 1}
    execute([setting(1)], environment, total, Budget(1, "work", 1), generator())
    assert environment == {"n": 1}


def test_operators_find_nothing_else_beside_the_instance() -> None:
    found: list[set[str]] = []

    def look(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        found.append(set(env_data))
        state.sequence = np.array([1], np.int32)
        return state

    execute([look], {"n": 1}, total, Budget(1, "work", 1), generator())
    assert found == [{"n"} | GIVEN_TO_ALL]


def counting(calls: list[tuple[set[str], tuple[int, ...]]]) -> Run:
    """An operator that asks three times for the same two tables, and notes what they are made from."""

    def table(env_data: Mapping[str, Any], *numbers: int) -> list[int]:
        calls.append((set(env_data), numbers))
        return [env_data["n"], *numbers]

    def run(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        for _ in range(3):
            assert env_data["prepared"](table, 4) == [7, 4]
            assert env_data["prepared"](table, 5, 6) == [7, 5, 6]
            assert env_data["prepared"](table, 4) is env_data["prepared"](table, 4)
        state.sequence = np.array([1], np.int32)
        return state

    return run


def test_what_rests_on_the_instance_is_prepared_once_in_an_evaluation() -> None:
    """Also where the same code stands at two positions; and neither randomness nor budget is in reach."""
    calls: list[tuple[set[str], tuple[int, ...]]] = []
    run = counting(calls)
    for evaluations in (1, 2):
        execute([run, run], {"n": 7}, total, Budget(9, "work", 2), generator())
        assert calls == [({"n"}, (4,)), ({"n"}, (5, 6))] * evaluations


def test_different_code_prepares_for_itself() -> None:
    first: list[tuple[set[str], tuple[int, ...]]] = []
    second: list[tuple[set[str], tuple[int, ...]]] = []
    execute([counting(first), counting(second)], {"n": 7}, total, Budget(9, "work", 2), generator())
    assert len(first) == len(second) == 2


def test_a_text_is_loaded_from_a_file_named_after_its_digest(tmp_path: Path) -> None:
    text = implementation("def run(env_data, state, calc_makespan_fn):\n    return state\n")
    state = State()
    assert load_implementation(text, tmp_path)({}, state, total) is state
    path = tmp_path / "library" / text.digest / f"impl_{text.digest[:12]}.py"
    assert path.read_text(encoding="utf-8") == text.source
    assert [file.name for file in path.parent.iterdir() if file.suffix != ".pyc" and file.is_file()] == [
        path.name
    ]


def test_a_text_that_fails_to_load_leaves_no_module_behind(tmp_path: Path) -> None:
    broken = implementation("1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        load_implementation(broken, tmp_path)
    assert f"impl_{broken.digest[:12]}" not in sys.modules
    assert "    1 / 0" in "".join(traceback.format_exception(caught.value))


def test_two_texts_do_not_share_names(tmp_path: Path) -> None:
    source = "VALUE = {}\n\ndef run(env_data, state, calc_makespan_fn):\n    return VALUE\n"
    runs = [load_implementation(implementation(source.format(value)), tmp_path) for value in ("1", "2")]
    found: list[Any] = [run({}, State(), total) for run in runs]
    assert found == [1, 2]


def test_planted_byte_code_is_not_run(tmp_path: Path) -> None:
    text = implementation("def run(env_data, state, calc_makespan_fn):\n    return state\n")
    load_implementation(text, tmp_path)
    (path,) = tmp_path.rglob(f"impl_{text.digest[:12]}.py")
    planted = Path(importlib.util.cache_from_source(str(path)))
    planted.parent.mkdir(exist_ok=True)
    source_hash = importlib.util.source_hash(path.read_bytes())
    code = compile("raise SystemExit('planted')", str(path), "exec")
    unchecked = (0b01).to_bytes(4, "little")  # an importer takes it whatever the text is
    planted.write_bytes(importlib.util.MAGIC_NUMBER + unchecked + source_hash + marshal.dumps(code))
    state = State()
    assert load_implementation(text, tmp_path)({}, state, total) is state
    path.write_text("raise SystemExit('replaced')\n", encoding="utf-8")
    assert load_implementation(text, tmp_path)({}, state, total) is state


class Countdown:
    """A decoder that repeats walks until the sequence's first entry is 0."""

    repeats = True

    def __call__(self, state: State) -> float:
        return float(state.sequence[0])

    def is_done(self, state: State) -> bool:
        return bool(state.sequence[0] == 0)


def lowering(cost: int) -> Run:
    """An operator that takes 1 from the first entry and charges `cost`."""

    def run(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        state.sequence[0] -= 1
        env_data["budget"].charge(cost)
        return state

    return run


def test_a_walk_that_repeats_goes_on_behind_its_first_position_until_it_is_done() -> None:
    result = execute(
        [setting(5), lowering(1), lowering(2)], {}, Countdown(), Budget(99, "work", 3), generator()
    )
    assert result.state.sequence.tolist() == [0]
    assert [(step.score_before, step.score_after, step.work) for step in result.trace] == [
        (None, 5.0, 0),
        (5.0, 4.0, 3),
        (4.0, 0.0, 4),
    ]


@pytest.mark.parametrize(("budget", "left"), [(3, 2), (4, 1)])
def test_a_walk_that_repeats_ends_with_the_whole_budget(budget: int, left: int) -> None:
    runs = [setting(5), lowering(1), lowering(1)]
    result = execute(runs, {}, Countdown(), Budget(budget, "work", 3), generator())
    assert result.state.sequence.tolist() == [left]


def test_a_walk_that_does_nothing_ends() -> None:
    idle = setting(7)
    result = execute([idle, idle], {}, Countdown(), Budget(99, "work", 2), generator())
    assert result.state.sequence.tolist() == [7]
    alone = execute([idle], {}, Countdown(), Budget(99, "work", 1), generator())
    assert len(alone.trace) == 1


def test_positions_it_did_not_come_to_are_in_the_trace() -> None:
    result = execute([setting(0), lowering(1)], {}, Countdown(), Budget(99, "work", 2), generator())
    assert [(step.score_after, step.work) for step in result.trace] == [(0.0, 0), (0.0, 0)]


def test_every_question_to_an_oracle_charges_a_unit() -> None:
    class Asking(Countdown):
        def connect(self, ask: Any) -> None:
            self.helpers = {"ask": ask}

    def asking(env_data: Mapping[str, Any], state: State, calc_makespan_fn: Decoder) -> State:
        state.sequence = np.array([len(env_data["ask"](np.zeros((3, 1))))], np.int32) - 3
        return state

    budget = Budget(99, "work", 1)
    result = execute([asking], {}, Asking(), budget, generator(), ask=lambda rows: rows)
    assert (result.state.sequence.tolist(), budget.work) == ([0], 3)
