"""Computes reference routes of the generated CVRP instances with PyVRP and the domain's own safe baseline.

    python benchmarks/cvrp_references.py --out domains/cvrp/references.json --seconds 60

Times are processor time, so that a busy machine does no harm. Instances already in the file are kept unless
their recipe changed, so an interrupted run can be taken up again; ``--improve`` goes through all of them
again and keeps the better value. None of the values is proven optimal.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from peers import pyvrp_state
from reference_table import read_references, write_references

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import State
from dga2d.domains.cvrp import DOMAIN
from dga2d.domains.cvrp.generator import generate
from dga2d.domains.cvrp.reader import RoutingData, operator_environment
from dga2d.domains.cvrp.suite import GeneratedInstance, generated_instances
from dga2d.domains.cvrp.verifier import distance_of, verify_routes
from dga2d.domains.execution import execute, load_implementation


def by_pyvrp(data: RoutingData, seconds: float, seed: int) -> int:
    """Length of PyVRP's routes, verified by the domain's own verifier."""
    return verified(data, pyvrp_state(data, seconds, seed, time.process_time))


def by_safe_baseline(data: RoutingData, seconds: float, seed: int, cache: Path) -> int:
    """Length of the safe baseline's routes, verified."""
    environment = operator_environment(data)
    runs = [load_implementation(step.implementation, cache) for step in DOMAIN.safe_baseline()]
    budget = Budget(seconds, "s", len(runs), clock=time.process_time)
    rng = np.random.Generator(np.random.Philox(seed))
    return verified(data, execute(runs, environment, DOMAIN.decoder(environment), budget, rng).state)


def verified(data: RoutingData, state: State) -> int:
    """Length of the routes by the independent verifier."""
    verdict = verify_routes(state.sequence, data.demands, data.capacity, distance_of(data))
    assert verdict.objective is not None, verdict.violation
    return int(verdict.objective)


def best_of(instance: GeneratedInstance, seconds: float, seed: int, cache: Path) -> dict[str, Any]:
    """The table's entry for an instance: the better of the two methods."""
    data = generate(instance.recipe)
    lengths = {
        "safe baseline": by_safe_baseline(data, seconds, seed, cache),
        "PyVRP": by_pyvrp(data, seconds, seed),
    }
    method = min(lengths, key=lambda name: lengths[name])
    recipe = instance.recipe._asdict()
    return {"recipe": recipe, "value": lengths[method], "by": method, "seconds": seconds, "proven": False}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time per instance and method")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--improve", action="store_true", help="go through known instances again")
    options = parser.parse_args()
    known = read_references(options.out)
    with tempfile.TemporaryDirectory() as cache:
        by_safe_baseline(generate(generated_instances()[0].recipe), 0.1, 0, Path(cache))  # compiles
        for instance in sorted(generated_instances(), key=lambda item: item.recipe.n_customers):
            key = f"{instance.group}/{instance.name}"
            old = known.get(key, {})
            is_known = old.get("recipe") == instance.recipe._asdict()
            if is_known and not options.improve:
                continue
            entry = best_of(instance, options.seconds, options.seed, Path(cache))
            if not is_known or entry["value"] <= old["value"]:
                known[key] = entry
            print(key, old.get("value"), known[key]["value"], known[key].get("by"), flush=True)
            write(options.out, known)


def write(path: Path, references: dict[str, Any]) -> None:
    """Write the table with its provenance, keys sorted."""
    provenance = {
        "tool": "PyVRP",
        "version": version("pyvrp"),
        "effort": "the better of PyVRP and the domain's own safe baseline; not proven",
    }
    write_references(path, provenance, references)


if __name__ == "__main__":
    main()
