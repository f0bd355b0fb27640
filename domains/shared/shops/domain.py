"""What the job, flow and open shop have in common as domains: Taillard's instances, schedules, charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, InstanceRef, Part, State, Verdict, require_feasible
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import reference_of, shipped_makespans, shipped_table
from dga2d.domains.drawing import Drawing, Panel, Task, gantt_panel
from dga2d.domains.shared.shops.files import TABLE, schedule_text

SEEDS = ("jobs", "machines", "time_seed", "machine_seed")
"""What Taillard's generators take, in their order; the flow shop's needs no machine seed."""


class OwnShop(Protocol):
    """An instance that the program makes itself and that nobody published."""

    @property
    def part(self) -> Part | None:
        """Split that it is put into, as in `InstanceRef`; ``None``: it is drawn."""

    def data(self) -> Any:
        """Return the instance's data, a dataclass."""


class ShopDomain(LibraryDomain):
    """A shop whose instances have a table ``times``, int32 `(jobs, operations)`, and perhaps others.

    Its package has the table of Taillard's instances and a module ``taillard`` with their generator, and
    ``references.json`` with makespans of `own_groups` (``benchmarks/shop_references.py``). The
    functions of its modules ``reader`` and ``verifier`` take the tables that `tables` names, in that order.
    """

    group: ClassVar[str]
    """Benchmark group of Taillard's instances."""
    tables: ClassVar[tuple[str, ...]] = ("times",)
    """Names of the tables of an instance."""
    own_groups: ClassVar[Mapping[str, Callable[[], Mapping[str, OwnShop]]]] = {}
    """Functions that return the program's own instances of a benchmark group by name."""
    only_named: ClassVar[frozenset[str]] = frozenset()
    """Groups among `own_groups` that a run is for only where it names them."""
    rehearsed: ClassVar[tuple[int, ...]]
    """Jobs, machines and seeds of the rehearsal instance, as the generator takes them."""

    def verify(self, instance: Instance, state: State) -> Verdict:
        verdict: Verdict = self._module("verifier").verify_sequence(*self._tables(instance), state)
        return verdict

    def starts(self, instance: Instance, state: State) -> NDArray[np.int64]:
        """Return the start time of each operation, int64 `(jobs, operations)`, of a valid solution."""
        starts: NDArray[np.int64] = self._module("verifier").schedule(*self._tables(instance), state.sequence)
        return starts

    @property
    def _taillard(self) -> Mapping[str, Mapping[str, Any]]:
        instances: Mapping[str, Mapping[str, Any]] = shipped_table(self._package, TABLE)["instances"]
        return instances

    def _tables(self, instance: Instance) -> tuple[NDArray[np.int32], ...]:
        return tuple(instance.data[name] for name in self.tables)

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return Taillard's instances, whose published files hold the same numbers, and those of our own."""
        found = [
            InstanceRef(self.name, self.group, name, None, reference_of(TABLE, name, entry))
            for name, entry in self._taillard.items()
        ]
        known = shipped_makespans(self._package) if self.own_groups else {}
        for group, shops in self.own_groups.items():
            for name, shop in shops().items():
                reference, only_named = known[f"{group}/{name}"], group in self.only_named
                found.append(InstanceRef(self.name, group, name, None, reference, shop.part, only_named))
        return tuple(sorted(found, key=lambda ref: ref.key))

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        if ref.group in self.own_groups:
            shops = self.own_groups[ref.group]()
            return fields_of(shops[ref.name].data()) if ref.name in shops else None
        entry = self._taillard.get(ref.name)
        return None if entry is None else self._generate(*(entry[key] for key in SEEDS if key in entry))

    def rehearsal_data(self) -> Mapping[str, Any]:
        return self._generate(*self.rehearsed)

    def _generate(self, *numbers: int) -> Mapping[str, Any]:
        return fields_of(self._module("taillard").generate(*numbers))

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in the package's module ``verifier``."""
        objective = require_feasible(self.verify(instance, state))
        start_times = self._module("verifier").START_TIMES
        return schedule_text(instance.key, start_times, self.starts(instance, state), int(objective))

    def picture(self, instance: Instance, state: State) -> Drawing:
        """Draw the Gantt chart of the schedule: a row per machine, a colour and pattern per job."""
        objective = require_feasible(self.verify(instance, state))
        times = instance.data["times"]
        in_order = np.broadcast_to(np.arange(times.shape[1]), times.shape)
        chart = shop_panel(
            instance.data.get("machines", in_order), times, self.starts(instance, state), objective
        )
        return Drawing(f"{instance.key}: makespan {objective:g}", ((chart,),))


def shop_panel(machines: NDArray[Any], times: NDArray[Any], starts: NDArray[Any], makespan: float) -> Panel:
    """Return the chart of a shop: machine, time and start of each operation, integers `(jobs, operations)`.

    Jobs, operations and machines count from 0, as in the files.
    """
    rows = zip(machines.tolist(), times.tolist(), starts.tolist(), strict=True)
    tasks = (
        Task(
            machine,
            start,
            start + time,
            job,
            f"job {job}, operation {k}, machine {machine}: {start} to {start + time}",
            f"{job}",
        )
        for job, row in enumerate(rows)
        for k, (machine, time, start) in enumerate(zip(*row, strict=True))
    )
    return gantt_panel(
        tasks,
        [str(machine) for machine in range(times.shape[1])],
        "time",
        "machine",
        limit=(makespan, "makespan"),
        categories=[f"job {job}" for job in range(len(times))],
    )
