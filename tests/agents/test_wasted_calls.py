"""No wasted calls: what is offered for an edit, what is judged, what is tried first, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.made_up_library import SOURCE
from tests.agents.outside_world import Answers
from tests.agents.simulation import EVERY_RULE

from dga2d.agents.agent import open_basis
from dga2d.agents.edge_evolver import NO_CHANGE
from dga2d.agents.pool_edits import edit_of, operator_weights
from dga2d.agents.trial_walks import walk_along, walk_through
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import Contribution, RunState, TriedCode

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

STRANDED = {
    "H": {"operator_limit": 5, "temperature": 0.7},
    "operators": ["build", "climb", "intensify", "kick"],
    "entry_nodes": ["build"],
    "exit_nodes": ["climb"],
    "edges": [["build", "climb"], ["climb", "intensify"], ["intensify", "climb"], ["kick", "climb"]],
}
"""A graph in which no walk passes ``kick``."""
VERDICTS = (
    "ImplementationAdded",
    "ImplementationReplaced",
    "ImplementationRejected",
    "ImplementationDeleted",
)


def walk(text: str) -> tuple[OperatorId, ...]:
    return tuple(map(OperatorId, text.split()))


SENTINELS = {"S": START, "E": END}
GRAPH = OperatorGraph(
    walk("b c i k s x"),
    frozenset(walk("b s")),
    frozenset(
        (OperatorId(a), OperatorId(b))
        for a, b in map(
            str.split,
            ["START b", "START s", "b c", "s c", "c i", "i c", "b k", "k c", "x c", "b END", "c END"],
        )
    ),
)


def stranded(simulation: Simulation, **settings: Any) -> Simulation:
    model = Answers({"InitializeTask": [json.dumps(STRANDED)]})
    return replace(simulation.changed(operator_limit=5, **settings), model=model)


def states_before(log: MemoryLog, *types: str) -> list[tuple[RunState, Any]]:
    """The state before each event of some types, and the event's payload."""
    found, state = [], RunState()
    for event in log.events:
        if event.type in types:
            found.append((state, event.payload))
        state = fold(state, event)
    return found


@pytest.mark.parametrize(("scope", "is_offered"), [("graph", True), ("walks", False)])
def test_only_operators_on_some_walk_are_offered(
    simulation: Simulation, scope: str, is_offered: bool
) -> None:
    small = stranded(simulation, edit_scope=scope, edits_per_generation=4, generations=1)
    state = states_before(small.run()[1], "PolicyUpdated")[0][0]
    edits = [edit_of(state, slot) for slot in range(4)]
    assert (OperatorId("kick") in {edit.operator for edit in edits if edit}) == is_offered
    assert (None in edits) != is_offered


@pytest.mark.parametrize(
    ("edges", "scope", "is_kept"),
    [
        ("replace", "graph", False),
        ("delta", "walks", True),
        pytest.param("delta", "graph", False, marks=pytest.mark.slow),
        pytest.param("replace", "walks", True, marks=pytest.mark.slow),
    ],
)
def test_no_edit_takes_an_operator_off_every_walk(
    simulation: Simulation, scope: str, is_kept: bool, edges: str
) -> None:
    small = simulation.changed(
        edit_scope=scope, edge_edit=edges, edits_per_generation=3, generations=12, pipelines=6
    )
    lost = []
    for state, edit in states_before(small.run()[1], "EdgeReplaced"):
        assert state.graph is not None
        after = state.graph.edit(edit.removed, edit.added)
        lost.append(state.graph.on_walks(4) - after.on_walks(4))
    assert lost
    assert any(lost) != is_kept


def test_credit_is_judged_only_with_enough_samples(simulation: Simulation) -> None:
    small = simulation.changed(min_samples=6, edits_per_generation=3, generations=6)
    _, log = small.run()
    asked = states_before(log, "LLMCallReserved")
    assert len(asked) > 3
    for state, call in asked[1:]:
        basis = open_basis(state)[1]
        if call.purpose == "implement":
            edit = edit_of(state, int(call.subject.split("/")[-1]))
            assert edit is not None
            assert basis.credits.operator_samples(basis.pools[edit.operator]) >= 6
    for state, edit in states_before(log, "EdgeReplaced"):
        basis = open_basis(state)[1]
        assert all(basis.credits.edge_samples(edge, basis.pools) >= 6 for edge in edit.removed)
    first = states_before(simulation.changed(min_samples=10**6).run()[1], "LLMCallReserved")
    assert len(first) == 1  # the graph


