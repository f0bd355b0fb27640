"""What a call costs, and what becomes of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.fakes.behaviours import BEHAVIOURS, TEXT, answer, saying
from tests.fakes.conversation import HASTE, KEY, converse, read_state
from tests.fakes.endpoint import Asked, Exchange, RefusedError, serving

from dga2d.events.payloads import CallsResumed, CallsSuspended, LLMCallSettled, RunPaused
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.retries import RetryPolicy
from dga2d.runtime.inspection.log_reading import export_to
from dga2d.store import StoreError, UnknownRunError

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation


def test_refused_attempts_use_the_same_reservation(conversation: Conversation) -> None:
    ledger = conversation.server.ledger
    taken, refused = ledger.taken["storm-429"], ledger.refused["storm-429"]
    conversation.behave("storm", lambda exchange, asked: BEHAVIOURS["storm-429"](exchange, asked))
    state = conversation.hold("storm")
    assert [call.refused_attempts for _, call in sorted(state.ledger.calls.items())] == [5, 0, 0, 0]
    assert (ledger.taken["storm"], ledger.refused["storm"]) == (4, 5)
    assert (ledger.taken["storm-429"], ledger.refused["storm-429"]) == (taken, refused)


def test_a_call_waits_as_long_as_it_is_asked_to(conversation: Conversation) -> None:
    def busy(exchange: Exchange, asked: Asked) -> None:
        if asked.number == 1:
            raise RefusedError(429, Retry_After="0.4")
        answer(exchange, asked)

    state = conversation.hold(conversation.behave("busy", busy), llm_calls=1)
    assert state.ledger.calls[1].elapsed_s is not None
    assert state.ledger.calls[1].elapsed_s >= 0.4


async def is_suspended(url: str) -> bool:
    """Whether the log of the run tells of an outage; there may be no log yet."""
    try:
        return bool((await read_state(url, "run")).suspension)
    except StoreError:
        return False


def test_an_outage_costs_no_call_and_the_log_tells_of_it(conversation: Conversation) -> None:
    """The endpoint's port refuses connections until the run has said so; then it is there."""
    with closed_port() as port:
        settings = conversation.settings("good").model_copy(
            update={"llm_base_url": f"http://127.0.0.1:{port}/good/v1", "attempts_per_edit": 2}
        )

        async def outage() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    converse, conversation.url, "run", settings, {"DGA2D_LLM_KEY": KEY}, patient(30.0)
                )
                while not await is_suspended(conversation.url):
                    await anyio.sleep(0.05)
                with serving(dict(BEHAVIOURS), port) as server:
                    while (await read_state(conversation.url, "run")).graph is None:
                        await anyio.sleep(0.05)
                    assert server.ledger.taken["good"] == 2

        anyio.run(outage)
    state = anyio.run(read_state, conversation.url, "run")
    assert (state.ledger.used, state.suspension) == (2, "")
    assert {call.status for call in state.ledger.calls.values()} == {"settled"}
    told = [e.payload for e in conversation.events() if isinstance(e.payload, CallsSuspended | CallsResumed)]
    assert [type(payload).__name__ for payload in told] == ["CallsSuspended", "CallsResumed"]
    assert isinstance(told[0], CallsSuspended)
    assert "no connection" in told[0].reason


def test_a_run_is_paused_after_the_outage_limit_and_goes_on_when_resumed(conversation: Conversation) -> None:
    behaviour = conversation.behave("gone", BEHAVIOURS["always-429"])
    state = conversation.hold(behaviour, retry_policy=patient(0.2))
    assert state.status == "paused"
    assert isinstance(conversation.events()[-1].payload, RunPaused)
    conversation.behave("gone", answer)
    state = conversation.hold(behaviour, retry_policy=patient(20.0))
    assert state.graph is not None
    assert [call.status for _, call in sorted(state.ledger.calls.items())] == [
        "abandoned",
        *3 * ["settled"],
    ]


def test_lost_calls_suspend_further_ones_until_a_free_probe_succeeds(conversation: Conversation) -> None:
    server = conversation.server
    name = conversation.behave("broken", BEHAVIOURS["error-500"])
    server.is_up[name] = False
    state = conversation.hold(name, retry_policy=patient(1.0), attempts_per_edit=5)
    assert (state.status, server.ledger.taken[name], state.ledger.used) == ("paused", 3, 3)
    assert server.ledger.probes[name] > 3
    server.is_up[name] = True
    conversation.behave(name, answer)
    state = conversation.hold(name, attempts_per_edit=5)
    assert [call.status for _, call in sorted(state.ledger.calls.items())] == 3 * ["abandoned"] + 2 * [
        "settled"
    ]


