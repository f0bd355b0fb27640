"""Computes reference cuts of the generated graphs beside the G-set with two searches of the domain's library.

    python benchmarks/maxcut_references.py --out domains/maxcut/references.json

Times are processor time, so that a busy machine does no harm. Graphs already in the file with the same seed
are kept, so an interrupted run can be taken up again; ``--improve --seed 2`` goes through all of them once
more and keeps the heavier cut. No value is proven optimal.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from reference_table import read_references, write_references

from dga2d.domains.budget import Budget
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import pipeline
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.maxcut import DOMAIN
from dga2d.domains.maxcut.reader import operator_environment
from dga2d.domains.maxcut.suite import GeneratedInstance, further_instances
from dga2d.domains.maxcut.verifier import verify_sides

SEARCHES: Final = ("partition_crossover_annealing", "breakout_local_search")


def heaviest_cut(instance: GeneratedInstance, search: str, seconds: float, seed: int, cache: Path) -> int:
    """Weight of the cut that a search finds from the greedy construction, by the independent verifier."""
    data = fields_of(instance.graph())
    environment = operator_environment(**data)
    steps = pipeline(DOMAIN.operators(), "greedy_construction", search)
    runs = [load_implementation(step.implementation, cache) for step in steps]
    budget = Budget(seconds, "s", len(runs), clock=time.process_time)
    rng = np.random.Generator(np.random.Philox(seed))
    state = execute(runs, environment, DOMAIN.decoder(environment), budget, rng).state
    verdict = verify_sides(**data, state=state)
    assert verdict.objective is not None, verdict.violation
    return int(verdict.objective)


def entry_of(instance: GeneratedInstance, seconds: float, seed: int, cache: Path) -> dict[str, Any]:
    """The table's entry: the heavier of both searches' cuts."""
    cuts = {search: heaviest_cut(instance, search, seconds, seed, cache) for search in SEARCHES}
    by = max(cuts, key=lambda search: cuts[search])
    return {"seed": instance.seed, "value": cuts[by], "by": by, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time per graph and search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--improve", action="store_true", help="go through known graphs again")
    options = parser.parse_args()
    known = read_references(options.out)
    provenance = {"tools": " and ".join(SEARCHES)}
    with tempfile.TemporaryDirectory() as folder:
        for search in SEARCHES:
            heaviest_cut(further_instances()[0], search, 0.1, 0, Path(folder))  # compiles
        for instance in further_instances():
            key = f"{instance.group}/{instance.name}"
            old = known.get(key, {})
            is_known = old.get("seed") == instance.seed
            if is_known and not options.improve:
                continue
            new = entry_of(instance, options.seconds, options.seed, Path(folder))
            if not is_known or new["value"] > old["value"]:
                known[key] = new
            print(key, known[key]["value"], known[key]["by"], flush=True)
            write_references(options.out, provenance, known)


if __name__ == "__main__":
    main()