def test_what_was_accepted_is_sampled_before_it_is_judged_replaced_or_asked_for_again(
    simulation: Simulation,
) -> None:
    small = simulation.changed(trial_samples=2, generations=9, pipelines=5, edits_per_generation=2)
    waiting: dict[Any, int] = {}
    served = 0
    new: dict[Any, int] = {}  # accepted in this generation
    types = ("PipelineSampled", "EdgeReplaced", "CreditsUpdated", "GenerationCompleted", *VERDICTS)
    for _, payload in states_before(small.run()[1], *types):
        match type(payload).__name__:
            case "PipelineSampled":
                walk = [step.operator for step in payload.steps]
                used = {*(s.implementation for s in payload.steps), *pairwise((START, *walk, END))}
                waiting.update({thing: waiting[thing] - 1 for thing in used & waiting.keys()})
            case "CreditsUpdated":
                served += sum(left <= 0 for left in waiting.values())
                waiting = {thing: left for thing, left in waiting.items() if left > 0}
            case "GenerationCompleted":
                waiting, new = {**waiting, **new}, {}
            case "EdgeReplaced":
                assert waiting.keys().isdisjoint(payload.removed)
                new.update(dict.fromkeys(payload.added, 2))
            case kind:
                asked_again = [c for c in waiting if str(c).startswith(f"{payload.operator}.")]
                assert not asked_again, f"{kind} of {payload.operator}"
                if kind in ("ImplementationAdded", "ImplementationReplaced"):
                    new[payload.implementation] = 2
    assert served > 3


@pytest.mark.parametrize(
    ("base", "operator", "nearest"),
    [
        ("b c", "c", "b c"),
        ("b c", "i", "b c i c"),
        ("b", "c", "b c"),
        ("b c", "s", "s c"),
        ("b k c", "i", "b c i c"),
        ("b c", "x", None),
    ],
)
def test_something_new_is_tried_in_the_walk_nearest_to_the_incumbents(
    base: str, operator: str, nearest: str | None
) -> None:
    found = walk_through(GRAPH, walk(base), OperatorId(operator), 4)
    assert found == (None if nearest is None else walk(nearest))


@pytest.mark.parametrize(
    ("base", "edge", "nearest"),
    [
        ("b c", "b c", "b c"),
        ("b c", "c i", "b c i c"),
        ("b c", "k c", "b k c"),
        ("b c", "START s", "s c"),
        ("b", "c END", "b c"),
        ("b c", "c s", None),
        ("b c", "x c", None),
    ],
)
def test_a_new_edge_is_tried_in_the_walk_nearest_to_the_incumbents(
    base: str, edge: str, nearest: str | None
) -> None:
    source, target = map(OperatorId, edge.split())
    found = walk_along(GRAPH, walk(base), (source, target), 4)
    assert found == (None if nearest is None else walk(nearest))


def test_nothing_is_bought_that_no_evaluation_can_see(simulation: Simulation) -> None:
    state, log = simulation.changed(last_edits=False, generations=4, edits_per_generation=2).run()
    asked = {call.generation for call in state.ledger.calls.values()}
    assert {1, 2, 3} <= asked
    assert 4 not in asked
    last = {event.type for event in log.events if event.generation == 4}
    assert not {t for t in last if t.startswith(("Implementation", "Edge", "LLM"))}
    few, _ = simulation.changed(last_edits=False, generations=4, llm_calls=3).run()
    assert (few.completed, few.ledger.left) == (4, 0)


def test_no_change_is_a_valid_answer(simulation: Simulation) -> None:
    nothing = json.dumps({"add_edges": [], "delete_edges": []})
    model = Answers({"ImplementTask": ["NO_CHANGE\n"] * 3, "ConnectTask": [nothing] * 3})
    state, log = replace(simulation.changed(no_change=True), model=model).run()
    code = [p for _, p in states_before(log, "ImplementationRejected")]
    edges = [p for _, p in states_before(log, "EdgeRejected")]
    assert {(p.stage, p.is_final, p.attempt) for p in code} == {("no_change", True, 0)}
    assert {(p.reason, p.is_final, p.attempt) for p in edges} == {(NO_CHANGE, True, 0)}
    assert state.ledger.rejections.in_a_row == 0
    _, log = replace(simulation, model=model).run()
    stages = {p.stage for _, p in states_before(log, "ImplementationRejected")}
    assert stages == {"code_block"}


def gaps_between_questions(log: MemoryLog) -> list[int]:
    """Generations from one question for code of an operator to the next, where its pool is still the same."""
    asked: dict[tuple[OperatorId, tuple[str, ...]], list[int]] = {}
    for state, p in states_before(log, "ImplementationRejected"):
        pool = open_basis(state)[1].pools[p.operator]
        asked.setdefault((p.operator, pool), []).append(p.generation)
    return [b - a for numbers in asked.values() for a, b in pairwise(numbers) if b > a]


def test_an_operator_about_which_a_model_would_change_nothing_rests(simulation: Simulation) -> None:
    model = Answers({"ImplementTask": ["NO_CHANGE\n"]})
    rules = {"no_change": True, "incumbent_edits": 2, "gate_instances": 3, "generations": 8}
    run = replace(simulation.changed(**rules), model=model)
    _, log = run.run()
    assert min(gaps_between_questions(log)) == 1
    resting = run.changed(no_change_rest=2)
    _, log = resting.run()
    assert min(gaps_between_questions(log)) == 3
    assert resting.made_again(log) > 20


