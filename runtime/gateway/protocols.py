"""The two chat protocols: how each writes a request and reads an answer, whole or from a stream.

References
----------
OpenAI API reference, "Chat completions: create", fields as of 2025; DeepSeek and vLLM for
``reasoning_content``, OpenRouter and later vLLM for ``reasoning``.
Anthropic API reference, "Messages" and "Streaming messages", version 2023-06-01.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

JsonMode = Literal["schema", "json", "off"]
"""How to ask for an answer that is JSON."""

MAX_TEXT_CHARS = 2_000_000
"""Longest answer, reasoning included, that is accepted; sensible ones have at most some 100,000."""


class MalformedAnswerError(ValueError):
    """A document or stream is not an answer of the protocol; the message says why, without quoting it."""


@dataclass(frozen=True)
class ChatRequest:
    """One prompt, and how to answer it."""

    model: str
    prompt: str
    max_tokens: int
    temperature: float | None
    """``None`` for the provider's own."""
    schema: Mapping[str, Any] | None
    """JSON schema of the answer; ``None`` where the answer is not JSON."""
    json_mode: JsonMode
    stream: bool


@dataclass(frozen=True)
class TokenCounts:
    """Token counts as the provider reported them; wrong ones may be anything."""

    prompt: object
    completion: object


@dataclass(frozen=True)
class ChatAnswer:
    """What the provider answered."""

    text: str
    reasoning: str
    tokens: TokenCounts | None
    """``None`` when the provider reported none."""
    response_id: str | None
    finish_reason: str | None


def _empty_if_null(value: object) -> object:
    return "" if value is None else value


def _without_surrogates(value: object) -> object:
    """Return text without lone surrogates, which no database takes; anything else as it is."""
    return value.encode("utf-8", errors="replace").decode() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_without_surrogates)]
"""Text of a provider."""

TextOrNull = Annotated[Text, BeforeValidator(_empty_if_null)]
"""Text of a provider, which some write as ``null`` where there is none."""


class Document(BaseModel):
    """Base of what is read from a provider: checks the fields that are used and ignores the rest."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class UsageReport(Document, ABC):
    """The part of a document that counts tokens."""

    @abstractmethod
    def counts(self) -> TokenCounts:
        """Return the tokens of prompt and answer."""


class StreamPart(NamedTuple):
    """What one event adds to an answer; ``None`` and empty text add nothing."""

    text: str = ""
    reasoning: str = ""
    usage: UsageReport | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    is_whole: bool = False
    """The text is complete; what may follow is accounting."""
    tool_input: str = ""
    """The answer as the input of a tool; text beside it is talk."""


class ChatProtocol(Protocol):
    """A provider's way to ask for one completion."""

    @property
    def provider(self) -> str:
        """``gen_ai.provider.name`` of the OpenTelemetry conventions."""

    @property
    def path(self) -> str:
        """Path of the endpoint, below the base URL."""

    def headers(self, key: SecretStr | None) -> dict[str, str]:
        """Return the headers that a request needs."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the request as JSON."""

    def read_document(self, document: Any) -> ChatAnswer:
        """Return the answer in a whole document. Raises MalformedAnswerError."""

    def read_event(self, data: str) -> StreamPart | None:
        """Return what the data of a stream's event adds; ``None`` for the event that ends the stream.

        Raises
        ------
        MalformedAnswerError
            The data is no event of the protocol, or reports an error.
        """


# ---------------------------------------------------------------- what both protocols share


DocumentT = TypeVar("DocumentT", bound=Document)


def _read(kind: type[DocumentT], document: Any, name: str) -> DocumentT:
    """Return `document` as `kind`. An error says where it departs from a `name`, never what it holds."""
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if isinstance(part, int | str))
        raise MalformedAnswerError(f"not {name}: {place or 'document'}: {first['msg']}") from None


def _read_json(kind: type[DocumentT], data: str, name: str) -> DocumentT:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedAnswerError("an event of the stream is not JSON") from None
    return _read(kind, document, name)


