"""However an endpoint behaves: no event is lost, no limit exceeded, no key written, and the log says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.behaviours import BEHAVIOURS
from tests.fakes.conversation import HASTE, KEY

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation

SETTLED = {
    *("good", "storm-429", "storm-503", "prose", "two-blocks", "empty", "thinking", "reasoning", "unicode"),
    *("injection", "negative-usage", "vast-usage", "odd-usage", "no-usage", "key-in-answer", "no-structure"),
}
"""Behaviours that are answers all the same."""

STOPPED = {"always-429", "key-in-401", "redirect", "error-400"}
"""Behaviours under which no call can succeed."""

LATE = {"silent", "slow"}
"""Behaviours that only a deadline ends."""

OF_THE_PROTOCOL = {
    *("good", "half-stream", "broken-stream", "wrong-schema", "reasoning", "unicode", "vast-usage"),
    *("odd-usage", "no-usage", "key-in-answer", "no-structure", "key-in-401"),
}
"""Behaviours that meet other code in each protocol."""

CASES = [
    pytest.param(behaviour, llm, marks=() if is_first or behaviour in OF_THE_PROTOCOL else pytest.mark.slow)
    for llm, is_first in (("openai:fake", True), ("anthropic:fake", False))
    for behaviour in sorted(BEHAVIOURS)
]


@pytest.mark.parametrize(("behaviour", "llm"), CASES)
def test_a_run_survives(
    conversation: Conversation, behaviour: str, llm: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger = conversation.server.ledger
    before = ledger.taken[behaviour]
    state = conversation.hold(behaviour, llm=llm, **waits(behaviour))

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
    assert all(KEY[i : i + 12].encode() not in written for i in range(len(KEY) - 11))


@pytest.mark.parametrize("behaviour", ["good", "half", "reset", "reasoning"])
def test_answers_in_one_piece_fare_like_streams(conversation: Conversation, behaviour: str) -> None:
    state = conversation.hold(behaviour, llm_stream=False)
    endings = {call.status for call in state.ledger.calls.values()}
    assert endings == ({"settled"} if behaviour in SETTLED else {"abandoned"})


def waits(behaviour: str) -> dict[str, Any]:
    """Long enough for a busy machine where something must succeed, short where only time ends it."""
    return {
        "llm_timeout": 0.3 if behaviour in LATE else 20.0,
        "retry_policy": replace(HASTE, outage_limit_s=0.3 if behaviour in STOPPED else 20.0),
    }
