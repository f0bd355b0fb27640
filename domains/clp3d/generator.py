"""The problems BR1–BR15 of Bischoff, Ratcliff and Davies, made from their seeds.

They equal the published problems number by number.

References
----------
E. E. Bischoff, M. S. W. Ratcliff, Issues in the development of approaches to container loading, Omega 23(4),
1995 (generator, BR1–BR7); A. P. Davies, E. E. Bischoff, Weight distribution considerations in container
loading, European Journal of Operational Research 114(3), 1999 (BR8–BR15).
"""

from __future__ import annotations

from typing import Final

from dga2d.domains.clp3d.reader import BoxType, Problem, container_data
from dga2d.domains.shared.lehmer import MODULUS, LehmerGenerator

CONTAINER: Final = (587, 233, 220)
TYPES: Final = (3, 5, 8, 10, 12, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)
"""Number of box types in BR1 … BR15."""
_SHORTEST, _LONGEST, _RATIO = (30, 25, 20), (120, 100, 80), 2


def generate(br_class: int, number: int) -> Problem:
    """Problem `number`, 1..100, of class BR`br_class`, 1..15."""
    seed = 2_502_505 + 100 * (number - 1)
    draw = LehmerGenerator(seed)
    for _ in range(10):
        draw.uniform(1, MODULUS)
    n_types = TYPES[br_class - 1]
    sides = [_sides(draw) for _ in range(n_types)]
    counts = _quantities(draw, sides)
    types = tuple(BoxType(box, _upright(box), quantity) for box, quantity in zip(sides, counts, strict=True))
    return Problem(number, seed, types, container_data(CONTAINER, types))


def _sides(draw: LehmerGenerator) -> tuple[int, int, int]:
    longest, middle, shortest = sorted(
        (draw.uniform(low, high) for low, high in zip(_SHORTEST, _LONGEST, strict=True)), reverse=True
    )
    return longest, middle, shortest


def _upright(sides: tuple[int, int, int]) -> tuple[int, int, int]:
    """A side may stand vertically if it is less than twice the smaller of the other two."""
    a, b, c = sides
    return int(a < _RATIO * min(b, c)), int(b < _RATIO * min(a, c)), int(c < _RATIO * min(a, b))


def _quantities(draw: LehmerGenerator, sides: list[tuple[int, int, int]]) -> list[int]:
    """Return one box of each type, then boxes of random types until the next one would exceed the volume."""
    volumes = [a * b * c for a, b, c in sides]
    counts, cargo = [1] * len(sides), sum(volumes)
    capacity = CONTAINER[0] * CONTAINER[1] * CONTAINER[2]
    while True:
        kind = draw.uniform(1, len(sides)) - 1
        if cargo + volumes[kind] > capacity:
            return counts
        counts[kind] += 1
        cargo += volumes[kind]
