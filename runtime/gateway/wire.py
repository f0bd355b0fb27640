"""What the chat protocols share when they read: documents checked without quoting them, a growing answer."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from dga2d.runtime.gateway.chat import MAX_TEXT_CHARS, MalformedAnswerError, joined


class Wire(BaseModel):
    """Base of what is read from a provider: only what is used is checked, the rest is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


Read = TypeVar("Read", bound=Wire)


def document_of(kind: type[Read], document: Any, what: str) -> Read:
    """`document` as `kind`; `what` names it in the message, which says where it departs, never what it holds.

    Raises
    ------
    MalformedAnswerError
        It is none.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if isinstance(part, int | str))
        raise MalformedAnswerError(f"not {what}: {place or 'document'}: {first['msg']}") from None


def event_of(kind: type[Read], data: str, what: str) -> Read:
    """As :func:`document_of`, of the JSON text of an event of a stream.

    Raises
    ------
    MalformedAnswerError
        The event is not JSON, or no `kind`.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedAnswerError("an event of the stream is not JSON") from None
    return document_of(kind, document, what)


class GrowingAnswer:
    """Text and reasoning of an answer that comes in pieces."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._n_chars = 0

    def add(self, text: str, thoughts: str) -> None:
        """Take a piece of either, empty where there is none; as `joined` once it has become too long."""
        self._text.append(text)
        self._thoughts.append(thoughts)
        self._n_chars += len(text) + len(thoughts)
        if self._n_chars > MAX_TEXT_CHARS:
            raise MalformedAnswerError(f"the answer has more than {MAX_TEXT_CHARS} characters")

    def whole(self) -> tuple[str, str]:
        """Text and reasoning so far."""
        return joined(self._text), joined(self._thoughts)
