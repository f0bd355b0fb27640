"""CVRPLIB's solution files: ``Route #k: customers…`` per route, then ``Cost c``.

Customers are numbered from 1 to n − 1: a customer's number is its node id in the instance file less one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.integer_lines import integer, read_text

_ROUTE: Final = re.compile(r"Route[ \t]*#(\d+)[ \t]*:(.*)", re.ASCII)
_COST: Final = re.compile(r"[Cc]ost[ \t]*:?[ \t]*(\d+(?:\.\d+)?)", re.ASCII)


class SolutionFile(NamedTuple):
    """What a ``.sol`` file says; whether it is true is the verifier's affair."""

    sequence: NDArray[np.int32]
    """The routes in the card's encoding."""
    cost: float


def read_solution(path: Path) -> SolutionFile:
    """Read a solution file.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, a line is neither a route nor the cost, routes are not numbered 1, 2, …, a
        route is empty, a customer is not a positive integer, the cost is missing, or text follows it.
    """
    entries: list[int] = []
    n_routes = 0
    cost: float | None = None
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip(" \t\r")
        if not text:
            continue
        if cost is not None:
            raise InstanceFormatError(path, number, f"unexpected text after the cost: {text[:60]!r}")
        if route := _ROUTE.fullmatch(text):
            n_routes += 1
            if route[1] != str(n_routes):
                raise InstanceFormatError(path, number, f"expected route {n_routes}, got {route[1][:20]}")
            entries += ([0] if entries else []) + _customers(path, number, route[2])
        elif total := _COST.fullmatch(text):
            cost = float(total[1])
        else:
            raise InstanceFormatError(path, number, f"expected a route or the cost, got {text[:60]!r}")
    if cost is None or not entries:
        raise InstanceFormatError(path, None, "the cost is missing" if entries else "there are no routes")
    return SolutionFile(np.array(entries, dtype=np.int32), cost)


def _customers(path: Path, number: int, text: str) -> list[int]:
    customers = [integer(path, number, token) for token in re.split(r"[ \t]+", text.strip(" \t")) if token]
    if not customers:
        raise InstanceFormatError(path, number, "the route is empty")
    for customer in customers:
        if not 1 <= customer < 2**31:
            raise InstanceFormatError(path, number, f"expected a customer from 1 on, got {customer}")
    return customers


def format_solution(routes: list[list[int]], cost: int) -> str:
    """Text of a solution file."""
    lines = [f"Route #{k}: {' '.join(map(str, route))}" for k, route in enumerate(routes, start=1)]
    return "\n".join([*lines, f"Cost {cost}", ""])
