"""Computes reference tours of the generated TSP instances with LKH (PyPI package ``elkai``).

    python benchmarks/tsp_references.py --out domains/tsp/references.json

Instances already in the file are kept, so an interrupted run can be taken up again; ``--fresh`` starts over.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import Any

import elkai
import numpy as np
from reference_table import read_references, write_references

from dga2d.domains.tsp.reader import euc_2d_matrix
from dga2d.domains.tsp.suite import GeneratedInstance, generated_instances


def best_length(instance: GeneratedInstance, runs: int) -> int:
    """Length of the best tour of `runs` LKH runs, computed from the tour itself."""
    distances = euc_2d_matrix(instance.cities())
    tour = np.array(elkai.DistanceMatrix(distances.tolist()).solve_tsp(runs=runs))
    assert sorted(tour[:-1].tolist()) == list(range(instance.size))
    return int(distances[tour[:-1], tour[1:]].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3, help="LKH runs per instance")
    parser.add_argument("--fresh", action="store_true", help="ignore values already in the file")
    options = parser.parse_args()
    known = {} if options.fresh else read_references(options.out)
    for instance in sorted(generated_instances(), key=lambda item: item.size):
        key = f"{instance.group}/{instance.name}"
        if key in known:
            continue
        value = best_length(instance, options.runs)
        known[key] = {"size": instance.size, "seed": instance.seed, "value": value, "kind": "computed"}
        print(key, value, flush=True)
        write(options.out, options.runs, known)


def write(path: Path, runs: int, references: dict[str, Any]) -> None:
    """Write the table with its provenance, keys sorted."""
    provenance = {
        "tool": "LKH 3 through elkai",
        "version": version("elkai"),
        "runs": runs,
        "effort": "default parameters, as many trials per run as cities",
    }
    write_references(path, provenance, references)


if __name__ == "__main__":
    main()
