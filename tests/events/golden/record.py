"""Adds a stored sample of every event type and version that has none yet to ``events.jsonl``.

Run it after adding a type or raising a version. Lines that were part of a release are never changed or
removed: today's program must read them for ever.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import orjson
from pydantic import BaseModel

from dga2d.events import (
    GENESIS_HASH,
    PAYLOAD_TYPES,
    Payload,
    canonical_bytes,
    encode_payload,
    link_hash,
)
from dga2d.events._envelope import header_bytes

GOLDEN = Path(__file__).with_name("events.jsonl")


def sample(annotation: Any, name: str) -> Any:
    """Some value of the annotated type, every optional part filled."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[-1]
    if origin in (Union, types.UnionType):
        return sample(next(kind for kind in arguments if kind is not type(None)), name)
    if origin is Annotated:
        return sample(arguments[0], name)
    if origin is tuple:
        kinds = arguments[:1] * 2 if arguments[-1] is Ellipsis else arguments
        return tuple(sample(kind, f"{name}-{index}") for index, kind in enumerate(kinds))
    if origin is dict:
        return {f"{name}-z": sample(arguments[1], name), f"{name}-a": sample(arguments[1], name)}
    if hasattr(annotation, "__supertype__"):
        return sample(annotation.__supertype__, name)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation(
            **{key: sample(field.annotation, key) for key, field in annotation.model_fields.items()}
        )
    if annotation is Any:
        return [None, True, -1, 0.1, "é\n", {"key": 2**63 - 1}]
    return {str: f"{name} ✓", int: len(name), float: len(name) / 10, bool: True}[annotation]


def stored(model: type[Payload]) -> dict[str, Any]:
    """A sample of the type as the first event of a run, in the form of one line of the file."""
    payload = encode_payload(sample(model, model.__name__))
    header = header_bytes(
        "golden",
        1,
        "01",
        model.__name__,
        model.version,
        model.owners[0],
        1,
        None,
        1_700_000_000_000_000,
    )
    return {
        **orjson.loads(header),
        "payload": payload.decode(),
        "hash": link_hash(GENESIS_HASH, header, payload).hex(),
    }


def main() -> None:
    """Append what is missing."""
    lines = GOLDEN.read_bytes().splitlines() if GOLDEN.exists() else []
    known = {(line["type"], line["version"]) for line in map(orjson.loads, lines)}
    lines += [
        canonical_bytes(stored(model))
        for name, model in PAYLOAD_TYPES.items()
        if (name, model.version) not in known
    ]
    GOLDEN.write_bytes(b"".join(line + b"\n" for line in lines))


if __name__ == "__main__":
    main()
