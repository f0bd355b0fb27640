"""Canonical bytes: one byte string per value, and a value back from every byte string."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.events import (
    CanonicalEncodingError,
    ImplementationId,
    InstanceKey,
    OperatorId,
    PayloadError,
    UnknownEventTypeError,
    canonical_bytes,
    decode_payload,
    encode_payload,
    upcast,
)
from dga2d.events._codec import UPCASTERS
from dga2d.events.payloads import (
    PAYLOAD_TYPES,
    CandidateScored,
    EvaluationRecorded,
    Payload,
    PositionTrace,
    RunPaused,
    RunResumed,
    Step,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | finite
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def shuffled(value: Any, order: int) -> Any:
    """The same value with the keys of its mappings in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, order)) for key, item in value.items()]
        start = order % (len(items) + 1)
        return dict(items[::-1] if order % 2 else items[start:] + items[:start])
    if isinstance(value, list):
        return [shuffled(item, order) for item in value]
    return value


@given(values)
def test_what_is_encoded_comes_back(value: Any) -> None:
    data = canonical_bytes(value)
    assert repr(json.loads(data)) == repr(value) or json.loads(data) == value
    assert canonical_bytes(json.loads(data)) == data


@given(values, st.integers(0, 5))
def test_the_order_of_keys_does_not_matter(value: Any, order: int) -> None:
    assert canonical_bytes(shuffled(value, order)) == canonical_bytes(value)


@given(finite)
def test_floats_keep_every_bit(number: float) -> None:
    back = json.loads(canonical_bytes([number]))[0]
    assert math.copysign(1.0, back) == math.copysign(1.0, number)
    assert back == number


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 9)))
def test_keys_are_sorted_and_nothing_is_padded(value: dict[str, int]) -> None:
    expected = json.dumps(
        dict(sorted(value.items(), key=lambda item: item[0].encode())),
        separators=(",", ":"),
        ensure_ascii=False,
    )
    assert json.loads(canonical_bytes(value), object_pairs_hook=list) == json.loads(
        expected, object_pairs_hook=list
    )
    assert len(canonical_bytes({"a": 1, "b": [1.5, None]})) == len('{"a":1,"b":[1.5,null]}')


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (float("nan"), "value"),
        ([1.0, float("inf")], r"value\[1\]"),
        ({"a": {"b": float("-inf")}}, r"value\.a\.b"),
        (2**63, "value"),
        (-(2**63) - 1, "value"),
        ({1: "x"}, "value"),
        ({None: "x"}, "value"),
        ("\ud800", "value"),
        ({"\ud800": 1}, "value"),
        (b"bytes", "value"),
        ({1, 2}, "value"),
        (Colour.RED, "value"),
        (OrderedDict(a=1), "value"),
    ],
)
def test_what_json_would_change_silently_is_refused(value: Any, place: str) -> None:
    with pytest.raises(CanonicalEncodingError, match=f"^{place}: "):
        canonical_bytes(value)


@pytest.mark.parametrize(
    "value", [2**63 - 1, -(2**63), 5e-324, -0.0, 1.7976931348623157e308, "\x00\U0010ffff", ()]
)
def test_the_boundaries_beside_them_are_accepted(value: Any) -> None:
    back = orjson.loads(canonical_bytes(value))
    assert repr(back) == repr([] if value == () else value)  # -0.0 is not 0.0


@given(values)
def test_free_form_fields_are_encoded_canonically(value: Any) -> None:
    payload = RunResumed(code_version="1", epoch=2, changed={"k": value})
    data = encode_payload(payload)
    back = decode_payload("RunResumed", 1, data)
    assert encode_payload(back) == data


@pytest.mark.parametrize("value", [float("nan"), 2**63, 2**64, b"x", Colour.RED, {1: 2}, {"a": [math.inf]}])
def test_free_form_fields_are_refused_like_any_value(value: Any) -> None:
    with pytest.raises(CanonicalEncodingError, match=r"^payload\.changed\.k"):
        encode_payload(RunResumed(code_version="1", epoch=2, changed={"k": value}))


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_numbers_smuggled_past_validation_are_refused(score: float) -> None:
    payload = CandidateScored.model_construct(generation=1, candidate=0, score=score, gaps=(0.5, None))
    with pytest.raises(CanonicalEncodingError, match=r"payload\.score"):
        encode_payload(payload)


