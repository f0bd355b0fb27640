"""Several language models: which is asked follows from what their calls gained, and another answers for one
that is down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents import calls
from dga2d.agents.model_choice import call_rewards, models_of
from dga2d.agents.proposing.errors import ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, ModelPool
from dga2d.events.payloads import LLMCallReserved
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.digest import state_digest

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

SEVERAL: dict[str, Any] = {
    "llm": "good",
    "llm_others": ("bad",),
    "llm_edges": "cheap",
    "gate_instances": 2,
    "incumbent_edits": 2,
    "generations": 6,
    "llm_calls": 300,
    "pool_limit": 8,
}


@dataclass
class Named(Answers):
    """Offline answers under another name, or nonsense."""

    given: dict[str, list[str]] = field(default_factory=dict)
    is_down: bool = False
    loses: bool = False

    async def ready(self) -> None:
        if self.is_down:
            raise ModelUnavailableError("down for good")

    async def complete(self, request: CompletionRequest) -> Completion:
        if self.loses:
            raise ModelUnavailableError("no such model")
        return await super().complete(request)


def pool(**changed: Any) -> ModelPool:
    bad = Named({"ImplementTask": ["?"] * 5}, name="bad:1")
    models = {"good": Named(name="good:1"), "bad": bad, "cheap": Named(name="cheap:1")}
    return ModelPool({**models, **changed})


@pytest.fixture(scope="module")
def mixed(simulation: Simulation) -> tuple[Simulation, MemoryLog]:
    small = replace(simulation.changed(**SEVERAL), seed=3, model=pool())
    return small, small.run()[1]


def reserved(log: MemoryLog) -> list[LLMCallReserved]:
    return [event.payload for event in log.events if isinstance(event.payload, LLMCallReserved)]


def test_each_kind_of_call_goes_to_its_models_and_the_ledger_keeps_them_apart(
    mixed: tuple[Simulation, MemoryLog],
) -> None:
    small, log = mixed
    for call in reserved(log):
        expected = {"initialize": {"good"}, "connect": {"cheap"}, "implement": {"good", "bad"}}[call.purpose]
        assert call.choice in expected
        assert call.model == f"{call.choice}:1"
    state, _ = small.run(log)
    assert {call.model for call in state.ledger.calls.values()} == {"good:1", "bad:1", "cheap:1"}


def test_calls_go_to_the_model_whose_calls_gained(mixed: tuple[Simulation, MemoryLog]) -> None:
    small, log = mixed
    state, _ = small.run(log)
    rewards = call_rewards(state, 100)
    assert set(rewards) == {"good", "bad"}
    assert sum(rewards["bad"]) == 0 < sum(rewards["good"])
    assert all(0.0 <= reward <= 1.0 for own in rewards.values() for reward in own)
    late = [c for c in reserved(log) if c.purpose == "implement" and int(c.subject.split("/")[1]) > 3]
    counts = Counter(call.choice for call in late)
    assert counts["good"] > counts["bad"]


def test_choices_are_decisions_and_do_not_depend_on_the_order_of_answers(
    mixed: tuple[Simulation, MemoryLog],
) -> None:
    small, log = mixed
    assert small.made_again(log) > 60
    state, _ = small.run(log)
    again, _ = replace(small, order=4, model=pool()).run()
    assert state_digest(again) == state_digest(state)
    seq = next(e.seq for e in log.events if e.type == "LLMCallReserved" and e.generation == 2)
    resumed, whole = replace(small, model=pool()).run(log.until(seq))
    assert resumed.status == "completed"
    assert small.made_again(whole) > 60


@pytest.mark.parametrize("how", [{"is_down": True}, {"loses": True}])
def test_another_model_answers_for_one_that_is_down(
    simulation: Simulation, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "PATIENCE_S", 0.2)
    broken = Named(name="cheap:1", **how)
    small = replace(simulation.changed(**{**SEVERAL, "generations": 2}), model=pool(cheap=broken))
    state, log = small.run()
    assert state.status == "completed"
    edges = [call for call in reserved(log) if call.purpose == "connect"]
    answered = [c for c in state.ledger.calls.values() if c.purpose == "connect" and c.status == "settled"]
    assert answered
    assert all(call.model != "cheap:1" for call in answered)
    assert edges[0].choice == "cheap"
    assert small.made_again(log) > 20


def test_a_single_model_is_recorded_as_ever(simulation: Simulation) -> None:
    _, log = simulation.run()
    assert all(call.choice is None for call in reserved(log))
    assert all(
        b"choice" not in event.payload_bytes for event in log.events if event.type == "LLMCallReserved"
    )


def test_models_are_named_once() -> None:
    assert models_of(RunSettings(llm="a", llm_others=("b", "a"), llm_edges="b")) == ("a", "b")
    assert models_of(RunSettings(llm="a")) == ("a",)
