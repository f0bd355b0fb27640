"""Training, validation and test splits (DGA2D paper, Appendix E; `docs/decisions.md` for the rounding)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dga2d.domains.contract import InstanceRef

SHARES = (0.6, 0.2, 0.2)
SPLIT_SEED = 0


class Splits(NamedTuple):
    """Disjoint parts of a domain's instances, each sorted by key."""

    train: tuple[InstanceRef, ...]
    validation: tuple[InstanceRef, ...]
    test: tuple[InstanceRef, ...]

    def digest(self) -> str:
        """SHA-256 over the keys of the three parts, for the log's manifest."""
        text = "\n\n".join("\n".join(ref.key for ref in part) for part in self)
        return hashlib.sha256(text.encode()).hexdigest()


def largest_remainder(total: int, shares: Sequence[float]) -> tuple[int, ...]:
    """Whole sizes that sum to `total` and follow `shares`; spare units go to the largest remainders,
    ties to the earlier part."""
    exact = [total * share for share in shares]
    sizes = [int(value) for value in exact]
    order = sorted(range(len(shares)), key=lambda i: (-(round(exact[i] - sizes[i], 9)), i))
    for i in order[: total - sum(sizes)]:
        sizes[i] += 1
    return tuple(sizes)


def split(refs: Iterable[InstanceRef], seed: int = SPLIT_SEED) -> Splits:
    """Split within each benchmark group: sort by id, shuffle with `seed`, 60/20/20 by largest remainder."""
    groups: dict[str, list[InstanceRef]] = {}
    for ref in refs:
        groups.setdefault(ref.group, []).append(ref)
    parts: tuple[list[InstanceRef], ...] = ([], [], [])
    for group in sorted(groups):
        members = sorted(groups[group], key=lambda ref: ref.name)
        order = np.random.Generator(np.random.Philox(seed)).permutation(len(members))
        start = 0
        for part, size in zip(parts, largest_remainder(len(members), SHARES), strict=True):
            part.extend(members[i] for i in order[start : start + size])
            start += size
    return Splits(*(tuple(sorted(part, key=lambda ref: ref.key)) for part in parts))
