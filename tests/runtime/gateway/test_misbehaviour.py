"""However an endpoint behaves: no event is lost, no limit exceeded, no key written, and the log says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes.behaviours import BEHAVIOURS
from tests.fakes.conversation import KEY

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation

SETTLED = {
    *("good", "storm-429", "storm-503", "prose", "two-blocks", "empty", "thinking", "reasoning", "unicode"),
    *("injection", "negative-usage", "vast-usage", "odd-usage", "no-usage", "key-in-answer", "no-structure"),
}
"""Behaviours that are answers all the same."""

STOPPED = {"always-429", "key-in-401", "redirect", "error-400"}
"""Behaviours under which no call can succeed."""


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
@pytest.mark.parametrize("behaviour", sorted(BEHAVIOURS))
def test_a_run_survives(
    conversation: Conversation, behaviour: str, llm: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger = conversation.server.ledger
    before = ledger.taken[behaviour]
    patience = 0.3 if behaviour in STOPPED else 5.0
    state = conversation.hold(behaviour, llm=llm, patience=hasty(patience))

    calls = state.ledger.calls
    assert ledger.taken[behaviour] - before <= state.ledger.used <= 5
    assert all(call.status != "reserved" for call in calls.values())
    assert all(call.reason for call in calls.values() if call.status == "abandoned")
    assert all(call.charged_tokens <= call.reserved_tokens for call in calls.values())
    endings = {call.status for call in calls.values()}
    if behaviour in STOPPED:
        assert (state.status, endings) == ("paused", {"abandoned"})
        assert "127.0.0.1" in state.reason
    else:
        assert state.graph is not None
        assert "settled" in endings if behaviour in SETTLED else endings == {"abandoned"}
        assert len(calls) == 4
    written = conversation.bytes_on_disk() + "".join(capfd.readouterr()).encode()
    assert KEY.encode() not in written
    assert all(KEY[i : i + 12].encode() not in written for i in range(len(KEY) - 11))


@pytest.mark.parametrize("behaviour", ["good", "half", "empty", "reset", "wrong-schema", "reasoning"])
def test_answers_in_one_piece_fare_like_streams(conversation: Conversation, behaviour: str) -> None:
    state = conversation.hold(behaviour, llm_stream=False)
    endings = {call.status for call in state.ledger.calls.values()}
    assert endings == ({"settled"} if behaviour in SETTLED else {"abandoned"})


def hasty(outage_limit_s: float) -> object:
    from dataclasses import replace

    from tests.fakes.conversation import HASTE

    return replace(HASTE, outage_limit_s=outage_limit_s)
