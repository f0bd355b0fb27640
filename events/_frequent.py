"""The payloads that fill a log, decoded without their models: a faster codec for replays.

Evaluations are nine events in ten, samples and scores nearly all others. A record has the fields of its
payload, made from the payload's own annotations, and takes a quarter of the time. A decoder accepts nothing
that the payload's model refuses, and reads what it accepts as the model does; where it refuses, the model
has the last word and the words for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from dga2d.events._codec import decode_payload
from dga2d.events._payload import Model, Payload

_NOT_DECODED = (msgspec.MsgspecError, UnicodeDecodeError)
"""What a decoder raises for bytes that it leaves to the payload's model."""

PayloadDecoder = Callable[[bytes], Any]
"""Bytes of a payload in its current version → the payload, or a record with its fields."""


@cache
def decoder_of(model: type[Payload]) -> PayloadDecoder:
    """Return the fastest decoder of payloads of `model` in their current version.

    It raises PayloadError for bytes that do not fit the model.
    """
    name, version = model.__name__, model.version

    def decode_with_model(data: bytes) -> Payload:
        return decode_payload(name, version, data)

    if not model.is_frequent:
        return decode_with_model
    decode_record = msgspec.json.Decoder(record_of(model)).decode

    def decode(data: bytes) -> Any:
        try:
            return decode_record(data)
        except _NOT_DECODED:
            return decode_payload(name, version, data)

    return decode


@cache
def record_of(model: type[Model]) -> type[msgspec.Struct]:
    """Return the record of a model: immutable, closed, its fields in canonical order, in which they are found
    at once."""
    hints = get_type_hints(model, include_extras=True)
    fields = []
    for name, field in sorted(model.model_fields.items()):
        default = msgspec.field() if field.is_required() else msgspec.field(default=field.default)
        fields.append((name, _without_models(hints[name]), default))
    return msgspec.defstruct(
        model.__name__, fields, frozen=True, forbid_unknown_fields=True, gc=False, kw_only=True
    )


def _without_models(hint: Any) -> Any:
    """Return the annotation with records in place of models."""
    if isinstance(hint, type) and issubclass(hint, Model):
        return record_of(hint)
    if get_origin(hint) is tuple:
        return tuple[tuple(_without_models(item) for item in get_args(hint))]  # type: ignore[misc]
    return hint
