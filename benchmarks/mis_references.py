"""Proves the one reference of the generated independent-set instances that the literature does not give.

    python benchmarks/mis_references.py

The smallest cover of the triple system behind ``steiner45`` (the product of the lines of PG(3, 2) with the
system of order 3) is found and proven by OR-Tools' CP-SAT in about a minute; the independence number follows.
All other references are theorems, named in ``domains/mis/references.json``.
"""

from __future__ import annotations

import argparse

from ortools.sat.python import cp_model

from dga2d.domains.mis.constructions import Triples, projective_triples, triple_system

POINTS = 45


def smallest_cover(triples: Triples, points: int, time_limit_s: float) -> int:
    """Fewest points that meet every triple; RuntimeError when it is not proven in time."""
    model = cp_model.CpModel()
    taken = [model.new_bool_var(f"p{point}") for point in range(points)]
    for triple in triples:
        model.add_bool_or(taken[point] for point in triple)
    model.minimize(sum(taken))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = time_limit_s
    status = solver.solve(model)
    if status != cp_model.OPTIMAL:
        raise RuntimeError(f"no proof in {time_limit_s} s: {solver.status_name(status)}")
    return round(solver.objective_value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for the proof")
    options = parser.parse_args()
    triples = triple_system(projective_triples(3), POINTS // 3)
    cover = smallest_cover(triples, POINTS, options.time_limit)
    print(f"steiner45: cover {cover}, independence number {len(triples) + POINTS - cover}")


if __name__ == "__main__":
    main()
