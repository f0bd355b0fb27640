"""The generated instances with their computed references."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dga2d.domains.binpack3d.generator import (
    GeneratedInstance,
    generated_instances,
    published_instances,
)
from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.published import reference_of, shipped_table


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return all generated instances; references are the best scores computed, bin counts beside bounds."""
    table, refs = shipped_table(__package__)["references"], []
    for instance in generated_instances():
        key = f"{instance.group}/{instance.name}"
        reference = reference_of("references.json", key, _entry(table[key]))
        refs.append(InstanceRef("binpack3d", instance.group, instance.name, None, reference))
    return tuple(sorted(refs, key=lambda ref: ref.key))


def _entry(row: Mapping[str, Any]) -> Mapping[str, Any]:
    bins, bound = row["bins"], row["l2"]
    proof = "no packing needs fewer (L2)" if bins == bound else f"no packing needs fewer than {bound} (L2)"
    source = f"computed with the safe baseline, {row['effort']}; {bins} bins, {proof}"
    return {"best": row["score"], "optimal": False, "source": source}


def published_refs() -> tuple[InstanceRef, ...]:
    """Return the published instances, none with a reference: no best known values were at hand."""
    refs = (InstanceRef("binpack3d", one.group, one.name, None) for one in published_instances())
    return tuple(sorted(refs, key=lambda ref: ref.key))


def find_generated(group: str, name: str) -> GeneratedInstance | None:
    """Return the instance called `name` in `group`, generated or published, if there is one."""
    for instance in (*generated_instances(), *published_instances()):
        if (instance.group, instance.name) == (group, name):
            return instance
    return None
