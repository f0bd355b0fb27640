"""However an endpoint behaves: no event is lost, no limit exceeded, no key written, and the log says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.behaviours import BEHAVIOURS
from tests.fakes.conversation import HASTE, KEY

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation

ENDINGS = {
    **dict.fromkeys(("good", "prose", "two-blocks", "empty", "thinking", "reasoning", "unicode"), "settled"),
    **dict.fromkeys(("storm-429", "storm-503", "storm-529", "storm-429-without-date"), "settled"),
    **dict.fromkeys(("storm-503-odd-date", "without-last-event", "null-fields", "talking"), "settled"),
    **dict.fromkeys(("injection", "key-in-answer", "no-structure", "deep-input"), "settled"),
    **dict.fromkeys(("negative-usage", "vast-usage", "odd-usage", "no-usage", "truth-usage"), "settled"),
    **dict.fromkeys(("repeated-usage", "growing-usage", "shrinking-usage"), "settled"),
    "first-usage-alone": "settled",
    **dict.fromkeys(("slow", "silent", "reset", "reset-after", "half", "half-stream"), "lost"),
    **dict.fromkeys(("broken-stream", "error-first", "cut-in-a-character", "not-http"), "lost"),
    **dict.fromkeys(("broken-chunks", "many-headers", "error-500", "error-504", "invalid-json"), "lost"),
    **dict.fromkeys(("deep-json", "bytes", "wrong-schema", "wrong-types", "wrong-usage-type"), "lost"),
    **dict.fromkeys(("no-choices", "a-list", "not-events", "empty-body", "html-with-success"), "lost"),
    **dict.fromkeys(("error-with-success", "huge", "huge-document", "huge-event", "compressed"), "lost"),
    **dict.fromkeys(("key-in-500", "redirect-nowhere"), "lost"),
    **dict.fromkeys(("always-429", "always-529", "key-in-401", "redirect", "redirect-308"), "paused"),
    **dict.fromkeys(("error-400", "error-413"), "paused"),
}
"""How each behaviour ends, in both protocols.

*settled*: it is an answer all the same, at least once. *lost*: every call is spent without one, and the run
goes on. *paused*: no call can succeed, and the run waits for somebody to act.
"""

LATE = {"silent", "slow"}
"""Behaviours that only a deadline ends."""

OF_THE_PROTOCOL = {
    *("good", "half-stream", "broken-stream", "wrong-schema", "reasoning", "unicode", "vast-usage"),
    *("odd-usage", "no-usage", "key-in-answer", "no-structure", "key-in-401", "error-first", "null-fields"),
    *("without-last-event", "deep-input", "talking", "first-usage-alone", "shrinking-usage", "wrong-types"),
}
"""Behaviours that meet other code in each protocol."""

CASES = [
    pytest.param(
        behaviour,
        llm,
        marks=() if behaviour in OF_THE_PROTOCOL or (is_first and number % 8 == 1) else pytest.mark.slow,
    )
    for llm, is_first in (("openai:fake", True), ("anthropic:fake", False))
    for number, behaviour in enumerate(sorted(BEHAVIOURS))
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
    if ENDINGS[behaviour] == "paused":
        assert (state.status, endings) == ("paused", {"abandoned"})
        assert "127.0.0.1" in state.reason
    else:
        assert state.graph is not None
        assert "settled" in endings if ENDINGS[behaviour] == "settled" else endings == {"abandoned"}
        assert len(calls) == 4
    written = conversation.bytes_on_disk() + "".join(capfd.readouterr()).encode()
    assert all(KEY[i : i + 12].encode() not in written for i in range(len(KEY) - 11))


@pytest.mark.parametrize("llm", ["openai:fake", pytest.param("anthropic:fake", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "behaviour",
    [
        *("good", "half", "talking", "odd-usage"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("reset", "reasoning", "unicode", "vast-usage", "deep-input")
        ),
    ],
)
def test_answers_in_one_piece_fare_like_streams(conversation: Conversation, behaviour: str, llm: str) -> None:
    state = conversation.hold(behaviour, llm=llm, llm_stream=False)
    endings = {call.status for call in state.ledger.calls.values()}
    assert endings == ({"settled"} if ENDINGS[behaviour] == "settled" else {"abandoned"})


def test_every_behaviour_is_in_the_table() -> None:
    assert ENDINGS.keys() == BEHAVIOURS.keys()


def waits(behaviour: str) -> dict[str, Any]:
    """Long enough for a busy machine where something must succeed, short where only time ends it."""
    return {
        "llm_timeout": 0.3 if behaviour in LATE else 20.0,
        "retry_policy": replace(HASTE, outage_limit_s=0.3 if ENDINGS[behaviour] == "paused" else 20.0),
    }
