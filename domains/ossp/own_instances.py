"""The open shops that the program makes itself and that nobody published, with their references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from dga2d.domains.core.contract import InstanceRef, Reference
from dga2d.domains.core.published import shipped_table
from dga2d.domains.ossp import spread, uneven
from dga2d.domains.ossp.spread import SpreadShop
from dga2d.domains.ossp.uneven import UnevenShop
from dga2d.domains.shared.shops.files import ProcessingTimes

_Shops = Callable[[], Mapping[str, SpreadShop | UnevenShop]]

GROUPS: Final[Mapping[str, _Shops]] = MappingProxyType(
    {spread.GROUP: spread.shops, uneven.GROUP: uneven.shops}
)
"""The instances of each group, by name."""


@cache
def references() -> Mapping[str, Reference]:
    """Return makespans by key, and how they were found (``benchmarks/shop_references.py``)."""
    entries: Mapping[str, Mapping[str, Any]] = shipped_table(__package__)["references"]
    return {key: _reference(entry) for key, entry in entries.items()}


def _reference(entry: Mapping[str, Any]) -> Reference:
    return Reference(float(entry["makespan"]), "optimal" if entry["proven"] else "computed", entry["source"])


def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the instances with their references, sorted by key."""
    return tuple(
        InstanceRef("ossp", group, name, None, references()[f"{group}/{name}"])
        for group, shops in GROUPS.items()
        for name in shops()
    )


def own_times(ref: InstanceRef) -> ProcessingTimes | None:
    """Return the times of one of these instances, ``None`` of any other."""
    shops = GROUPS[ref.group]() if ref.group in GROUPS else {}
    return shops[ref.name].data() if ref.name in shops else None
