"""Operators that a model proposes: taken if the incumbent gains by them, else refused with the reason."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.outside_world import Answers
from tests.agents.test_wasted_calls import states_before

from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.proposing.operator_answers import (
    edges_beside_incumbent,
    operator_answer,
    parse_operator,
)
from dga2d.agents.proposing.tasks import MOST_OPERATOR_EDGES, OperatorContract, OperatorTask
from dga2d.events import OperatorId
from dga2d.events.payloads import (
    OperatorAdded,
    OperatorProposed,
    OperatorRejected,
    OperatorRetired,
    OperatorsKept,
)
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

ASKED: dict[str, Any] = {
    "new_operators": 1,
    "gate_instances": 3,
    "prompt_edition": 3,
    "generations": 7,
    "operator_limit": 5,
    "max_length": 6,
    "llm_calls": 200,
}
CODE = '''"""Walks to the {name}. More."""
LIMIT = {name!r}


def run(env_data, state, calc_makespan_fn):
    return state
'''


def description(name: str, **changed: Any) -> dict[str, Any]:
    edges = [["build", name], ["climb", name], [name, "END"]]
    fields = {"id": name, "title": "A title", "category": "local_search", "requires": "complete"}
    return {**fields, "provides": "complete", "summary": f"What {name} does.", "edges": edges, **changed}


def answer(described: dict[str, Any] | str, code: str) -> str:
    text = described if isinstance(described, str) else json.dumps(described)
    return f"```json\n{text}\n```\n\n```python\n{code}```\n"


@dataclass
class Inventor(Answers):
    """Offline answers; a new operator with every request for one."""

    given: dict[str, list[str]] = field(default_factory=dict)
    name: str = "inventor"

    async def complete(self, request: CompletionRequest) -> Completion:
        if not isinstance(request.task, OperatorTask):
            return await super().complete(request)
        self.requests.append(request)
        name = f"op_{request.subject.split('/')[1]}"
        return Completion(answer(description(name), CODE.format(name=name)), 7, 5, False, 0.25)


@pytest.fixture(scope="module")
def invented(simulation: Simulation) -> tuple[Simulation, RunState, MemoryLog, Inventor]:
    model = Inventor()
    small = replace(simulation.changed(**ASKED), model=model)
    return small, *small.run(), model


def payloads(log: MemoryLog, kind: type[Any]) -> list[Any]:
    return [event.payload for event in log.events if isinstance(event.payload, kind)]


def test_an_operator_joins_if_the_incumbent_gained_by_it(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    _, state, log, _ = invented
    added, proposed = payloads(log, OperatorAdded), payloads(log, OperatorProposed)
    assert len(proposed) == 7
    assert {p.operator for p in added} == set(state.operators)
    assert added
    for before, event in states_before(log, "OperatorProposed"):
        assert event.program == incumbent(before)
        assert event.operator in [step.operator for step in event.extended]
    for payload in added:
        assert sum(payload.gains) / len(payload.gains) > 0
        assert payload.credits
    refused = [p for p in payloads(log, OperatorRejected) if p.stage == "gate"]
    assert refused
    assert all(p.is_final and sum(p.gains) <= 0 for p in refused)
    assert len(added) + len(refused) == 7


def test_the_graph_stays_within_its_limit_by_retiring_what_is_used_least(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    _, state, log, _ = invented
    retired = states_before(log, "OperatorRetired")
    assert retired
    for before, payload in retired:
        assert before.graph is not None
        needed = {s.operator for s in (*incumbent(before), *before.header.baseline)}
        assert payload.operator not in needed
        uses = {o: before.credits.operator_samples(before.pools[o]) for o in before.graph.operators}
        assert payload.uses == uses[payload.operator]
    assert state.graph is not None
    assert len(state.graph.operators) == 5 == len(state.pools)
    assert set(state.graph.operators) == set(state.pools)
    gone = {p.operator for p in payloads(log, OperatorRetired)}
    assert not gone & set(state.pools)
    assert not any(t.target.partition(".")[0] in gone for t in state.credits.records)


def test_a_new_operator_is_treated_like_any_other(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    _, state, log, model = invented
    joined = {p.operator: p.generation for p in payloads(log, OperatorAdded)}
    walks = [(t, w) for t, summary in state.history.items() for w in summary.walks]
    used = {c.partition(".")[0] for t, walk in walks for c in walk}
    assert used & set(joined)
    texts = [r.prompt.text for r in model.requests if r.subject.startswith("connect")]
    assert any(f"- {name} (local_search): requires complete" in text for name in joined for text in texts)
    asked = [r.prompt.text for r in model.requests if isinstance(r.task, OperatorTask)]
    assert len(set(asked)) == len(asked)
    assert any("points on 3 instances; joined the graph." in text for text in asked)


def test_all_decisions_on_operators_are_made_again(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    small, _, log, _ = invented
    assert small.made_again(log) > 60


def test_a_run_killed_anywhere_ends_in_the_same_state(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    small, state, log, _ = invented
    places = [e.seq for e in log.events if e.type in ("OperatorProposed", "OperatorAdded", "OperatorRetired")]
    for seq in (places[0], places[1] - 1, places[-1]):
        again, whole = small.run(log.until(seq))
        assert again.status == "completed"
        assert small.made_again(whole) > 60
        assert again.graph is not None
        assert set(again.graph.operators) == set(again.pools)
    other = replace(small, order=3, model=Inventor())
    assert state_digest(other.run()[0]) == state_digest(state)


def test_the_offline_proposer_composes_operators_from_the_library(simulation: Simulation) -> None:
    small = simulation.changed(**ASKED)
    state, log = small.run()
    proposed = payloads(log, OperatorProposed)
    assert proposed
    assert all(p.category == "intensification" and p.summary.startswith("Repeats ") for p in proposed)
    assert state.status == "completed"
    assert small.made_again(log) > 60


def test_nothing_is_asked_for_where_every_operator_is_needed(simulation: Simulation) -> None:
    small = simulation.changed(**{**ASKED, "operator_limit": 2, "generations": 2})
    _, log = small.run()
    kept = payloads(log, OperatorsKept)
    assert [p.reason for p in kept] == ["the graph is full and every operator of it is needed"] * 2
    assert not any(c.purpose == "operator" for c in fold_all(log.events).ledger.calls.values())


def test_an_operator_that_fails_its_trial_is_refused_and_changes_nothing(simulation: Simulation) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return any(step.operator.startswith("op_") for step in request.steps)

    small = replace(simulation.changed(**ASKED, attempts_per_edit=2), model=Inventor(), fails=fails)
    state, log = small.run()
    refused = payloads(log, OperatorRejected)
    assert len(refused) == 14
    assert {p.stage for p in refused} == {"isolated"}
    assert not state.operators
    assert not any(name.startswith("op_") for name in state.pools)
    assert small.made_again(log) > 60


GOOD = CODE.format(name="x")
BAD = [
    ("NO_CHANGE", "no_change"),
    ("", "size"),
    ("only words", "code_block"),
    (answer(description("fine"), GOOD) + "```python\nx = 1\n```\n", "code_block"),
    (answer("{", GOOD), "json"),
    (answer({**description("fine"), "more": 1}, GOOD), "keys"),
    (answer(description("END"), GOOD), "id"),
    (answer(description("a" * 41), GOOD), "id"),
    (answer(description("climb"), GOOD), "id"),
    (answer(description("fine", id=["x"]), GOOD), "id"),
    (answer(description("fine", title="a\nb"), GOOD), "title"),
    (answer(description("fine", summary="\u202eevil"), GOOD), "summary"),
    (answer(description("fine", summary="x" * 301), GOOD), "summary"),
    (answer(description("fine", category="<script>"), GOOD), "category"),
    (answer(description("fine", requires="all"), GOOD), "interface"),
    (answer(description("fine", provides="none"), GOOD), "interface"),
    (answer(description("fine", edges=[]), GOOD), "edges"),
    (answer(description("fine", edges=[["fine", "nowhere"]]), GOOD), "edges"),
    (answer(description("fine", edges=[["build", "climb"]]), GOOD), "edges"),
    (answer(description("fine", edges=[["fine", "fine"]]), GOOD), "edges"),
    (answer(description("fine", edges=[["END", "fine"]]), GOOD), "edge_interface"),
    (answer(description("fine", edges=[["START", "fine"], ["fine", "END"]]), GOOD), "edge_interface"),
    (answer(description("fine", edges=[["fine", "END"]]), GOOD), "route"),
    (answer(description("fine"), "def run(:\n"), "syntax"),
    (answer(description("fine"), "x = 1\n"), "signature"),
    (answer(description("fine"), "import os\n" + GOOD.partition('"""\n')[2]), "source_rules"),
    (answer(description("fine"), GOOD.replace("LIMIT", "LI\u200bMIT")), "encoding"),
]


