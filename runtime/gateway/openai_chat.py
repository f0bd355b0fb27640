"""Chat completions as OpenAI defined them and DeepSeek, vLLM, Ollama, llama.cpp and others speak them.

References
----------
OpenAI API reference, "Chat completions: create", fields as of 2025; DeepSeek and vLLM for
``reasoning_content``, OpenRouter and later vLLM for ``reasoning``.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, SecretStr

from dga2d.runtime.gateway.chat import (
    Answer,
    ChatRequest,
    MalformedAnswerError,
    StreamReader,
    Text,
    Usage,
    joined,
    split_thoughts,
)
from dga2d.runtime.gateway.wire import GrowingAnswer, Wire, document_of, event_of

DONE = "[DONE]"
KIND = "a chat completion"
"""What a document of this protocol is called where it is none."""


class _Part(Wire):
    text: Text = ""


class _Message(Wire):
    content: Text | list[_Part] | None = None
    reasoning_content: Text | None = None
    reasoning: Text | None = None
    refusal: Text | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or self.refusal or ""

    @property
    def thoughts(self) -> str:
        return self.reasoning_content or self.reasoning or ""


class _Choice(Wire):
    message: _Message
    finish_reason: Text | None = None


class _Usage(Wire):
    prompt_tokens: Any = None
    completion_tokens: Any = None


class _Completion(Wire):
    id: Text | None = None
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Piece(Wire):
    delta: _Message = _Message()
    finish_reason: Text | None = None


class _Chunk(Wire):
    id: Text | None = None
    choices: tuple[_Piece, ...] = ()
    usage: _Usage | None = None
    error: Any = None


class OpenAIChat:
    """`ChatProtocol` of OpenAI-compatible endpoints."""

    provider = "openai"
    path = "/chat/completions"

    def __init__(self, max_tokens_field: str = "max_tokens") -> None:
        self._max_tokens_field = max_tokens_field

    def headers(self, key: SecretStr | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}

    def body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": "user", "content": request.prompt}],
            self._max_tokens_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.schema is not None and request.structure == "schema":
            named = {"name": "answer", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and request.structure == "json":
            body["response_format"] = {"type": "json_object"}
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def parse(self, document: Any) -> Answer:
        completion = document_of(_Completion, document, KIND)
        choice = completion.choices[0]
        return _answer(
            choice.message.text,
            choice.message.thoughts,
            completion.usage,
            completion.id,
            choice.finish_reason,
        )

    def reader(self) -> StreamReader:
        return _Reader()


class _Reader:
    """Deltas of one stream."""

    def __init__(self) -> None:
        self._answer = GrowingAnswer()
        self._usage: _Usage | None = None
        self._id: str | None = None
        self._finish_reason: str | None = None
        self._is_done = False

    def feed(self, data: str) -> None:
        if self._is_done:
            return
        if data.strip() == DONE:
            self._is_done = True
            return
        chunk = event_of(_Chunk, data, KIND)
        if chunk.error is not None:
            raise MalformedAnswerError("the stream broke off with an error of the provider")
        self._id = self._id or chunk.id
        self._usage = chunk.usage or self._usage
        for piece in chunk.choices[:1]:
            self._answer.add(piece.delta.text, piece.delta.thoughts)
            self._finish_reason = piece.finish_reason or self._finish_reason

    def answer(self) -> Answer:
        if not self._is_done and self._finish_reason is None:
            raise MalformedAnswerError("the stream ended before the answer did")
        return _answer(*self._answer.whole(), self._usage, self._id, self._finish_reason)


def _answer(
    text: str, thoughts: str, usage: _Usage | None, response_id: str | None, finish_reason: str | None
) -> Answer:
    joined([text, thoughts])
    inline, text = split_thoughts(text)
    counts = None if usage is None else Usage(usage.prompt_tokens, usage.completion_tokens)
    return Answer(text, thoughts or inline, counts, response_id, finish_reason)
