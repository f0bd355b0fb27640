"""The frequent payloads are decoded without their models, and never into anything else than with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.events import (
    CanonicalEncodingError,
    Payload,
    PayloadError,
    _frequent,
    canonical_bytes,
    decode_payload,
    encode_payload,
)
from dga2d.events._frequent import decoder_of, record_of
from dga2d.events.payloads import PAYLOAD_TYPES

SAMPLES = {
    "EvaluationRecorded": b'{"candidate":3,"diagnostic":"a \\"b\\": \\u00e9 \xc3\xa9 \\n",'
    b'"elapsed_s":0.1,"failure":null,'
    b'"generation":2,"instance":"g/i","objective":12.5,"solution":"abc","split":"train","trace":['
    b'{"elapsed_s":1e-05,"score_after":1.0,"score_before":null,"work":7},'
    b'{"elapsed_s":0.25,"score_after":-1.5e300,"score_before":3.25,"work":0}],"work":12}',
    "PipelineSampled": b'{"candidate":0,"generation":1,"policy_steps":[{"actions":["a","b"],"chosen":"a",'
    b'"probabilities":[0.25,0.75]},{"actions":["END"],"chosen":"END","probabilities":[1.0]}],'
    b'"policy_updates":0,"steps":[{"implementation":"a.0","operator":"a"},'
    b'{"implementation":"b.0","operator":"b","share":0.5}]}',
    "CandidateScored": b'{"candidate":1,"gaps":[0.5,null,1e-300],"generation":4,"score":-0.25}',
}

FRAGMENTS = [
    "1.0",
    "0.0",
    "-1.0",
    "1e3",
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "-0",
    "-0.0",
    "01",
    "1.",
    ".5",
    "+1",
    "1E5",
    "true",
    "null",
    '"1"',
    '""',
    "[]",
    "{}",
    "[null]",
    "[[1]]",
    '"train"',
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "9007199254740993",
    "4.9e-324",
    "1e-400",
    "0.1000000000000000055511151231257827",
    "2.2250738585072011e-308",
    "1.7976931348623159e308",
    '"\\ud800"',
    '"\\ude00"',
    '"\\ud83d\\ude00"',
    '"\\x"',
    '"\\u0000"',
    ',"x":1',
    '"work":1,',
    '"score":2,',
    "\\u0069",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
]
OTHERS = [b"\xff", b"\x00", b"\n", b" ", b'"\x01"', b'"\xed\xa0\x80"', b'"\xc3"', b"\xef\xbb\xbf"]
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+|null|[{}\[\],:]')

fragments = st.sampled_from([f.encode() for f in FRAGMENTS] + OTHERS) | st.binary(max_size=2)


def plain(value: Any) -> Any:
    """Records and models alike as JSON values; numbers as they are spelled, so that 1 is not 1.0."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in sorted(value.__struct_fields__)}
    if hasattr(type(value), "model_fields"):
        return {name: plain(getattr(value, name)) for name in sorted(type(value).model_fields)}
    return repr(value)


def assert_nothing_else(type_name: str, data: bytes) -> None:
    """What the decoder accepts, the model accepts and reads alike; what it refuses, the model refuses."""
    decoders = (decoder_of(PAYLOAD_TYPES[type_name]), lambda data: decode_payload(type_name, 1, data))
    ours, theirs = [outcome(decode, data) for decode in decoders]
    assert ours == theirs


def outcome(decode: Callable[[bytes], Any], data: bytes) -> Any:
    """What is read, or why it is refused."""
    try:
        return plain(decode(data))
    except PayloadError as error:
        return str(error)


def test_the_samples_are_those_of_the_frequent_types() -> None:
    assert SAMPLES.keys() == {name for name, model in PAYLOAD_TYPES.items() if model.is_frequent}


@pytest.mark.parametrize("type_name", SAMPLES)
def test_what_was_recorded_is_decoded_without_the_model(type_name: str) -> None:
    record = decoder_of(PAYLOAD_TYPES[type_name])(SAMPLES[type_name])
    assert isinstance(record, record_of(PAYLOAD_TYPES[type_name]))
    assert plain(record) == plain(decode_payload(type_name, 1, SAMPLES[type_name]))
    assert orjson.loads(SAMPLES[type_name]).keys() == set(record.__struct_fields__)


@pytest.mark.parametrize("type_name", sorted(PAYLOAD_TYPES.keys() - SAMPLES.keys()))
def test_other_types_have_only_their_models(type_name: str) -> None:
    with pytest.raises(PayloadError, match=type_name):
        decoder_of(PAYLOAD_TYPES[type_name])(b"[]")


