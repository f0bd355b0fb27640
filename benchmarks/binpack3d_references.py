"""Computes references of the generated bin packing instances with the safe baseline.

    python benchmarks/binpack3d_references.py --out domains/binpack3d/references.json --base 0.1 --per-item
    0.005

Each instance gets ``base + per-item * n`` seconds of process time. A score already in the file is kept
where it is not beaten, so that a longer run, or one with another seed, only improves the table; an
interrupted run can be taken up again with ``--skip-known``. Every packing is checked by the independent
verifier.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from reference_table import read_references

from dga2d.domains.binpack3d import DOMAIN
from dga2d.domains.binpack3d.bounds import continuous_bound, l2_bound
from dga2d.domains.binpack3d.generator import GeneratedInstance, generated_instances
from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance
from dga2d.domains.execution import Run, execute, load_implementation


def best_score(instance: Instance, runs: list[Run], seconds: float, seed: int) -> float:
    """Verified score of the safe baseline after `seconds` of process time."""
    environment = DOMAIN.environment(instance)
    budget = Budget(seconds, "s", len(runs), clock=time.process_time)
    rng = np.random.Generator(np.random.Philox(seed))
    result = execute(runs, environment, DOMAIN.decoder(environment), budget, rng)
    verdict = DOMAIN.verify(instance, result.state)
    assert verdict.objective is not None, verdict.violation
    return verdict.objective


def row(generated: GeneratedInstance, score: float, effort: str) -> dict[str, Any]:
    """The table's entry of an instance."""
    data = generated.data()
    bounds = {
        "l0": continuous_bound(data.bin_size, data.item_sizes),
        "l2": l2_bound(data.bin_size, data.item_sizes),
    }
    return {"score": score, "bins": int(score), **bounds, "effort": effort}


def write(path: Path, references: dict[str, Any]) -> None:
    """Write the table, one instance per line, keys sorted."""
    about = (
        "Best scores found (bins + 0.1 * empty share of the last bin), their bins, and "
        "the lower bounds L0 and L2 "
        "of Martello, Pisinger and Vigo (2000); benchmarks/binpack3d_references.py"
    )
    lines = [f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in sorted(references.items())]
    text = f'{{\n "_about": {json.dumps(about)},\n "references": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=float, default=0.1, help="seconds per instance")
    parser.add_argument("--per-item", type=float, default=0.005, help="seconds per item")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip-known", action="store_true", help="only instances that are not in the file")
    options = parser.parse_args()
    known = read_references(options.out)
    with tempfile.TemporaryDirectory() as cache:
        runs = [load_implementation(step.implementation, Path(cache)) for step in DOMAIN.safe_baseline()]
        best_score(DOMAIN.smoke_instance(), runs, 0.01, 0)  # compiles
        for generated in generated_instances():
            key = f"{generated.group}/{generated.name}"
            if key in known and options.skip_known:
                continue
            data = generated.data()
            arrays = {"bin_size": data.bin_size, "item_sizes": data.item_sizes}
            instance = Instance("binpack3d", generated.group, generated.name, arrays)
            seconds = options.base + options.per_item * generated.size
            score = best_score(instance, runs, seconds, options.seed)
            if key not in known or score < known[key]["score"]:
                known[key] = row(generated, score, f"{seconds:g} s of process time")
            print(key, known[key]["score"], known[key]["l2"], flush=True)
            write(options.out, known)


if __name__ == "__main__":
    main()
