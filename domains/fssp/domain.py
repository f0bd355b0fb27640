"""Flow shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: eight jobs on four machines.

Small enough that all 40,320 permutations can be decoded, which a test does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.fssp import taillard
from dga2d.domains.shared.shops import further
from dga2d.domains.shared.shops.domain import ShopDomain
from dga2d.domains.shared.shops.files import ProcessingTimes

FOLDER = "taillard"
"""Folder of Taillard's published files; their groups, as the DGA2D paper splits them, are the sizes."""


class FlowShop(ShopDomain):
    """The permutation flow shop scheduling problem, makespan objective."""

    safe_pipeline = ("neh_reinsertion", "iterated_greedy", "machine_order_tabu")
    basic_pipeline = ("neh", "simulated_annealing")
    ils_pipeline = ("neh", "iterated_local_search")
    group = FOLDER
    own_groups = MappingProxyType({further.GROUP: taillard.further_shops})
    rehearsed = (40, 10, 873_000_031)

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return Taillard's 110 instances, whose published files hold the same numbers, and further ones."""
        return _regroup(super().generated())

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Return the files below ``data_dir/fssp``; those of Taillard's folder are grouped by size."""
        return _regroup(super().published(data_dir))

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "best_known", "best permutation of all")
        return Instance(self.name, "smoke", "8x4", fields_of(eight_by_four()), reference)


def _regroup(refs: Iterable[InstanceRef]) -> tuple[InstanceRef, ...]:
    """Return `refs` sorted by key, those of Taillard's folder moved to the group of their size."""
    moved = (
        replace(ref, group=taillard.group_of(ref.name) or ref.group) if ref.group == FOLDER else ref
        for ref in refs
    )
    return tuple(sorted(moved, key=lambda ref: ref.key))


SMOKE_OPTIMUM = 427
"""Shortest makespan of a permutation schedule, 13 above the lower bound, so that no search stops early."""

_TIMES = (
    (13, 79, 23, 71),
    (31, 13, 14, 94),
    (17, 1, 78, 45),
    (19, 28, 10, 23),
    (94, 75, 8, 29),
    (8, 57, 84, 37),
    (10, 17, 9, 18),
    (66, 20, 46, 61),
)


def eight_by_four() -> ProcessingTimes:
    """Return the times of the instance."""
    return ProcessingTimes(np.array(_TIMES, dtype=np.int32))
