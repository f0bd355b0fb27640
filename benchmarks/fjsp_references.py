"""Computes reference makespans of the generated flexible job shops with OR-Tools CP-SAT.

    python benchmarks/fjsp_references.py --out domains/fjsp/references.json

Instances already in the file are kept, so an interrupted run can be taken up again; ``--fresh`` starts over.
Where CP-SAT does not prove its schedule optimal, the safe baseline gets as much time, and the shorter of the
two schedules stands.
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
from dga2d.domains.core.contract import Instance
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.fjsp import DOMAIN
from dga2d.domains.fjsp.cp_sat import optimise
from dga2d.domains.fjsp.suite import generated_instances


def by_safe_baseline(instance: Instance, time_limit_s: float, cache: Path) -> int:
    """Verified makespan of the safe baseline."""
    environment = DOMAIN.environment(instance)
    runs = [load_implementation(step.implementation, cache) for step in DOMAIN.safe_baseline()]
    limits: tuple[tuple[float, Literal["s", "work"]], ...] = ((2000.0, "work"), (time_limit_s, "s"))
    for amount, unit in limits:  # the first run compiles
        budget = Budget(amount, unit, len(runs), clock=time.process_time)
        result = execute(runs, environment, DOMAIN.decoder(environment), budget, np.random.default_rng(0))
    return verified(instance, result.state)


def verified(instance: Instance, state: Any) -> int:
    """Makespan by the independent verifier."""
    objective = DOMAIN.verify(instance, state).objective
    assert objective is not None
    return int(objective)


def mean_load(instance: Instance) -> int:
    """Work of a machine where all share it and every operation takes its shortest time: a bound."""
    shop = instance.data["shop"]
    is_operation = (shop.machines >= 0).any(axis=2)
    shortest = np.where(shop.machines >= 0, shop.times, np.iinfo(np.int32).max).min(axis=2)
    return -int(-shortest[is_operation].sum() // shop.n_machines)


def reference(instance: Instance, time_limit_s: float, cache: Path) -> dict[str, Any]:
    """The entry of one instance."""
    solver = f"OR-Tools CP-SAT {version('ortools')}, {time_limit_s:g} s"
    answer = optimise(instance.data["shop"], time_limit_s, seed=0)
    makespan = None if answer is None else verified(instance, answer.state)
    if answer is not None and answer.is_proven:
        return {"makespan": makespan, "proven": True, "bound": makespan, "source": solver}
    bound = max(mean_load(instance), 0 if answer is None else int(np.ceil(answer.bound)))
    ours = by_safe_baseline(instance, time_limit_s, cache)
    source = solver
    if makespan is None or ours < makespan:
        makespan, source = (
            ours,
            f"safe baseline of DGA2D (tabu search and path relinking), {time_limit_s:g} s",
        )
    proven = makespan == bound
    known = f"bound by {solver} or the machines' mean load"
    return {"makespan": makespan, "proven": proven, "bound": bound, "source": f"{source}; {known}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds for each of the two methods")
    parser.add_argument("--fresh", action="store_true", help="ignore values already in the file")
    parser.add_argument("--group", help="only instances of this one")
    options = parser.parse_args()
    known = {} if options.fresh else read_references(options.out)
    with tempfile.TemporaryDirectory() as cache:
        for key, item in generated_instances().items():
            if key in known or options.group not in (None, item.group):
                continue
            instance = Instance("fjsp", item.group, item.name, {"shop": item.data()})
            known[key] = reference(instance, options.time_limit, Path(cache))
            print(key, known[key], flush=True)
            write(options.out, known)


def write(path: Path, references: dict[str, Any]) -> None:
    """Write the table with its provenance, keys sorted."""
    provenance = {
        "tool": f"OR-Tools CP-SAT {version('ortools')}, one worker, no hints",
        "seconds": "4.0 where the source does not say",
        "unproven": "the safe baseline had as many seconds; the shorter schedule stands",
    }
    write_references(path, provenance, references)


if __name__ == "__main__":
    main()
