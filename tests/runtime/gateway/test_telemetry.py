"""A span per call, by the conventions, without prompts, answers or keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.fakes.behaviours import TEXT, whole
from tests.fakes.conversation import KEY
from tests.fakes.endpoint import Asked, Exchange

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from tests.runtime.gateway.conftest import Conversation


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_call_is_a_span_with_its_figures(
    conversation: Conversation, exporter: InMemorySpanExporter
) -> None:
    state = conversation.hold("reasoning", llm_calls=1)
    (span,) = exporter.get_finished_spans()
    call = state.ledger.calls[1]
    assert (span.name, span.kind.name) == ("chat fake", "CLIENT")
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "fake",
        "gen_ai.request.max_tokens": 1000,
        "gen_ai.output.type": "json",
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "gen_ai.response.id": call.response_id,
        "gen_ai.response.finish_reasons": ("stop",),
        "server.address": "127.0.0.1",
        "server.port": conversation.server.server_port,
    }


def test_a_lost_call_ends_its_span_with_the_kind_of_error(
    conversation: Conversation, exporter: InMemorySpanExporter
) -> None:
    conversation.hold("key-in-500", llm_calls=1)
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "CallLostError"
    assert span.status.status_code.name == "ERROR"
    assert KEY not in span.to_json()


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
def test_a_key_that_comes_back_is_in_no_span(
    conversation: Conversation, exporter: InMemorySpanExporter, llm: str
) -> None:
    def tell(exchange: Exchange, asked: Asked) -> None:
        told = asked.headers.get("x-api-key") or asked.headers["Authorization"].split()[1]
        document = whole(asked, TEXT)
        document["id"] = document["stop_reason"] = told
        for choice in document.get("choices", ()):
            choice["finish_reason"] = told
        exchange.send_whole(200, json.dumps(document).encode())

    conversation.hold(conversation.behave("telling", tell), llm=llm, llm_calls=1)
    (span,) = exporter.get_finished_spans()
    assert "gen_ai.response.id" in (span.attributes or {})
    assert KEY not in span.to_json()


def test_without_opentelemetry_nothing_is_missing(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dga2d.runtime.gateway import remote

    monkeypatch.setattr(remote, "trace", None)
    assert conversation.hold("good", llm_calls=1).ledger.calls[1].status == "settled"
