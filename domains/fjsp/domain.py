"""Flexible job shop scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.feasible import require_feasible
from dga2d.domains.fjsp import reader, smoke
from dga2d.domains.fjsp.card import CARD, INVALID_SCORE
from dga2d.domains.fjsp.environment import operator_environment
from dga2d.domains.fjsp.solution import schedule_text
from dga2d.domains.fjsp.suite import find_generated, generated_instances, references
from dga2d.domains.fjsp.verifier import choices_of, schedule, verify_state
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.published import list_instances


def _in_its_group(ref: InstanceRef) -> InstanceRef:
    """``hurink-edata/la01`` is called ``hurink/edata-la01``; others keep their names."""
    collection, _, kind = ref.group.partition("-")
    if collection != "hurink" or not kind:
        return ref
    return replace(ref, group=collection, name=f"{kind}-{ref.name}")


class FlexibleJobShop(LibraryDomain):
    """The flexible job shop scheduling problem, makespan objective."""

    name = "fjsp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("earliest_completion", "path_relinking_tabu")
    basic_pipeline = ("earliest_completion", "critical_annealing")
    ils_pipeline = ("earliest_completion", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Instances of Brandimarte's and Hurink's kinds, with references by CP-SAT."""
        known = references()
        return tuple(
            InstanceRef(self.name, item.group, item.name, None, known[key])
            for key, item in generated_instances().items()
        )

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """The collections' files; Hurink's three folders are one group, as in the paper's table of splits."""
        refs = map(_in_its_group, list_instances(self.name, data_dir / self.name, reader.SUFFIXES))
        return tuple(sorted(refs, key=lambda ref: ref.key))

    def load(self, ref: InstanceRef) -> Instance:
        data = find_generated(ref.key) if ref.path is None else reader.read_instance(ref.path)
        return self._instance(ref.group, ref.name, data, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(smoke.OPTIMUM), "optimal", "Hurink, Jurisch and Thole 1994")
        return self._instance("hurink", "edata-mt06", smoke.mt06_edata(), reference)

    def _instance(
        self, group: str, name: str, data: reader.FlexibleShopData, reference: Reference | None
    ) -> Instance:
        return Instance(self.name, group, name, {"shop": data}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        shop = instance.data["shop"]
        return operator_environment(shop.n_machines, shop.op_counts, shop.machines, shop.times)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_state(instance.data["shop"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Machine, start and end per operation; :mod:`dga2d.domains.fjsp.solution` has the format."""
        require_feasible(self.verify(instance, state))
        shop = instance.data["shop"]
        return schedule_text(instance.key, shop.n_machines, schedule(choices_of(shop), state))