def _check_length(n_chars: int) -> None:
    if n_chars > MAX_TEXT_CHARS:
        raise MalformedAnswerError(f"the answer has more than {MAX_TEXT_CHARS} characters")


def split_thoughts(text: str) -> tuple[str, str]:
    """Return reasoning and answer of a text that begins with ``<think>…</think>``, as some servers do."""
    start = text.lstrip()
    if not start.startswith("<think>") or "</think>" not in start:
        return "", text
    thoughts, _, rest = start.removeprefix("<think>").partition("</think>")
    return thoughts, rest


def _answer(
    texts: list[str],
    thoughts: list[str],
    usage: UsageReport | None,
    response_id: str | None,
    finish_reason: str | None,
) -> ChatAnswer:
    _check_length(sum(map(len, texts)) + sum(map(len, thoughts)))
    inline, text = split_thoughts("".join(texts))
    counts = None if usage is None else usage.counts()
    return ChatAnswer(text, "".join(thoughts) or inline, counts, response_id, finish_reason)


class StreamReader:
    """Puts an answer together from the events of one stream."""

    def __init__(self, protocol: ChatProtocol) -> None:
        self._protocol = protocol
        self._texts: list[str] = []
        self._tool_inputs: list[str] = []
        self._thoughts: list[str] = []
        self._n_chars = 0
        self._usage: UsageReport | None = None
        self._response_id: str | None = None
        self._finish_reason: str | None = None
        self._is_whole = False
        self._has_ended = False

    def feed(self, data: str) -> None:
        """Add the data of one event; what follows the last one is ignored.

        Raises
        ------
        MalformedAnswerError
            It is no event of the protocol, reports an error, or the answer grows past its limit.
        """
        if self._has_ended:
            return
        part = self._protocol.read_event(data)
        if part is None:
            self._has_ended = True
            return
        self._texts.append(part.text)
        self._tool_inputs.append(part.tool_input)
        self._thoughts.append(part.reasoning)
        self._n_chars += len(part.text) + len(part.tool_input) + len(part.reasoning)
        _check_length(self._n_chars)
        self._usage = _update_counts(self._usage, part.usage)
        self._response_id = self._response_id or part.response_id
        self._finish_reason = part.finish_reason or self._finish_reason
        self._is_whole = self._is_whole or part.is_whole

    def answer(self) -> ChatAnswer:
        """Return the answer after the last event.

        Raises
        ------
        MalformedAnswerError
            The stream ended before the answer did.
        """
        if not self._has_ended and not self._is_whole:
            raise MalformedAnswerError("the stream ended before the answer did")
        texts = self._tool_inputs if any(self._tool_inputs) else self._texts
        return _answer(texts, self._thoughts, self._usage, self._response_id, self._finish_reason)


def _update_counts(before: UsageReport | None, after: UsageReport | None) -> UsageReport | None:
    """Return `before` with the counts that `after` reports; counts are running totals and never shrink."""
    if before is None or after is None:
        return after or before
    counts = dict(before)
    for name, count in after:
        if not (isinstance(count, int) and isinstance(counts[name], int) and count < counts[name]):
            counts[name] = counts[name] if count is None else count
    return before.model_copy(update=counts)


# ---------------------------------------------------------------- OpenAI


class _CompletionUsage(UsageReport):
    prompt_tokens: Any = None
    completion_tokens: Any = None

    def counts(self) -> TokenCounts:
        return TokenCounts(self.prompt_tokens, self.completion_tokens)


class _ContentPart(Document):
    text: Text = ""


class _ChatMessage(Document):
    content: Text | list[_ContentPart] | None = None
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


class _Choice(Document):
    message: _ChatMessage
    finish_reason: Text | None = None


class _Completion(Document):
    id: Text | None = None
    choices: list[_Choice] = Field(min_length=1)
    usage: _CompletionUsage | None = None


class _ChunkChoice(Document):
    delta: _ChatMessage = _ChatMessage()
    finish_reason: Text | None = None


