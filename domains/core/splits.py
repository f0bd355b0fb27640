"""Training, validation and test splits (DGA2D paper, Appendix E; `docs/decisions.md` for the rounding)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dga2d.domains.core.contract import InstanceRef, Part

SPLIT_SEED = 0


class Splits(NamedTuple):
    """Disjoint parts of a domain's instances, each sorted by key."""

    train: tuple[InstanceRef, ...]
    validation: tuple[InstanceRef, ...]
    test: tuple[InstanceRef, ...]

    def digest(self) -> str:
        """Return SHA-256 over the keys of the three parts, for the log's manifest."""
        text = "\n\n".join("\n".join(ref.key for ref in part) for part in self)
        return hashlib.sha256(text.encode()).hexdigest()


def part_sizes(n: int) -> tuple[int, int, int]:
    """Return the sizes of training, validation and test of a group of `n` instances, n ≥ 1.

    ⌊0.6 n⌋ for training, ⌊0.2 n⌋ but at least one for validation, the rest for the test. Applied group by
    group it gives the sizes of the paper's table of benchmark groups, which other roundings do not. A single
    instance is for training; of two, one is for the test.
    """
    if n <= 2:
        return (1, 0, n - 1)
    train, validation = 3 * n // 5, max(n // 5, 1)
    return (train, validation, n - train - validation)


def split(refs: Iterable[InstanceRef], seed: int = SPLIT_SEED) -> Splits:
    """Split within each benchmark group: sort by id, shuffle with `seed`, cut by :func:`part_sizes`.

    Instances that say to which part they belong go there.
    """
    groups: dict[str, list[InstanceRef]] = {}
    parts: tuple[list[InstanceRef], ...] = ([], [], [])
    for ref in refs:
        if ref.part is None:
            groups.setdefault(ref.group, []).append(ref)
        else:
            parts[Splits._fields.index(ref.part)].append(ref)
    for group in sorted(groups):
        members = sorted(groups[group], key=lambda ref: ref.name)
        order = np.random.Generator(np.random.Philox(seed)).permutation(len(members))
        start = 0
        for part, size in zip(parts, part_sizes(len(members)), strict=True):
            part.extend(members[i] for i in order[start : start + size])
            start += size
    return Splits(*(tuple(sorted(part, key=lambda ref: ref.key)) for part in parts))


def numbered_copies(copies: int) -> tuple[tuple[int, Part], ...]:
    """Return numbers from 1 with the part that each belongs to: `copies` for validation, then as many for the
    test."""
    parts: tuple[Part, ...] = ("validation", "test")
    return tuple(enumerate((part for part in parts for _ in range(copies)), start=1))


class NumberedPart(NamedTuple):
    """Instances of every group of a domain that generates them, called ``test01``, ``test02`` and so on."""

    name: str
    """What their names begin with."""
    split: Part
    size: int
    """Number of them in each group."""


def numbered_refs(
    domain: str, groups: Iterable[str], parts: Sequence[NumberedPart]
) -> tuple[InstanceRef, ...]:
    """Return the instances of all groups, sorted by key."""
    refs = [
        InstanceRef(domain, group, f"{name}{number:02}", None, part=split)
        for group in groups
        for name, split, size in parts
        for number in range(1, size + 1)
    ]
    return tuple(sorted(refs, key=lambda ref: ref.key))


def place_of(name: str, parts: Sequence[NumberedPart]) -> tuple[int, int] | None:
    """Return which part an instance is in, from 0, and its number there; ``None`` where no instance has that
    name."""
    for index, part in enumerate(parts):
        for number in range(1, part.size + 1):
            if name == f"{part.name}{number:02}":
                return index, number
    return None
