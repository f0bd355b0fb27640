"""The payloads that fill a log, encoded and decoded without their models: a faster codec for them.

Evaluations are nine events in ten, samples and scores nearly all others. A record has the fields of its
payload, made from the payload's own annotations, and takes a quarter of the time. A decoder accepts nothing
that the payload's model refuses, and reads what it accepts as the model does; where it refuses, the model
has the last word and the words for it. Of a record that is written, canonical bytes are likewise the measure:
what could be spelled otherwise is left to `canonical_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from dga2d.events._codec import canonical_bytes, decode_payload
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


def encode_payload(payload: Payload) -> bytes:
    """Return the canonical bytes of a payload.

    Raises
    ------
    CanonicalEncodingError
        A free-form field holds a value without a canonical form.
    """
    if payload.is_frequent:
        record = record_of(type(payload), is_written=True)
        try:
            return _encode_record(msgspec.convert(payload, record, from_attributes=True))
        except _NOT_ENCODED:
            pass  # `canonical_bytes` writes it, or says what is wrong with it
    return canonical_bytes(payload, "payload")


_encode_record = msgspec.json.Encoder().encode
_NOT_ENCODED = (msgspec.MsgspecError, TypeError, UnicodeEncodeError)
"""What is raised for values that are left to `canonical_bytes`."""
_CANONICAL: dict[Any, Any] = {
    float: Annotated[float, msgspec.Meta(gt=-1e16, lt=1e16)],
    int: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],
}
"""Numbers that both encoders spell alike; beyond, orjson writes ``1e+16`` where msgspec writes ``1e16``."""


@cache
def record_of(model: type[Model], *, is_written: bool = False) -> type[msgspec.Struct]:
    """Return the record of a model: immutable, closed, its fields in canonical order, in which they are found
    at once. One that is written holds only what it writes in canonical bytes."""
    hints = get_type_hints(model, include_extras=True)
    fields = []
    for name, field in sorted(model.model_fields.items()):
        default = msgspec.field() if field.is_required() else msgspec.field(default=field.default)
        fields.append((name, _without_models(hints[name], is_written), default))
    if is_written and model.left_out and model.left_out != {f[0] for f in fields if f[2].default is None}:
        raise TypeError(f"{model.__name__} has defaults that are written and others that are not")
    return msgspec.defstruct(
        model.__name__,
        fields,
        frozen=True,
        forbid_unknown_fields=True,
        gc=False,
        kw_only=True,
        omit_defaults=is_written and bool(model.left_out),
    )


def _without_models(hint: Any, is_written: bool) -> Any:
    """Return the annotation with records in place of models, and (`is_written`) with bounded numbers."""
    if isinstance(hint, type) and issubclass(hint, Model):
        return record_of(hint, is_written=is_written)
    origin, items = get_origin(hint), get_args(hint)
    if origin is tuple:
        return tuple[tuple(_without_models(item, is_written) for item in items)]  # type: ignore[misc]
    if not is_written:
        return hint
    if origin is UnionType or origin is Union:
        return Union[tuple(_without_models(item, is_written) for item in items)]  # noqa: UP007
    if origin is Annotated:
        return _without_models(items[0], is_written)
    return _CANONICAL.get(hint, hint)