def test_rest_ends_where_there_may_be_more(simulation: Simulation) -> None:
    rules = {"no_change": True, "no_change_rest": 9, "incumbent_edits": 2, "gate_instances": 3}
    _, log = replace(simulation.changed(**rules), model=Answers({"ImplementTask": ["NO_CHANGE\n"]})).run()

    def offered(state: RunState) -> set[OperatorId]:
        return {edit.operator for slot in range(1, 100) if (edit := edit_of(state, slot)) is not None}

    def resting(state: RunState) -> set[OperatorId]:
        number = open_basis(state)[0].number
        declined = {o for o, found in state.declined.items() if found[-1].generation == number - 1}
        return declined & {step.operator for step in incumbent(state)}

    states = [state for state, _ in states_before(log, "ImplementationRejected", "ImplementationsKept")]
    state = next(state for state in states if open_basis(state)[0].number > 1 and resting(state))
    operator = min(resting(state))
    assert operator not in offered(state)
    generation, basis = open_basis(state)
    name, new = basis.pools[operator][0], ImplementationId(f"{operator}.new")
    grown = replace(basis, pools={**basis.pools, operator: (*basis.pools[operator], new)})
    assert operator in offered(replace(state, generation=replace(generation, basis=grown)))
    lost = TriedCode(generation.number - 1, 1, ImplementationId(f"{operator}.lost"), name, "", (-0.1,), False)
    assert operator in offered(replace(state, tried=state.tried.set(operator, (lost,))))


def configured(name: str, rounds: int, more: str = "") -> str:
    text = SOURCE.format(name=name).replace("ROUNDS = 5", f"ROUNDS = {rounds}")
    return f"```python\n{text.replace('    return state', more + '    return state')}```\n"


def test_an_answer_that_differs_in_constants_alone_takes_the_place_and_the_credits_of_its_member(
    simulation: Simulation,
) -> None:
    names = ("build0", "build1", "climb0", "climb1", "intensify0", "kick0", "start0")
    for name in names:
        model = Answers({"ImplementTask": [configured(name, 7)] * 3})
        _, log = replace(simulation.changed(configurations=True, attempts_per_edit=1), model=model).run()
        found = [(s, p) for s, p in states_before(log, "ImplementationReplaced") if p.inherits_credits]
        for state, payload in found:
            assert payload.operator == name[:-1]
            pool = state.pools[payload.operator]
            before = state.credits.implementation_credit(payload.removed, 1e-8)
            after = next(s for s, p in states_before(log, "GenerationCompleted") if s.seq > state.seq)
            assert len(after.pools[payload.operator]) == len(pool)
            assert payload.removed not in after.pools[payload.operator]
            assert after.credits.implementation_credit(payload.implementation, 1e-8) == before != 0.0
        if found:
            return
    pytest.fail("no answer was a configuration")


@pytest.mark.parametrize(("least", "is_refused"), [(1, False), (2, True)])
def test_near_copies_are_refused_before_a_trial(simulation: Simulation, least: int, is_refused: bool) -> None:
    names = ("build0", "build1", "climb0", "climb1", "intensify0", "kick0", "start0")
    copies = [configured(name, 9, "    state.metadata.clear()\n") for name in names]
    stages: list[str] = []
    tried: list[str] = []

    def fails(request: Any) -> bool:
        tried.append(request.key)
        return False

    for copy in copies:
        model = Answers({"ImplementTask": [copy]})
        small = simulation.changed(near_copy_lines=least, attempts_per_edit=1, generations=1)
        _, log = replace(small, model=model, fails=fails).run()
        stages += [p.stage for _, p in states_before(log, "ImplementationRejected")]
    assert ("near_copy" in stages) == is_refused
    n_refused = stages.count("near_copy")
    assert sum(key.startswith("isolated/") for key in tried) + n_refused == len(copies)


def test_incumbent_slots_go_to_its_operators_in_proportion_to_what_they_account_for(
    simulation: Simulation,
) -> None:
    small = simulation.changed(incumbent_edits=3, generations=3)
    _, log = small.run()
    states = [s for s, p in states_before(log, "LLMCallReserved") if p.subject.endswith(("/1", "/2", "/3"))]
    assert states
    for state in states:
        own = {step.operator for step in incumbent(state)}
        edits = [edit_of(state, slot) for slot in (1, 2, 3)]
        assert {edit.operator for edit in edits if edit} <= own
    state = states[-1]
    program = incumbent(state)
    shares = {s.implementation: Contribution(1.0 + 8.0 * (i == 0), 0.0, 10) for i, s in enumerate(program)}
    weighed = replace(state, contributions=state.contributions.update(shares))
    weights = operator_weights(weighed)
    assert weights[program[0].operator] >= 0.9
    drawn = Counter(edit.operator for slot in range(1, 300) if (edit := edit_of(weighed, slot)) is not None)
    expected = weights[program[0].operator] / sum(weights.values())
    assert drawn[program[0].operator] / drawn.total() == pytest.approx(expected, abs=0.08)


def test_all_decisions_are_made_again_with_every_rule_on(simulation: Simulation) -> None:
    small = simulation.changed(
        **EVERY_RULE, generations=4, pipelines=3, edits_per_generation=2, race_contenders=2
    )
    _, log = small.run()
    assert small.made_again(log) > 50
