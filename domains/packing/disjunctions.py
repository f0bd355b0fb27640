"""The non-overlap constraints of both packing models, for a CP-SAT model handed in by the caller."""

from __future__ import annotations

from typing import Any


def keep_apart(model: Any, starts: Any, ends: Any, first: int, second: int, escapes: list[Any]) -> None:
    """Items `first` and `second` are apart along x, y or z, or one of the literals `escapes` holds.

    `starts` and `ends` hold three expressions per item: the corners of its box (Appendix A.2 of the DGA2D
    paper: six relative positions per pair of items).
    """
    sides = []
    for axis in range(3):
        for left, right in ((first, second), (second, first)):
            literal = model.new_bool_var("")
            model.add(ends[left][axis] <= starts[right][axis]).only_enforce_if(literal)
            sides.append(literal)
    model.add_bool_or([*sides, *escapes])