def evaluation(trace: tuple[PositionTrace, ...]) -> EvaluationRecorded:
    return EvaluationRecorded(
        split="train",
        generation=1,
        candidate=0,
        instance=InstanceKey("g/i"),
        objective=None,
        failure="timeout",
        diagnostic="",
        elapsed_s=0.5,
        work=3,
        trace=trace,
        solution=None,
    )


@pytest.mark.parametrize("value", [float("nan"), 2**63, Colour.RED])
def test_values_smuggled_into_a_part_are_refused(value: Any) -> None:
    whole = PositionTrace(score_before=None, score_after=1.0, elapsed_s=0.5, work=3)
    payload = evaluation((whole, whole.model_copy(update={"work": value})))
    with pytest.raises(CanonicalEncodingError, match=r"^payload\.trace\[1\]\.work: "):
        encode_payload(payload)


@given(st.lists(st.tuples(finite, st.none() | finite, st.integers(0, 2**63 - 1)), max_size=12))
def test_models_are_written_as_the_dicts_of_their_fields(rows: list[tuple[float, float | None, int]]) -> None:
    parts = tuple(PositionTrace(score_after=a, score_before=b, elapsed_s=a, work=w) for a, b, w in rows)
    payload = evaluation(parts)
    assert encode_payload(payload) == canonical_bytes(payload.model_dump())


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1])
def test_integers_that_do_not_fit_are_refused(number: int) -> None:
    with pytest.raises(CanonicalEncodingError, match=r"payload\.generation"):
        encode_payload(CandidateScored(generation=number, candidate=0, score=1.0, gaps=()))


def test_digits_and_the_word_null_inside_texts_are_harmless() -> None:
    payload = RunPaused(reason="null 12345678901234567890 null")
    assert decode_payload("RunPaused", 1, encode_payload(payload)) == payload


def test_an_unknown_type_or_a_newer_version_is_named() -> None:
    for type_name, version in [("Nonsense", 1), ("RunPaused", 2), ("Payload", 1)]:
        with pytest.raises(UnknownEventTypeError, match=f"{type_name}.*{version}"):
            decode_payload(type_name, version, b"{}")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"reason":1}', b'{"reason":"x","more":1}', b"{}", b'{"reason":NaN}', b"\xff"]
)
def test_bytes_that_do_not_fit_their_type_are_refused(data: bytes) -> None:
    with pytest.raises(PayloadError, match="RunPaused") as caught:
        decode_payload("RunPaused", 1, data)
    assert "\n" not in str(caught.value)


def test_old_versions_are_carried_forward_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Renamed(Payload):
        version = 3
        text: str

    monkeypatch.setattr("dga2d.events._codec.PAYLOAD_TYPES", {**PAYLOAD_TYPES, "Renamed": Renamed})
    steps = {
        ("Renamed", 1): lambda data: {"words": data["word"]},
        ("Renamed", 2): lambda data: {"text": data["words"] + "!"},
    }
    assert upcast("Renamed", 1, {"word": "a"}, steps) == {"text": "a!"}
    assert upcast("Renamed", 3, {"text": "c"}, steps) == {"text": "c"}
    with pytest.raises(UnknownEventTypeError, match=r"Renamed.*2"):
        upcast("Renamed", 1, {"word": "a"}, {("Renamed", 1): steps["Renamed", 1]})
    for key, step in steps.items():
        monkeypatch.setitem(UPCASTERS, key, step)
    assert decode_payload("Renamed", 1, b'{"word":"a"}') == Renamed(text="a!")
    assert decode_payload("Renamed", 3, b'{"text":"c"}') == Renamed(text="c")
    with pytest.raises(PayloadError):
        decode_payload("Renamed", 2, b"[")


def test_a_step_without_a_share_has_the_bytes_it_always_had() -> None:
    step = Step(operator=OperatorId("a"), implementation=ImplementationId("a.0"))
    assert canonical_bytes([step]) == b'[{"implementation":"a.0","operator":"a"}]'
    shared = step.model_copy(update={"share": 0.25})
    assert canonical_bytes([shared]) == b'[{"implementation":"a.0","operator":"a","share":0.25}]'


@pytest.mark.parametrize("share", [0.0, -0.5])
def test_a_share_is_above_zero(share: float) -> None:
    step = b'{"implementation":"a.0","operator":"a","share":%f}' % share
    data = b'{"generation":1,"log_probabilities":[],"pipelines":[[%b]]}' % step
    with pytest.raises(PayloadError, match="share"):
        decode_payload("PipelinesDecoded", 1, data)
