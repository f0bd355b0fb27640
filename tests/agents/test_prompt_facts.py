"""Prompts of the second and third edition: what they tell of a run, and the bound they keep to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.proposing.prompts import CHARS_PER_TOKEN, LEAST_FIRST, render
from dga2d.agents.proposing.tasks import ConnectTask, ImplementTask, InitializeTask, RunFacts, Task
from dga2d.events.payloads import EdgeRejected, ImplementationAdded, ImplementationReplaced
from dga2d.replay.settings import RunSettings

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

IDEA = '"""Pair exchanges {n}. The rest is as before."""\n'


@dataclass
class WithIdeas(Answers):
    """Offline answers whose modules begin with an idea."""

    given: dict[str, list[str]] = field(default_factory=dict)

    async def complete(self, request: CompletionRequest) -> Completion:
        done = await super().complete(request)
        idea = IDEA.format(n=len(self.requests))
        return replace(done, text=done.text.replace("```python\n", f"```python\n{idea}"))


@pytest.fixture(scope="module")
def asked(simulation: Simulation) -> tuple[Simulation, MemoryLog, list[CompletionRequest]]:
    model = WithIdeas()
    changed = simulation.changed(
        prompt_edition=2, gate_instances=3, incumbent_edits=3, generations=4, llm_calls=200, no_change=True
    )
    small = replace(changed, model=model)
    return small, small.run()[1], model.requests


def code_requests(asked: tuple[Simulation, MemoryLog, list[CompletionRequest]]) -> list[CompletionRequest]:
    return [request for request in asked[2] if isinstance(request.task, ImplementTask)]


def test_a_prompt_tells_where_the_operator_stands_and_shows_its_neighbours(
    asked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    marked = 0
    for request in code_requests(asked):
        task, text = request.task, request.prompt.text
        assert isinstance(task, ImplementTask)
        assert request.prompt.template == "implement@2"
        assert task.facts is not None
        marked += "<- the operator in question" in text
        for entry in task.facts.neighbours:
            assert entry.source in text
            assert not entry.id.startswith(f"{task.operator.id}.")
        assert "100 work units per instance for the whole pipeline" in text
        assert "6 training instances by group: g (6)" in text
        assert f"- {task.parent.id}: " in text
        assert "samples" in text
        assert all(key in text for key in ("g/train", "Gaps to the best known"))
        assert "NO_CHANGE" in text
    assert marked > 3
    edges = [r for r in asked[2] if r.prompt.template.startswith("connect")]
    assert {r.prompt.template for r in edges} == {"connect@2"}
    assert all("never used" in r.prompt.text or "samples" in r.prompt.text for r in edges)


def test_a_prompt_tells_what_was_tried_before_with_its_idea_and_its_gain(
    asked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    _, log, _ = asked
    measured = {}
    for event in log.events:
        if event.type == "ImplementationMeasured":
            payload = event.payload.model_dump()
            measured[payload["generation"], payload["slot"]] = payload["gains"]
    told = 0
    for request in code_requests(asked):
        assert isinstance(request.task, ImplementTask)
        assert request.task.facts is not None
        for row in request.task.facts.tried:
            assert row in request.prompt.text
            assert "Pair exchanges" in row
            generation = int(row.removeprefix("generation ").partition(":")[0])
            gains = [g for (t, _), g in measured.items() if t == generation]
            assert any(f"{100 * sum(g) / len(g):+.3f}" in row for g in gains)
            told += 1
    assert told > 5


def test_the_prompts_are_made_again_from_the_log(
    asked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    small, log, _ = asked
    assert small.made_again(log) > 60


def test_a_prompt_keeps_to_its_bound_and_leaves_out_what_matters_least(
    asked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    task = code_requests(asked)[-1].task
    assert isinstance(task, ImplementTask)
    assert task.facts is not None
    whole = len(render(task).text)

    def bounded(tokens: int) -> tuple[str, RunFacts]:
        facts = replace(task.facts, max_tokens=tokens) if task.facts else None
        assert facts is not None
        return render(replace(task, facts=facts)).text, facts

    least = len(bounded(1)[0])
    assert least < whole
    for tokens in range(least // CHARS_PER_TOKEN + 1, whole // CHARS_PER_TOKEN + 1, 40):
        text, facts = bounded(tokens)
        assert len(text) <= tokens * CHARS_PER_TOKEN
        rows = [getattr(facts, name) for name in LEAST_FIRST if name != "neighbours"]
        kept = [any(str(row) in text for row in found) for found in rows if found]
        assert kept == sorted(kept)
    assert bounded(10**6)[0] == render(task).text


@pytest.fixture(scope="module")
def third(simulation: Simulation) -> tuple[Simulation, MemoryLog, list[CompletionRequest]]:
    model = WithIdeas()
    changed = simulation.changed(
        prompt_edition=3,
        gate_instances=3,
        incumbent_edits=2,
        answers_per_edit=2,
        edge_smoke=True,
        generations=4,
        llm_calls=200,
        edge_edit="delta",
    )
    small = replace(changed, model=model)
    return small, small.run()[1], model.requests


def test_no_prompt_is_sent_twice_in_a_generation(
    third: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    _, _, requests = third
    code = [r for r in requests if isinstance(r.task, ImplementTask)]
    texts = [(r.subject.split("/")[1], r.prompt.text) for r in code]
    assert len(set(texts)) == len(texts) > 20
    shared = [r for r in code if r.task.facts is not None and r.task.facts.direction]
    assert len(shared) > 10
    assert all(r.task.facts is not None and r.task.facts.direction in r.prompt.text for r in shared)


def test_the_third_edition_tells_sizes_for_graphs_code_and_edges(
    third: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    _, _, requests = third
    assert {r.prompt.template for r in requests} == {"initialize@3", "implement@3", "connect@3"}
    for request in requests:
        assert "100 work units per instance for the whole pipeline" in request.prompt.text
        assert "6 training instances by group: g (6)" in request.prompt.text
        assert "  - 6 x: n = 10" in request.prompt.text
    edges = [r.prompt.text for r in requests if isinstance(r.task, ConnectTask)]
    allowed = [text.partition("Edges that may be added:")[2] for text in edges]
    assert any("- climb -> climb" not in text and " -> " in text for text in allowed)
    assert any("generation 1: " in text and " added (" in text for text in edges)


def test_the_best_answer_of_an_edit_joins_and_all_decisions_are_made_again(
    third: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    small, log, _ = third
    joined: dict[tuple[int, str], int] = {}
    measured = 0
    for event in log.events:
        payload = event.payload
        measured += event.type == "ImplementationMeasured"
        if isinstance(payload, ImplementationAdded | ImplementationReplaced):
            key = (payload.generation, payload.operator)
            joined[key] = joined.get(key, 0) + 1
    assert measured > 10
    assert set(joined.values()) == {1}
    assert small.made_again(log) > 60


@pytest.mark.parametrize("kind", [InitializeTask, ConnectTask])
def test_prompts_for_graphs_and_edges_keep_to_their_bound(
    third: tuple[Simulation, MemoryLog, list[CompletionRequest]], kind: type[Task]
) -> None:
    task = next(r.task for r in reversed(third[2]) if isinstance(r.task, kind))
    assert task.facts is not None
    refused = replace(task, diagnostic="no", attempt=1, previous="x" * 30_000)
    small = replace(refused, facts=replace(task.facts, max_tokens=1_500))
    assert len(render(small).text) <= 1_500 * CHARS_PER_TOKEN
    assert len(render(refused).text) > 1_500 * CHARS_PER_TOKEN


def test_an_edge_whose_walk_fails_is_refused_with_the_reason(simulation: Simulation) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return request.key.startswith("trial/")

    small = simulation.changed(edge_smoke=True, attempts_per_edit=2)
    _, log = replace(small, fails=fails).run()
    refused = [e.payload for e in log.events if isinstance(e.payload, EdgeRejected)]
    assert refused
    assert all(
        r.reason.startswith("trial: ") and "runtime_error: ValueError: no" in r.reason for r in refused
    )
    assert not any(e.type == "EdgeReplaced" for e in log.events)
    assert small.made_again(log) > 20


def test_several_answers_need_a_gate() -> None:
    with pytest.raises(ValueError, match="answers_per_edit = 2 needs gate_instances"):
        RunSettings(answers_per_edit=2)