@pytest.mark.parametrize("type_name", SAMPLES)
@given(st.data())
def test_with_any_token_changed_nothing_else_is_read_than_by_the_model(
    type_name: str, data: st.DataObject
) -> None:
    whole = SAMPLES[type_name]
    start, end = data.draw(st.sampled_from([match.span() for match in TOKEN.finditer(whole)]))
    assert_nothing_else(type_name, whole[:start] + data.draw(fragments) + whole[end:])


@pytest.mark.parametrize("type_name", SAMPLES)
@given(st.data())
def test_with_anything_put_in_nothing_else_is_read_than_by_the_model(
    type_name: str, data: st.DataObject
) -> None:
    whole = SAMPLES[type_name]
    at = data.draw(st.integers(0, len(whole)))
    assert_nothing_else(type_name, whole[:at] + data.draw(fragments) + whole[at:])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_bit_for_bit(number: float) -> None:
    data = b'{"candidate":0,"gaps":[],"generation":1,"score":%b}' % orjson.dumps(number)
    assert repr(decoder_of(PAYLOAD_TYPES["CandidateScored"])(data).score) == repr(number)


@pytest.mark.parametrize(
    ("type_name", "more"),
    [
        ("EvaluationRecorded", b'"work":12'),
        ("EvaluationRecorded", b'"work":7'),
        ("CandidateScored", b'"score"'),
    ],
)
def test_an_unknown_field_is_refused_by_the_model(type_name: str, more: bytes) -> None:
    data = SAMPLES[type_name]
    closed = data.replace(more, b'"zap":1,' + more)
    assert closed != data
    with pytest.raises(PayloadError, match="zap"):
        decoder_of(PAYLOAD_TYPES[type_name])(closed)


@pytest.mark.parametrize("type_name", SAMPLES)
def test_a_record_is_closed_frozen_and_in_canonical_order(type_name: str) -> None:
    record = record_of(PAYLOAD_TYPES[type_name])
    assert list(record.__struct_fields__) == sorted(PAYLOAD_TYPES[type_name].model_fields)
    assert record.__struct_config__.forbid_unknown_fields
    assert record.__struct_config__.frozen


def test_a_field_that_came_later_has_its_default_in_old_bytes() -> None:
    class Later(Payload, is_frequent=True):
        number: int
        factor: float = 1.0
        why: str | None = None

    record = msgspec.json.Decoder(record_of(Later))
    assert plain(record.decode(b'{"number":2}')) == plain(Later(number=2))
    whole = b'{"factor":0.5,"number":2,"why":"so"}'
    assert plain(record.decode(whole)) == plain(Later(number=2, factor=0.5, why="so"))
    with pytest.raises(msgspec.ValidationError):
        record.decode(b"{}")


ANYTHING = (
    st.floats()
    | st.floats(-1e17, 1e17)
    | st.integers(-(2**65), 2**65)
    | st.text()
    | st.sampled_from(
        [None, True, "\ud800", 1e16, -1e16, 1e-5, 5e-324, 2**63, 2**63 - 1, -(2**63) - 1, "train"]
    )
)


def with_leaf(value: Any, replace: Callable[[Any], Any]) -> Any:
    """The same payload, each value that has no parts replaced; models are not asked."""
    if isinstance(value, tuple):
        return tuple(with_leaf(item, replace) for item in value)
    if hasattr(type(value), "model_fields"):
        fields = {name: with_leaf(item, replace) for name, item in value.__dict__.items()}
        return type(value).model_construct(**fields)
    return replace(value)


def bytes_or_refusal(encode: Callable[[Any], bytes], payload: Payload) -> bytes | str:
    try:
        return encode(payload)
    except CanonicalEncodingError as error:
        return str(error)


@pytest.mark.parametrize("type_name", SAMPLES)
@given(st.data())
def test_what_is_written_without_the_model_is_canonical(type_name: str, data: st.DataObject) -> None:
    """Anything in any place, also what no model accepts."""
    payload = decode_payload(type_name, 1, SAMPLES[type_name])
    leaves: list[Any] = []
    with_leaf(payload, leaves.append)
    at, drawn, places = data.draw(st.integers(0, len(leaves) - 1)), data.draw(ANYTHING), count()
    if isinstance(leaves[at], float | None) and type(drawn) is int:
        drawn = float(drawn)  # a model makes a float of it, too
    changed = with_leaf(payload, lambda value: drawn if next(places) == at else value)
    canonical = bytes_or_refusal(lambda value: canonical_bytes(value, "payload"), changed)
    assert bytes_or_refusal(encode_payload, changed) == canonical


@pytest.mark.parametrize("type_name", SAMPLES)
def test_what_was_recorded_is_written_without_the_model(
    type_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = decode_payload(type_name, 1, SAMPLES[type_name].replace(b"-1.5e300", b"-1.5e15"))
    canonical = canonical_bytes(payload)
    monkeypatch.setattr(_frequent, "canonical_bytes", None)
    assert encode_payload(payload) == canonical