@pytest.mark.parametrize(("text", "stage"), BAD)
def test_a_malformed_or_hostile_proposal_is_refused_with_its_stage(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor], text: str, stage: str
) -> None:
    task = next(r.task for r in invented[3].requests if isinstance(r.task, OperatorTask))
    with pytest.raises(ProposalError) as refused:
        parse_operator(text, task)
    assert refused.value.stage == stage
    assert parse_operator(answer(description("fine"), GOOD), task).contract.id == "fine"


KINDS = [
    ("initialisation", "none", "complete"),
    ("local_search", "complete", "complete"),
    ("recombination", "complete", "complete"),
    ("perturbation", "complete", "complete"),
    ("perturbation", "complete", "partial"),
]


@pytest.fixture(scope="module", params=["dg", "dag"])
def asked(simulation: Simulation, request: pytest.FixtureRequest) -> list[OperatorTask]:
    """What was asked for in a run of each structure."""
    model = Inventor()
    replace(simulation.changed(**ASKED, structure=request.param), model=model).run()
    return [r.task for r in model.requests if isinstance(r.task, OperatorTask)]


@pytest.mark.parametrize(("category", "requires", "provides"), KINDS)
def test_edges_by_rule_join_an_operator_to_the_incumbent(
    asked: list[OperatorTask], category: str, requires: Any, provides: Any
) -> None:
    """Where its role fits somewhere the answer is sound; there is no other edge than to the incumbent's."""
    contract = OperatorContract(OperatorId("fine"), "A title", "Does.", category, requires, provides)
    for open_task in asked:
        task = replace(open_task, categories={**open_task.categories, OperatorId("o"): category})
        edges = edges_beside_incumbent(contract, task)
        if not any(edge[0] == "fine" for edge in edges):
            assert provides == "partial"  # nothing here takes a partial solution
            continue
        proposed = parse_operator(operator_answer(contract, edges, GOOD), task)
        assert set(proposed.edges) == set(edges)
        assert len(edges) == len(set(edges)) <= MOST_OPERATOR_EDGES
        assert {end for edge in edges for end in edge} <= {"fine", START, END, *task.incumbent}
        if requires == "none":
            assert (START, "fine") in edges
        if category == "perturbation" and len(task.incumbent) > 1:
            assert ("fine", task.incumbent[-1]) in edges


def test_code_of_another_operator_is_no_new_operator(
    invented: tuple[Simulation, RunState, MemoryLog, Inventor],
) -> None:
    task = next(r.task for r in invented[3].requests if isinstance(r.task, OperatorTask))
    with pytest.raises(ProposalError, match="runs exactly like"):
        parse_operator(answer(description("fine"), task.others[0].source), task)


def test_new_operators_need_a_gate() -> None:
    with pytest.raises(ValueError, match="new_operators = 2 needs gate_instances"):
        RunSettings(new_operators=2)