class _Chunk(Document):
    id: Text | None = None
    choices: tuple[_ChunkChoice, ...] = ()
    usage: _CompletionUsage | None = None
    error: Any = None


class OpenAIChat:
    """`ChatProtocol` of OpenAI and of those who speak it: DeepSeek, vLLM, Ollama, llama.cpp and others."""

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
        if request.schema is not None and request.json_mode == "schema":
            named = {"name": "answer", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and request.json_mode == "json":
            body["response_format"] = {"type": "json_object"}
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def read_document(self, document: Any) -> ChatAnswer:
        completion = _read(_Completion, document, "a chat completion")
        choice = completion.choices[0]
        message = choice.message
        return _answer(
            [message.text], [message.thoughts], completion.usage, completion.id, choice.finish_reason
        )

    def read_event(self, data: str) -> StreamPart | None:
        if data.strip() == "[DONE]":
            return None
        chunk = _read_json(_Chunk, data, "a chat completion")
        if chunk.error is not None:
            raise MalformedAnswerError("the stream broke off with an error of the provider")
        if not chunk.choices:
            return StreamPart(usage=chunk.usage, response_id=chunk.id)
        delta, reason = chunk.choices[0].delta, chunk.choices[0].finish_reason
        return StreamPart(delta.text, delta.thoughts, chunk.usage, chunk.id, reason, reason is not None)


# ---------------------------------------------------------------- Anthropic


class _MessageUsage(UsageReport):
    input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_read_input_tokens: Any = None
    output_tokens: Any = None

    def counts(self) -> TokenCounts:
        """Return the tokens; the prompt's come in three parts: new, written to a cache, read from it."""
        parts = (self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens)
        known = [part for part in parts if part is not None]
        countable = bool(known) and all(isinstance(part, int) and part >= 0 for part in known)
        return TokenCounts(sum(known) if countable else None, self.output_tokens)


class _Block(Document):
    type: Text = ""
    text: TextOrNull = ""
    thinking: TextOrNull = ""
    input: Any = None


class _Message(Document):
    id: Text | None = None
    content: list[_Block]
    stop_reason: Text | None = None
    usage: _MessageUsage | None = None


class _Delta(Document):
    text: TextOrNull = ""
    thinking: TextOrNull = ""
    partial_json: TextOrNull = ""
    stop_reason: Text | None = None


class _Event(Document):
    type: Text = ""
    message: _Message | None = None
    delta: _Delta = _Delta()
    usage: _MessageUsage | None = None


class AnthropicMessages:
    """`ChatProtocol` of Anthropic; an answer that must be JSON is asked for as the input of a tool."""

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
        if request.schema is not None and request.json_mode == "schema":
            tool = {"name": "answer", "description": "Takes the answer.", "input_schema": request.schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
        if request.stream:
            body["stream"] = True
        return body

    def read_document(self, document: Any) -> ChatAnswer:
        message = _read(_Message, document, "a message")
        inputs = [json.dumps(block.input) for block in message.content if block.type == "tool_use"]
        texts = [block.text for block in message.content if block.type == "text"]
        thoughts = [block.thinking for block in message.content]
        return _answer(inputs or texts, thoughts, message.usage, message.id, message.stop_reason)

    def read_event(self, data: str) -> StreamPart | None:
        event = _read_json(_Event, data, "a message")
        if event.type == "error":
            raise MalformedAnswerError("the stream broke off with an error of the provider")
        if event.type == "message_stop":
            return None
        if event.message is not None:
            return StreamPart(usage=_at_start(event.message.usage), response_id=event.message.id)
        delta, reason = event.delta, event.delta.stop_reason
        is_whole = reason is not None
        return StreamPart(delta.text, delta.thinking, event.usage, None, reason, is_whole, delta.partial_json)


def _at_start(usage: _MessageUsage | None) -> _MessageUsage | None:
    """Return what a message's first event says of the prompt; its count of the answer is a first guess."""
    return None if usage is None else usage.model_copy(update={"output_tokens": None})
