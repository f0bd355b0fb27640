"""Annotations of the events' models in the words of JSON."""

from __future__ import annotations

import types
from typing import Any, Literal, NewType, Union, get_args, get_origin

WORDS: dict[Any, str] = {
    int: "integer",
    float: "number",
    str: "text",
    bool: "`true` or `false`",
    Any: "any value",
}


def type_words(annotation: Any) -> str:
    """What a value of `annotation` is in the log; other models become links to their table.

    Raises
    ------
    TypeError
        There are no words for such an annotation.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in WORDS:
        return WORDS[annotation]
    if isinstance(annotation, NewType):
        return f"`{annotation.__name__}`"
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        known = [type_words(part) for part in inner if part is not type(None)]
        return " or ".join([*known, "`null`"] if type(None) in inner else known)
    if origin is tuple and inner[-1] is ...:
        return f"list of {type_words(inner[0])}"
    if origin is tuple:
        return f"list of exactly {', '.join(map(type_words, inner))}"
    if origin is dict:
        return f"object, {type_words(inner[0])} → {type_words(inner[1])}"
    if isinstance(annotation, type) and annotation.__module__.startswith("dga2d.events.payloads"):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    raise TypeError(f"no words for {annotation!r}")
