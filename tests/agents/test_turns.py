"""Dialogues about code: further turns after a measurement, and answers as replacements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.proposing.answers import apply_replacements, parse_implementation
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.proposing.prompts import CHARS_PER_TOKEN, render
from dga2d.agents.proposing.tasks import ImplementTask
from dga2d.events.payloads import (
    ImplementationAdded,
    ImplementationMeasured,
    ImplementationProposed,
    ImplementationReplaced,
    ImplementationsKept,
)
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

TURNS: dict[str, Any] = {
    "turns": 2,
    "gate_instances": 3,
    "prompt_edition": 3,
    "incumbent_edits": 1,
    "generations": 3,
    "llm_calls": 300,
    "pool_limit": 6,
}


@dataclass
class Editor(Answers):
    """Answers each request for code with a replacement of one line."""

    given: dict[str, list[str]] = field(default_factory=dict)

    async def complete(self, request: CompletionRequest) -> Completion:
        task = request.task
        if not isinstance(task, ImplementTask) or task.answer_form == "whole":
            return await super().complete(request)
        self.requests.append(request)
        line = next(line for line in task.base.source.split("\n") if line.startswith("NOISE"))
        new = f"NOISE = 0.25\nMORE_{len(self.requests)} = {len(self.requests)}"
        return Completion(replacement(line, new), 7, 5, False, 0.25)


def replacement(old: str, new: str) -> str:
    return f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


@pytest.fixture(scope="module")
def talked(simulation: Simulation) -> tuple[Simulation, MemoryLog, list[CompletionRequest]]:
    model = Answers({})
    small = replace(simulation.changed(**TURNS), model=model)
    return small, small.run()[1], model.requests


def payloads(log: MemoryLog, kind: Any) -> list[Any]:
    return [event.payload for event in log.events if isinstance(event.payload, kind)]


def test_each_turn_is_told_what_was_measured_of_the_one_before(
    talked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    _, log, requests = talked
    proposed = {(p.generation, p.slot): p for p in payloads(log, ImplementationProposed)}
    measured = {(m.generation, m.slot): m for m in payloads(log, ImplementationMeasured)}
    told = 0
    for request in requests:
        task = request.task
        if not isinstance(task, ImplementTask):
            continue
        generation, slot = map(int, request.subject.split("/")[1:])
        if slot % 2 == 0:
            assert task.draft is None
            assert "Your answer so far" not in request.prompt.text
            continue
        before, result = proposed[generation, slot - 1], measured[generation, slot - 1]
        assert task.draft is not None
        assert task.draft.id == before.implementation
        assert task.draft.source in request.prompt.text
        for key, gain in zip(before.instances, result.gains, strict=False):
            assert (
                f"- {key} (n = 10): {100 * (gain or 0.0):+.3f} points; yours position " in request.prompt.text
            )
        assert " units, " in request.prompt.text
        assert " per second" in request.prompt.text
        told += 1
    assert told > 3


def test_the_best_of_all_turns_joins_and_every_call_counts(
    talked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    small, log, requests = talked
    joined = payloads(log, ImplementationAdded | ImplementationReplaced)
    keys = [(p.generation, p.operator) for p in joined]
    assert len(set(keys)) == len(keys) > 0
    gains = {
        (m.generation, m.slot): sum(g or 0.0 for g in m.gains) / len(m.gains)
        for m in payloads(log, ImplementationMeasured)
    }
    operators = {(p.generation, p.slot): p.operator for p in payloads(log, ImplementationProposed)}
    for payload in joined:
        rivals = [
            g
            for key, g in gains.items()
            if operators[key] == payload.operator and key[0] == payload.generation
        ]
        assert gains[payload.generation, payload.slot] == max(rivals)
    assert len(requests) == sum(e.type == "LLMCallReserved" for e in log.events)
    assert small.made_again(log) > 40


def test_a_run_with_turns_that_is_killed_anywhere_ends_well(
    talked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    small, log, _ = talked
    asked = [e.seq for e in log.events if e.type == "ImplementationProposed"]
    again, whole = replace(small, model=Answers({})).run(log.until(asked[1] + 3))
    assert again.status == "completed"
    assert small.made_again(whole) > 40
    other, _ = replace(small, order=5, model=Answers({})).run()
    assert state_digest(other) == state_digest(fold_all(log.events))


def test_a_failure_is_told_with_its_diagnostic_and_a_turn_without_measurement_ends_the_dialogue(
    simulation: Simulation,
) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return "/gate/" in request.key and int(request.key.split("/")[3]) < 4

    model = Answers({})
    short = simulation.changed(**{**TURNS, "generations": 1})
    _, log = replace(short, model=model, fails=fails).run()
    later = [r.prompt.text for r in model.requests if isinstance(r.task, ImplementTask) and r.task.draft]
    assert later
    assert all("failed, runtime_error: ValueError: no" in text for text in later)
    assert not payloads(log, ImplementationAdded | ImplementationReplaced)
    silent = replace(
        simulation.changed(**TURNS, attempts_per_edit=1), model=Answers({"ImplementTask": ["no"]})
    )
    _, log = silent.run()
    reasons = {p.reason for p in payloads(log, ImplementationsKept)}
    assert "the turn before brought nothing that was measured" in reasons
    assert silent.made_again(log) > 20


def test_strong_models_are_asked_for_replacements_and_weak_ones_for_whole_texts(
    simulation: Simulation,
) -> None:
    form = {**TURNS, "turns": 1, "answer_form": "auto", "generations": 4}
    strong = Editor()
    small = replace(simulation.changed(**form), model=strong)
    _, log = small.run()
    forms = [r.task.answer_form for r in strong.requests if isinstance(r.task, ImplementTask)]
    assert forms[0] == "whole"
    assert forms[-1] == "diff"
    sources = {p.implementation for p in payloads(log, ImplementationProposed)}
    assert sources
    assert small.made_again(log) > 40
    weak = Answers({"ImplementTask": ["?", "?", "?"]})
    replace(simulation.changed(**form), model=weak).run()
    assert {r.task.answer_form for r in weak.requests if isinstance(r.task, ImplementTask)} == {"whole"}


def test_replacements_are_made_one_after_the_other() -> None:
    base = "a = 1\nb = 2\nc = 3\n"
    text = "First.\n" + replacement("b = 2", "b = 4") + replacement("b = 4\nc = 3", "c = 5")
    assert apply_replacements(text, base) == "a = 1\nc = 5\n"
    assert (
        apply_replacements(replacement("b = 2", "").replace("=======\n\n", "=======\n"), base)
        == "a = 1\nc = 3\n"
    )


@pytest.mark.parametrize(
    ("text", "stage", "reason"),
    [
        (replacement("d = 1", "x"), "diff", "occurs 0 times"),
        (replacement(" = ", "x"), "diff", "occurs 0 times"),
        (replacement("a = 1", "a = 1\na = 1") + replacement("a = 1", "x"), "diff", "occurs 2 times"),
        (replacement("", "x"), "diff", "is empty"),
        ("<<<<<<< SEARCH\na = 1\n", "diff", "has no line '======='"),
        ("<<<<<<< SEARCH\na = 1\n=======\nx\n", "diff", "has no line '>>>>>>> REPLACE'"),
        (replacement("a = 1", "a\u200b = 1"), "encoding", "invisible"),
        (replacement("a = 1", "x") * 41, "diff", "41 replacements"),
    ],
)
def test_replacements_that_do_not_fit_are_refused(text: str, stage: str, reason: str) -> None:
    with pytest.raises(ProposalError, match=reason) as refused:
        apply_replacements(text, "a = 1\nb = 2\n")
    assert refused.value.stage == stage


def test_a_whole_text_is_an_answer_wherever_replacements_are_asked_for(
    talked: tuple[Simulation, MemoryLog, list[CompletionRequest]],
) -> None:
    task = next(r.task for r in talked[2] if isinstance(r.task, ImplementTask) and r.task.draft)
    asked = replace(task, answer_form="diff")
    code = "def run(env_data, state, calc_makespan_fn):\n    return state.copy()\n"
    assert parse_implementation(f"```python\n{code}```", asked) == code
    text = render(asked).text
    assert f"replacements in the code of {asked.base.id}" in text
    assert asked.facts is not None
    assert len(text) <= asked.facts.max_tokens * CHARS_PER_TOKEN


@pytest.mark.parametrize("wrong", [{"turns": 2}, {"answer_form": "diff"}])
def test_turns_and_forms_need_the_third_edition(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="prompt_edition = 3"):
        RunSettings.model_validate(wrong)
