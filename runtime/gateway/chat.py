"""What a chat protocol is: how a request is written, and how an answer is read, whole or as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import BeforeValidator, SecretStr

Structure = Literal["schema", "json", "off"]
"""How an answer that is JSON is asked for."""

MAX_TEXT_CHARS = 2_000_000
"""Longest answer, reasoning included, that is kept; the longest sensible ones have some 100,000."""


class MalformedAnswerError(ValueError):
    """A document or stream is not an answer of the protocol; the message says why, without quoting it."""


@dataclass(frozen=True)
class ChatRequest:
    """One prompt, and how it is to be answered."""

    model: str
    prompt: str
    max_tokens: int
    temperature: float | None
    """``None`` for the provider's own."""
    schema: Mapping[str, Any] | None
    """JSON schema of the answer; ``None`` where it is not JSON."""
    structure: Structure
    stream: bool


@dataclass(frozen=True)
class Usage:
    """Token counts as the provider reported them: anything at all, if they are wrong."""

    prompt_tokens: object
    completion_tokens: object


@dataclass(frozen=True)
class Answer:
    """What the provider answered."""

    text: str
    reasoning: str
    usage: Usage | None
    """``None`` when it was not reported."""
    response_id: str | None
    finish_reason: str | None


class StreamReader(Protocol):
    """Puts an answer together from the events of one stream."""

    def feed(self, data: str) -> None:
        """Take in the data of one event.

        Raises
        ------
        MalformedAnswerError
            It is not an event of the protocol, reports an error, or the answer grows past its limit.
        """

    def answer(self) -> Answer:
        """The answer after the last event.

        Raises
        ------
        MalformedAnswerError
            The stream ended before the answer did.
        """


class ChatProtocol(Protocol):
    """A provider's way to ask for one completion."""

    @property
    def provider(self) -> str:
        """``gen_ai.provider.name`` of the OpenTelemetry conventions."""

    @property
    def path(self) -> str:
        """Of the endpoint, below the base URL."""

    def headers(self, key: SecretStr | None) -> dict[str, str]:
        """Headers that a request needs."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request as JSON."""

    def parse(self, document: Any) -> Answer:
        """The answer in a whole document. Raises MalformedAnswerError."""

    def reader(self) -> StreamReader:
        """A reader for one stream."""


def _printable(value: object) -> object:
    """Text without lone surrogates, which no database takes; anything else as it is."""
    return value.encode("utf-8", errors="replace").decode() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_printable)]
"""Text of a provider."""


def joined(parts: list[str]) -> str:
    """The parts in order. Raises MalformedAnswerError if they are longer than an answer may be."""
    if sum(map(len, parts)) > MAX_TEXT_CHARS:
        raise MalformedAnswerError(f"the answer has more than {MAX_TEXT_CHARS} characters")
    return "".join(parts)


def split_thoughts(text: str) -> tuple[str, str]:
    """Reasoning and answer of a text that begins with ``<think>…</think>``, as some local servers give it."""
    start = text.lstrip()
    if not start.startswith("<think>") or "</think>" not in start:
        return "", text
    thoughts, _, rest = start.removeprefix("<think>").partition("</think>")
    return thoughts, rest
