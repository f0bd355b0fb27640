"""Solution files: a comment, a line ``number value``, then the packed items, from 0, one per line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dga2d.domains.contract import State
from dga2d.domains.skeleton.verifier import packed_items


def packing_text(key: str, environment: Mapping[str, Any], state: State, value: int) -> str:
    """Text of a verified solution of instance `key`."""
    chosen = sorted(packed_items(environment, state.sequence.tolist()))
    lines = [f"# {key}: number of items and their value; then the items", f"{len(chosen)} {value}"]
    return "\n".join([*lines, *map(str, chosen)]) + "\n"
