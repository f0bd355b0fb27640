"""Calls that bring no answer: lost, refused by the store, or impossible until somebody acts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio
import pytest

from dga2d.agents.decision_replay import DecisionVerifier
from dga2d.agents.proposing.errors import CallLostError, ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, Quote
from dga2d.agents.proposing.offline import OfflineModel
from dga2d.events import Draft, RecordedEvent
from dga2d.events.payloads import LLMCallRefused, LLMCallReserved, RunCompleted
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import LLM_TOKENS, QuotaExceededError

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation


@dataclass
class Unreliable:
    """Loses the first attempt of every edit; may give up for good."""

    is_gone: bool = False
    name: str = "unreliable"

    async def ready(self) -> None:
        if self.is_gone:
            raise ModelUnavailableError("gone")

    def quote(self, request: CompletionRequest) -> Quote:
        return OfflineModel().quote(request)

    async def complete(self, request: CompletionRequest) -> Completion:
        if request.task.attempt == 0:
            raise CallLostError("lost\n on the way \ud800")
        return await OfflineModel().complete(request)


@dataclass
class Tight:
    """Appends to a log until the tokens of a quota are claimed."""

    log: MemoryLog
    left: int

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]:
        for draft in drafts:
            if isinstance(draft.payload, LLMCallReserved):
                if draft.payload.reserved_tokens > self.left:
                    raise QuotaExceededError(LLM_TOKENS, 9, draft.payload.reserved_tokens, self.left)
                self.left -= draft.payload.reserved_tokens
        return await self.log.append(drafts, blobs)


def verified_state(simulation: Simulation, log: MemoryLog) -> RunState:
    """What the log folds to, after every decision in it was made again."""
    verifier = DecisionVerifier(simulation.prompt_context, log)

    async def check() -> RunState:
        state = RunState()
        for event in log.events:
            before, state = state, fold(state, event)
            await verifier.check(before, event)
        return state

    return anyio.run(check)


def test_lost_calls_stay_spent_and_the_edit_is_asked_for_again(simulation: Simulation) -> None:
    small = replace(simulation, model=Unreliable())
    _, log = small.run()
    state = verified_state(small, log)
    assert state.status == "completed"
    calls = state.ledger.calls.values()
    assert {call.status for call in calls if call.attempt == 0} == {"abandoned"}
    assert {call.reason for call in calls if call.attempt == 0} == {"lost on the way ?"}
    assert Counter(call.status for call in calls)["settled"] > 3
    assert state.ledger.charged_tokens > sum(call.charged_tokens for call in calls if call.attempt)


@pytest.mark.parametrize("tokens", [0, 40_000, 200_000])
def test_a_reservation_that_the_store_refuses_ends_the_run_after_its_generation(
    simulation: Simulation, tokens: int
) -> None:
    log = simulation.log()
    anyio.run(lambda: simulation.process(Tight(log, tokens), log, []))
    state = verified_state(simulation, log)
    refusals = [event.payload for event in log.events if isinstance(event.payload, LLMCallRefused)]
    assert refusals
    assert {refusal.limit for refusal in refusals} == {"tokens"}
    last = log.events[-1].payload
    assert isinstance(last, RunCompleted)
    assert last.reason == refusals[0].reason
    assert "limit of tokens" in last.reason
    assert state.completed >= 1


def test_a_model_that_is_gone_stops_the_agents_before_anything_is_reserved(simulation: Simulation) -> None:
    small = replace(simulation, model=Unreliable(is_gone=True))
    log = small.log()
    with pytest.raises(BaseExceptionGroup) as caught:
        anyio.run(lambda: small.process(log, log, []))
    assert caught.group_contains(ModelUnavailableError, match="gone")
    assert [event.type for event in log.events] == ["RunStarted"]
