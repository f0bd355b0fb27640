"""Ownership of event types, and the blobs that events name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from dga2d.events._envelope import RecordedEvent
from dga2d.events._errors import OwnershipError, UnknownEventTypeError
from dga2d.events._names import BlobDigest
from dga2d.events.payloads import PAYLOAD_TYPES


def check_owner(agent: str, type_name: str) -> None:
    """Refuse an event that is not `agent`'s to write.

    Raises
    ------
    OwnershipError
        The type belongs to another agent.
    UnknownEventTypeError
        Nobody owns the type.
    """
    model = PAYLOAD_TYPES.get(type_name)
    if model is None:
        raise UnknownEventTypeError(type_name, 0)
    if agent not in model.owners:
        raise OwnershipError(agent, type_name, model.owners)


def referenced_blobs(event: RecordedEvent) -> Iterator[BlobDigest]:
    """Yield the digests of all blobs that `event` names, in the order of its fields.

    Raises
    ------
    UnknownEventTypeError, PayloadError
        The event cannot be decoded.
    """
    if event.type not in PAYLOAD_TYPES or names_blobs(PAYLOAD_TYPES[event.type]):
        yield from _in_model(event.payload)


@cache
def names_blobs(kind: Any) -> bool:
    """Return whether a value annotated with `kind` may hold the digest of a blob."""
    if kind is BlobDigest:
        return True
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return any(names_blobs(hint) for hint in _hints(kind).values())
    return any(names_blobs(argument) for argument in get_args(kind))


@cache
def _hints(model: type[BaseModel]) -> dict[str, Any]:
    hints = get_type_hints(model)
    return {name: hints[name] for name in model.model_fields}


def _in_model(model: BaseModel) -> Iterator[BlobDigest]:
    for name, hint in _hints(type(model)).items():
        if names_blobs(hint):
            yield from _in_value(getattr(model, name))


def _in_value(value: Any) -> Iterator[BlobDigest]:
    if isinstance(value, BaseModel):
        yield from _in_model(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _in_value(item)
    elif isinstance(value, str):
        yield BlobDigest(value)