def test_reasoning_is_kept_apart_from_the_answer(conversation: Conversation) -> None:
    for behaviour, expected in (("reasoning", b"because"), ("thinking", b"first this,\nthen that")):
        conversation.hold(behaviour, run=behaviour, llm_calls=1)
        events = conversation.events(behaviour)
        (settled,) = [e.payload for e in events if isinstance(e.payload, LLMCallSettled)]
        assert conversation.blob(settled.response) == b"done"
        assert conversation.blob(settled.reasoning) == expected


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
def test_usage_is_priced_as_reported(conversation: Conversation, llm: str) -> None:
    prices: dict[str, Any] = {"llm_price_prompt": 1000.0, "llm_price_answer": 500_000.0}
    call = conversation.hold("good", llm=llm, llm_calls=1, **prices).ledger.calls[1]
    assert (call.completion_tokens, call.is_estimated) == (7, False)
    assert call.cost_usd == pytest.approx(call.prompt_tokens / 1000 + 3.5)
    assert call.response_id is not None


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
@pytest.mark.parametrize(
    "behaviour", ["no-usage", "negative-usage", "odd-usage", "vast-usage", "truth-usage"]
)
def test_usage_that_cannot_be_true_is_estimated_and_marked(
    conversation: Conversation, behaviour: str, llm: str
) -> None:
    call = conversation.hold(behaviour, llm=llm, llm_calls=1).ledger.calls[1]
    assert call.is_estimated
    expected = 1000 if behaviour == "vast-usage" else -(-len(TEXT) // 4)
    assert call.completion_tokens == expected


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
@pytest.mark.parametrize("behaviour", ["repeated-usage", "growing-usage", "shrinking-usage"])
def test_usage_reported_many_times_is_charged_once_at_its_most(
    conversation: Conversation, behaviour: str, llm: str
) -> None:
    call = conversation.hold(behaviour, llm=llm, llm_calls=1).ledger.calls[1]
    assert (call.completion_tokens, call.is_estimated) == (7, False)


def test_the_count_at_the_start_of_a_message_is_not_that_of_the_answer(conversation: Conversation) -> None:
    call = conversation.hold("first-usage-alone", llm="anthropic:fake", llm_calls=1).ledger.calls[1]
    assert (call.completion_tokens, call.is_estimated) == (-(-len(TEXT) // 4), True)


def test_words_before_the_tool_are_no_part_of_an_answer_in_json(conversation: Conversation) -> None:
    for stream in (True, False):
        run = f"stream-{stream}"
        conversation.hold("talking", run=run, llm="anthropic:fake", llm_stream=stream, llm_calls=1)
        (settled,) = [e.payload for e in conversation.events(run) if isinstance(e.payload, LLMCallSettled)]
        assert json.loads(conversation.blob(settled.response)) == json.loads(TEXT)


def test_json_is_asked_for_by_schema_and_in_words_where_that_is_unknown(conversation: Conversation) -> None:
    asked = conversation.server.ledger.asked
    for llm in ("openai:fake", "anthropic:fake"):
        del asked[:]
        conversation.hold("no-structure", llm=llm, run=llm.partition(":")[0])
        kinds = [
            request.body.get("response_format", {}).get("type") or ("tool" if "tools" in request.body else "")
            for request in asked
        ]
        assert kinds == (["json_schema", "json_object", "", ""] if "open" in llm else ["tool", "", "", ""])
    del asked[:]
    conversation.hold("good", run="json", llm_structured="json", llm_calls=1, llm_temperature=0.5)
    assert asked[0].body["response_format"] == {"type": "json_object"}
    assert asked[0].body["temperature"] == 0.5


def test_limits_of_tokens_and_money_are_those_of_the_store(conversation: Conversation) -> None:
    """A call can use some 3,000 tokens here and uses some 150: the limit lets through what surely fits."""
    free = conversation.hold("good", run="free", attempts_per_edit=1).ledger.calls[1]
    limit = free.reserved_tokens + 1
    state = conversation.hold("good", run="tokens", llm_tokens=limit)
    assert state.ledger.charged_tokens <= limit
    (refused,) = state.ledger.refusals.values()
    assert (refused.limit, state.ledger.used) == ("tokens", 1)
    assert state.graph is not None
    assert state.ledger.spent_reason == refused.reason
    prices: dict[str, Any] = {"llm_price_prompt": 1.0, "llm_price_answer": 1.0}
    state = conversation.hold("good", run="money", llm_money_usd=limit / 1e6, **prices)
    (refused,) = state.ledger.refusals.values()
    assert (refused.limit, state.ledger.used) == ("money", 1)


def test_the_same_answers_recorded_give_the_same_run(conversation: Conversation) -> None:
    def mixed(exchange: Exchange, asked: Asked) -> None:
        BEHAVIOURS[("reasoning", "half", "no-usage", "good")[(asked.number - 1) % 4]](exchange, asked)

    first = conversation.hold(conversation.behave("mixed", mixed), run="first")
    asked = len(conversation.server.ledger.asked)
    exported = conversation.folder / "first.zip"
    anyio.run(export_to, conversation.url, "first", exported)
    for run, source in (("again", "first"), ("from-file", str(exported))):
        again = conversation.hold("mixed", run=run, llm=f"recorded:{source}")
        assert len(conversation.server.ledger.asked) == asked
        assert [type(e.payload) for e in conversation.events(run)] == [
            type(e.payload) for e in conversation.events("first")
        ]
        for number, call in first.ledger.calls.items():
            same = replace(call, model="", elapsed_s=None, response_id=None)
            other = replace(again.ledger.calls[number], model="", elapsed_s=None, response_id=None)
            assert same == other


def test_a_run_that_departs_from_the_recording_is_paused(conversation: Conversation) -> None:
    conversation.hold("good", run="first", attempts_per_edit=1)
    state = conversation.hold("good", run="longer", llm="recorded:first", attempts_per_edit=2)
    assert (state.status, state.reason) == ("paused", "run first holds no answer to initialize, attempt 1")
    state = conversation.hold("good", run="other", llm="recorded:first", max_length=3)
    assert "was asked something else in call 1" in state.reason


def test_what_a_recording_lacks_is_answered_by_the_fallback_that_is_named(
    conversation: Conversation,
) -> None:
    conversation.hold("good", run="first", attempts_per_edit=1)
    state = conversation.hold(
        "good", run="longer", llm="recorded:first,then=offline:constants", attempts_per_edit=2
    )
    assert state.graph is not None
    assert [call.model for _, call in sorted(state.ledger.calls.items())] == [
        "recorded:first",
        "offline:constants",
    ]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[: len(data) // 2], "table of contents"),
        (lambda data: data.replace(b"events.jsonl", b"others.jsonl"), "table of contents"),
        (lambda data: b"", "table of contents"),
        (None, "there is no such file"),
    ],
    ids=["truncated", "foreign", "empty", "missing"],
)
def test_a_broken_recording_is_refused_before_anything_is_written(
    conversation: Conversation, damage: Callable[[bytes], bytes] | None, said: str
) -> None:
    conversation.hold("good", run="first", attempts_per_edit=1)
    exported = conversation.folder / "first.zip"
    anyio.run(export_to, conversation.url, "first", exported)
    data = exported.read_bytes()
    exported.unlink()
    if damage is not None:
        exported.write_bytes(damage(data))
    with pytest.raises(SettingsError, match=said):
        conversation.hold("good", run="second", llm=f"recorded:{exported},then=offline")
    with pytest.raises(UnknownRunError):
        anyio.run(read_state, conversation.url, "second")


def test_a_call_that_was_in_flight_at_a_crash_stays_spent(conversation: Conversation) -> None:
    name = conversation.behave("flight", BEHAVIOURS["silent"])
    made = conversation.settings(name)

    async def crash() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse, conversation.url, "run", made, {"DGA2D_LLM_KEY": KEY})
            while not conversation.server.ledger.taken[name]:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    anyio.run(crash)
    conversation.behave(name, saying(TEXT))
    state = conversation.hold(name)
    calls = [state.ledger.calls[number] for number in sorted(state.ledger.calls)]
    assert [call.status for call in calls] == ["abandoned", *3 * ["settled"]]
    assert calls[0].charged_tokens == calls[0].reserved_tokens > 0


def patient(outage_limit_s: float) -> RetryPolicy:
    return replace(HASTE, outage_limit_s=outage_limit_s)


@contextmanager
def closed_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    yield port


def test_settings_hold_no_key() -> None:
    assert not [name for name in RunSettings.model_fields if name.endswith("key")]
