"""Computes the optima of the generated assembly lines with OR-Tools CP-SAT.

    python benchmarks/salbp1_references.py --out domains/salbp1/references.json

Every optimum is proven; the script stops at a line where the limit does not suffice.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path

from dga2d.domains.salbp1.cp_sat import solve_with_status
from dga2d.domains.salbp1.generator import Setting, generate, small_set
from dga2d.domains.salbp1.verifier import line_violation


def optimum(name: str, setting: Setting, limit_s: float) -> int:
    """Fewest stations of one line, proven; the line found is checked by the independent verifier."""
    data = generate(setting)
    station_of, is_proven = solve_with_status(data, limit_s, seed=0)
    if station_of is None or not is_proven:
        raise SystemExit(f"{name}: not proven within {limit_s} s")
    stations = [
        [task for task, station in enumerate(station_of) if station == k] for k in range(max(station_of) + 1)
    ]
    violation = line_violation(data.cycle_time, data.times, data.edges, stations)
    if violation is not None:
        raise SystemExit(f"{name}: {violation}")
    return len(stations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds per line (default 120)")
    options = parser.parse_args()
    optima = [optimum(name, setting, options.limit) for name, setting in small_set().items()]
    provenance = f"OR-Tools CP-SAT {version('ortools')}, one worker, proven optimal"
    table = {"provenance": provenance, "optima": optima}
    options.out.write_text(json.dumps(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
