"""Flexible job shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the flexible version of the 6 × 6 problem, optimum 55.

Six operations may go to a second machine, the others are bound to one.

References
----------
J. Hurink, B. Jurisch, M. Thole, Tabu search for the job-shop scheduling problem with multi-purpose machines,
OR Spektrum 15, 1994: mt06 of edata, after Fisher and Thompson's job shop (1963).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import shipped_makespans
from dga2d.domains.fjsp import reader
from dga2d.domains.fjsp.generator import hurink
from dga2d.domains.fjsp.reader import FlexibleShopData, operator_environment, tabulate
from dga2d.domains.fjsp.suite import find_generated, generated_instances
from dga2d.domains.fjsp.verifier import choices_of, schedule, schedule_text, verify_state
from dga2d.domains.jsp.domain import ft06


def _in_its_group(ref: InstanceRef) -> InstanceRef:
    """Call ``hurink-edata/la01`` ``hurink/edata-la01``; others keep their names."""
    collection, _, kind = ref.group.partition("-")
    if collection != "hurink" or not kind:
        return ref
    return replace(ref, group=collection, name=f"{kind}-{ref.name}")


class FlexibleJobShop(LibraryDomain):
    """The flexible job shop scheduling problem, makespan objective."""

    safe_pipeline = ("earliest_completion", "path_relinking_tabu")
    basic_pipeline = ("earliest_completion", "critical_annealing")
    ils_pipeline = ("earliest_completion", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the instances of Brandimarte's and Hurink's kinds, with references by CP-SAT."""
        known = shipped_makespans(self._package)
        return tuple(
            InstanceRef(
                self.name, item.group, item.name, None, known[key], item.part, only_named=item.only_named
            )
            for key, item in generated_instances().items()
        )

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Return the collections' files; Hurink's three folders are one group, as in the paper's table of
        splits.
        """
        refs = map(_in_its_group, super().published(data_dir))
        return tuple(sorted(refs, key=lambda ref: ref.key))

    def read(self, path: Path) -> Mapping[str, Any]:
        return {"shop": reader.read_instance(path)}

    def generate(self, ref: InstanceRef) -> Mapping[str, Any]:
        return {"shop": find_generated(ref.key)}

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Hurink, Jurisch and Thole 1994")
        return Instance(self.name, "hurink", "edata-mt06", {"shop": mt06_edata()}, reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return {"shop": hurink("rdata", 15, 10, 29_000_053)}

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return fresh, writable arrays: operators may scribble on them without harm to the instance."""
        shop = instance.data["shop"]
        return operator_environment(shop.n_machines, shop.op_counts, shop.machines, shop.times)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_state(instance.data["shop"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with machine, start and end per operation; :mod:`dga2d.domains.fjsp.verifier` has
        the format.
        """
        require_feasible(self.verify(instance, state))
        shop = instance.data["shop"]
        return schedule_text(instance.key, shop.n_machines, schedule(choices_of(shop), state))


SMOKE_OPTIMUM = 55

_ROUTES = (
    ("2", "0", "1", "3", "53", "4"),
    ("1", "2", "4", "5", "0", "3"),
    ("25", "3", "5", "0", "15", "4"),
    ("1", "0", "2", "30", "4", "5"),
    ("2", "1", "4", "51", "0", "3"),
    ("13", "3", "5", "0", "4", "2"),
)
"""Digits are machines, the eligible ones of an operation together."""


def mt06_edata() -> FlexibleShopData:
    """Return the machines and times of the instance; an operation takes the same time on all its machines."""
    return tabulate(
        6,
        [
            [
                [(int(machine), time) for machine in machines]
                for machines, time in zip(route, times, strict=True)
            ]
            for route, times in zip(_ROUTES, ft06().times.tolist(), strict=True)
        ],
    )
