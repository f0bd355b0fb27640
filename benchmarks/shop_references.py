"""Computes reference makespans of the generated shops that nobody published.

    python benchmarks/shop_references.py ossp --cp-sat 60 --baseline 20
    python benchmarks/shop_references.py jsp --baseline 300
    python benchmarks/shop_references.py fssp --baseline 20 --group random

CP-SAT comes first, one thread, no hints, and the safe baseline has the seconds that ``--baseline`` says on
what is not proven optimal; the shorter schedule stands, by the domain's own verifier. Entries that are
there, in ``domains/DOMAIN/references.json``, are kept unless these methods are better: a run that was
interrupted can be taken up again with other limits and seeds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from reference_table import read_references, write_references

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Domain, Instance, InstanceRef, State
from dga2d.domains.core.registry import get_domain
from dga2d.domains.execution import Run, execute, load_implementation
from dga2d.domains.shared.shops.cp_sat import optimise_shop
from dga2d.domains.shared.shops.domain import ShopDomain

ROOT = Path(__file__).parents[1] / "domains"


def shortest_possible(domain: str, instance: Instance) -> int:
    """Return a time, in those of the instance, that no schedule is shorter than.

    It is that of the longest job or of the busiest machine. Where jobs have an order of operations, a machine
    also waits until one can come to it first, and what follows its last one comes after.
    """
    times = instance.data["times"]
    machines = instance.data.get("machines", np.tile(np.arange(times.shape[1]), (len(times), 1)))
    bounds = [times.sum(axis=1).max()]
    for machine in range(machines.max() + 1):
        on_machine = machines == machine
        load = times[on_machine].sum()
        if domain != "ossp":
            heads = (times.cumsum(axis=1) - times)[on_machine]
            tails = (times[:, ::-1].cumsum(axis=1)[:, ::-1] - times)[on_machine]
            load += heads.min() + tails.min()
        bounds.append(load)
    return int(max(bounds))


def verified(domain: Domain, instance: Instance, state: State) -> int:
    """Makespan by the independent verifier."""
    objective = domain.verify(instance, state).objective
    assert objective is not None
    return int(objective)


def by_cp_sat(domain: Domain, instance: Instance, seconds: float, seed: int) -> dict[str, Any] | None:
    """The entry of CP-SAT's schedule, of an open shop."""
    times = instance.data["times"]
    answer = optimise_shop(None, times, False, seconds, seed, 1)
    if answer is None:
        return None
    makespan = verified(domain, instance, State(answer.order.astype(np.int32)))
    solver = f"OR-Tools CP-SAT {version('ortools')}"
    return {"makespan": makespan, "bound": answer.bound, "source": f"{solver}, {seconds:g} s on one core"}


def by_baseline(
    domain: Domain, instance: Instance, runs: list[Run], seconds: float, seed: int
) -> dict[str, Any]:
    """The entry of the safe baseline's schedule in `seconds` of processor time."""
    environment = domain.environment(instance)
    limits: tuple[tuple[float, Literal["s", "work"]], ...] = ((2000.0, "work"), (seconds, "s"))
    for amount, unit in limits:  # the first run compiles
        budget = Budget(amount, unit, len(runs), clock=time.process_time)
        rng = np.random.default_rng(seed)
        result = execute(runs, environment, domain.decoder(environment), budget, rng)
    names = " → ".join(step.operator for step in domain.safe_baseline())
    makespan = verified(domain, instance, result.state)
    return {"makespan": makespan, "bound": 0, "source": f"{names} of DGA2D, {seconds:g} s on one core"}


def merged(old: dict[str, Any] | None, new: dict[str, Any] | None, bound: int) -> dict[str, Any]:
    """The shorter of two schedules with the better of the bounds."""
    found = [entry for entry in (old, new) if entry is not None]
    best = min(found, key=lambda entry: entry["makespan"])
    bound = max(bound, *(entry["bound"] for entry in found))
    return {**best, "bound": bound, "proven": bound == best["makespan"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domain", choices=["fssp", "jsp", "ossp"])
    parser.add_argument("--cp-sat", type=float, default=0.0, metavar="SECONDS", help="open shops only")
    parser.add_argument("--baseline", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--group", help="one of the groups; default: all")
    parser.add_argument("--only", nargs="*", help="names of instances; default: all")
    options = parser.parse_args()
    domain = get_domain(options.domain)
    assert isinstance(domain, ShopDomain)
    path = ROOT / options.domain / "references.json"
    known = read_references(path)
    with tempfile.TemporaryDirectory() as folder:
        runs = [load_implementation(step.implementation, Path(folder)) for step in domain.safe_baseline()]
        groups = [group for group in domain.own_groups if options.group in (None, group)]
        own = [(group, name) for group in groups for name in domain.own_groups[group]()]
        for group, name in own:
            key = f"{group}/{name}"
            if (options.only and name not in options.only) or known.get(key, {}).get("proven"):
                continue
            instance = domain.load(InstanceRef(options.domain, group, name, None))
            bound = shortest_possible(options.domain, instance)
            entry = merged(known[key], None, bound) if key in known else None
            if options.cp_sat and options.domain == "ossp":
                entry = merged(entry, by_cp_sat(domain, instance, options.cp_sat, options.seed), bound)
            if options.baseline and (entry is None or entry["makespan"] > entry["bound"]):
                new = by_baseline(domain, instance, runs, options.baseline, options.seed)
                entry = merged(entry, new, bound)
            if entry is not None:
                known[key] = entry
                print(key, entry, flush=True)
                write_references(path, {"made by": "benchmarks/shop_references.py"}, known)


if __name__ == "__main__":
    main()
