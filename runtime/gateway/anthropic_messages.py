"""Messages as Anthropic defined them; an answer that must be JSON is asked for as the input of a tool.

References
----------
Anthropic API reference, "Messages" and "Streaming messages", version 2023-06-01.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import SecretStr

from dga2d.runtime.gateway.chat import (
    Answer,
    ChatRequest,
    MalformedAnswerError,
    StreamReader,
    Text,
    Usage,
    joined,
)
from dga2d.runtime.gateway.wire import GrowingAnswer, Wire, document_of, event_of

TOOL = "answer"
KIND = "a message"
"""What a document of this protocol is called where it is none."""


class _Block(Wire):
    type: Text = ""
    text: Text = ""
    thinking: Text = ""
    input: Any = None


class _Usage(Wire):
    input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_read_input_tokens: Any = None
    output_tokens: Any = None


class _Message(Wire):
    id: Text | None = None
    content: list[_Block]
    stop_reason: Text | None = None
    usage: _Usage | None = None


class _Delta(Wire):
    text: Text = ""
    thinking: Text = ""
    partial_json: Text = ""
    stop_reason: Text | None = None


class _Event(Wire):
    type: Text = ""
    message: _Message | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None


class AnthropicMessages:
    """`ChatProtocol` of Anthropic's endpoint."""

    provider = "anthropic"
    path = "/messages"

    def headers(self, key: SecretStr | None) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return version if key is None else {**version, "x-api-key": key.get_secret_value()}

    def body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.prompt}],
        }
        if request.temperature is not None:
            body["temperature"] = min(request.temperature, 1.0)
        if request.schema is not None and request.structure == "schema":
            tool = {"name": TOOL, "description": "Takes the answer.", "input_schema": request.schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        if request.stream:
            body["stream"] = True
        return body

    def parse(self, document: Any) -> Answer:
        message = document_of(_Message, document, KIND)
        texts = [_text(block) for block in message.content]
        thoughts = [block.thinking for block in message.content]
        joined([*texts, *thoughts])
        return Answer(
            joined(texts), joined(thoughts), _counts(message.usage), message.id, message.stop_reason
        )

    def reader(self) -> StreamReader:
        return _Reader()


class _Reader:
    """Blocks of one stream."""

    def __init__(self) -> None:
        self._answer = GrowingAnswer()
        self._started: _Message | None = None
        self._last_usage: _Usage | None = None
        self._stop_reason: str | None = None
        self._is_over = False

    def feed(self, data: str) -> None:
        event = event_of(_Event, data, KIND)
        if event.type == "error":
            raise MalformedAnswerError("the stream broke off with an error of the provider")
        self._started = event.message or self._started
        self._last_usage = event.usage or self._last_usage
        self._is_over = self._is_over or event.type == "message_stop"
        if event.delta is not None:
            self._answer.add(event.delta.text + event.delta.partial_json, event.delta.thinking)
            self._stop_reason = event.delta.stop_reason or self._stop_reason

    def answer(self) -> Answer:
        if not self._is_over:
            raise MalformedAnswerError("the stream ended before the answer did")
        first = None if self._started is None else self._started.usage
        usage = _merged(first, self._last_usage)
        response_id = None if self._started is None else self._started.id
        return Answer(*self._answer.whole(), _counts(usage), response_id, self._stop_reason)


def _text(block: _Block) -> str:
    """What a block adds to the answer; thoughts add nothing."""
    if block.type == "tool_use":
        return json.dumps(block.input, ensure_ascii=True)
    return block.text if block.type == "text" else ""


def _merged(first: _Usage | None, last: _Usage | None) -> _Usage | None:
    """Counts of the start with those of the end over them."""
    if first is None or last is None:
        return last or first
    return first.model_copy(update={k: v for k, v in last if v is not None})


def _counts(usage: _Usage | None) -> Usage | None:
    """Prompt tokens are reported in three parts: new, written to a cache, read from it."""
    if usage is None:
        return None
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    known = [part for part in parts if part is not None]
    countable = bool(known) and all(isinstance(part, int) and part >= 0 for part in known)
    return Usage(sum(known) if countable else None, usage.output_tokens)
