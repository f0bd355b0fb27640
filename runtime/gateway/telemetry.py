"""A span per model call, where OpenTelemetry is installed; nothing otherwise.

A span covers the call with all its attempts. Prompts and answers are never in it.

References
----------
OpenTelemetry, "Semantic conventions for generative client AI spans" (status: development).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from dga2d.runtime.gateway.protocols import ChatAnswer, ChatRequest

try:
    from opentelemetry import trace
except ImportError:
    trace = None  # type: ignore[assignment]


class CallSpan:
    """Takes what is known of a call when it ends; `span` is ``None`` without OpenTelemetry."""

    def __init__(self, span: Any) -> None:
        self._span = span

    def record_answer(self, answer: ChatAnswer, prompt_tokens: int, completion_tokens: int) -> None:
        """Note the answer's figures."""
        if self._span is None:
            return
        self._span.set_attribute("gen_ai.usage.input_tokens", prompt_tokens)
        self._span.set_attribute("gen_ai.usage.output_tokens", completion_tokens)
        if answer.response_id is not None:
            self._span.set_attribute("gen_ai.response.id", answer.response_id)
        if answer.finish_reason is not None:
            self._span.set_attribute("gen_ai.response.finish_reasons", [answer.finish_reason])


@contextmanager
def call_span(provider: str, base_url: str, request: ChatRequest) -> Iterator[CallSpan]:
    """Open the span of one call; of an error that leaves the block only the type is recorded."""
    if trace is None:
        yield CallSpan(None)
        return
    url = httpx.URL(base_url)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": request.model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "server.address": url.host,
        "server.port": url.port or (443 if url.scheme == "https" else 80),
    }
    if request.temperature is not None:
        attributes["gen_ai.request.temperature"] = request.temperature
    with trace.get_tracer("dga2d").start_as_current_span(
        f"chat {request.model}",
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield CallSpan(span)
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise
