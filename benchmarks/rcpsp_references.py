"""Computes reference makespans of the generated projects with CP-SAT (OR-Tools).

    python benchmarks/rcpsp_references.py --out domains/rcpsp/references.json --seconds 60

Instances already in the file are kept, so an interrupted run can be taken up again; ``--fresh`` starts over,
``--open`` solves again those whose value is not proven optimal and keeps the better value and bound.
``--baseline SECONDS`` then runs the domain's safe baseline, or the pipeline that ``--operators`` names, on
what is still open (of one ``--group``) and keeps shorter schedules; an entry says what found its value.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from reference_table import read_references, write_references

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance
from dga2d.domains.core.library import pipeline
from dga2d.domains.execution import Run, execute, load_implementation
from dga2d.domains.rcpsp import DOMAIN
from dga2d.domains.rcpsp.cp_sat import solve_project
from dga2d.domains.rcpsp.progen import Design, designs
from dga2d.domains.rcpsp.verifier import schedule_violation

WORKERS = 1


def solved(design: Design, seconds: int, old: dict[str, Any] | None) -> dict[str, Any]:
    """Value and bound; the better ones of this run and an older entry."""
    data = design.project().data()
    result = solve_project(data, seconds, seed=0, workers=WORKERS)
    assert result is not None
    assert schedule_violation(data, result.starts) is None
    value, bound = result.makespan, result.bound
    if old is not None and old["value"] <= value:
        return {**old, "bound": max(bound, old["bound"])}
    return {"value": value, "bound": bound, "by": "CP-SAT", "seconds": seconds, "seed": design.seed}


def improved(
    design: Design, runs: list[Run], seconds: int, old: dict[str, Any], by: str = "safe baseline"
) -> dict[str, Any]:
    """The old entry, or one with the shorter schedule of `runs` in `seconds` of processor time."""
    instance = Instance(DOMAIN.name, design.group, design.name, design.project().data())
    environment = DOMAIN.environment(instance)
    for amount, unit in ((2000.0, "work"), (float(seconds), "s")):  # the first run compiles
        budget = Budget(amount, unit, len(runs), clock=time.process_time)  # type: ignore[arg-type]
        rng = np.random.Generator(np.random.Philox(design.seed))
        state = execute(runs, environment, DOMAIN.decoder(environment), budget, rng).state
    value = DOMAIN.verify(instance, state).objective
    assert value is not None
    if value >= old["value"]:
        return old
    return {**old, "value": int(value), "by": by, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60, help="time limit per instance")
    parser.add_argument("--fresh", action="store_true", help="ignore values already in the file")
    parser.add_argument("--open", action="store_true", help="try again what is not proven")
    parser.add_argument("--baseline", type=int, metavar="SECONDS", help="improve open values")
    parser.add_argument("--operators", nargs="+", metavar="OPERATOR", help="instead of the safe baseline's")
    parser.add_argument("--group", help="improve only this one")
    options = parser.parse_args()
    known = {} if options.fresh else read_references(options.out)
    for design in sorted(designs(), key=lambda item: item.n_activities):
        key = f"{design.group}/{design.name}"
        old = known.get(key)
        if old is not None and not (options.open and old["bound"] < old["value"]):
            continue
        known[key] = solved(design, options.seconds, old)
        print(key, known[key], flush=True)
        write(options.out, known)
    if options.baseline is not None:
        improve(options, known)


def improve(options: argparse.Namespace, known: dict[str, Any]) -> None:
    """Run a pipeline on every instance whose value is not proven optimal."""
    steps, by = DOMAIN.safe_baseline(), "safe baseline"
    if options.operators is not None:
        steps, by = pipeline(DOMAIN.operators(), *options.operators), ", ".join(options.operators)
    with tempfile.TemporaryDirectory() as folder:
        runs = [load_implementation(step.implementation, Path(folder)) for step in steps]
        for design in designs():
            key = f"{design.group}/{design.name}"
            if options.group in (None, design.group) and known[key]["bound"] < known[key]["value"]:
                known[key] = improved(design, runs, options.baseline, known[key], by)
                print(key, known[key], flush=True)
                write(options.out, known)


def write(path: Path, references: dict[str, Any]) -> None:
    """Write the table with its provenance, keys sorted."""
    provenance = {"tool": f"CP-SAT of OR-Tools {version('ortools')}", "workers": WORKERS}
    write_references(path, provenance, references)


if __name__ == "__main__":
    main()
