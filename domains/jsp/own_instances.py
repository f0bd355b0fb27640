"""The job shops that the program makes itself and that nobody published, with their references."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dga2d.domains.core.contract import InstanceRef, Reference
from dga2d.domains.core.published import shipped_table
from dga2d.domains.jsp import halves, large
from dga2d.domains.jsp.reader import JobShopData


@cache
def references() -> Mapping[str, Reference]:
    """Return makespans by key, and how they were found (``benchmarks/shop_references.py``)."""
    entries: Mapping[str, Mapping[str, Any]] = shipped_table(__package__)["references"]
    return {
        key: Reference(
            float(entry["makespan"]), "optimal" if entry["proven"] else "computed", entry["source"]
        )
        for key, entry in entries.items()
    }


def names() -> tuple[tuple[str, str], ...]:
    """Return group and name of every instance, sorted."""
    return (
        *((halves.GROUP, name) for name in halves.shops()),
        *((large.GROUP, name) for name in large.NAMES),
    )


def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the instances with their references, sorted by key; a run is for them where it names them."""
    return tuple(
        InstanceRef("jsp", group, name, None, references()[f"{group}/{name}"], only_named=True)
        for group, name in names()
    )


def own_shop(ref: InstanceRef) -> JobShopData | None:
    """Return one of these instances, ``None`` for any other."""
    if ref.group == large.GROUP and ref.name in large.NAMES:
        return large.shop(ref.name)
    if ref.group == halves.GROUP and ref.name in halves.shops():
        return halves.shops()[ref.name].data()
    return None
