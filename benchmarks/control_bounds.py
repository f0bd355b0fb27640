"""Writes ``domains/control/bounds.json``: what an episode costs whose plant and future are known.

    pip install "dga2d[casadi]"
    python benchmarks/control_bounds.py

For every design and test instance an optimal control problem is solved for the plant's own parameters: direct
multiple shooting by IPOPT on the very steps that the plant takes, inputs held for 0.02 s and bounded, the
infinite-horizon cost of the linear-quadratic regulator after 6 seconds. IPOPT begins from the best of many
local optima that differential dynamic programming finds from random first guesses. The figure stored is
IPOPT's, where it ends at an optimum whose steps are the plant's to 1e-6; nothing proves that the optimum is a
global one: problems of swinging up have many.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from dga2d.domains.control import DOMAIN
from dga2d.domains.control.plants import ANGLES, DT, INPUT_WEIGHT, SUBSTEPS, SYSTEMS
from dga2d.domains.core.contract import Instance
from dga2d.domains.execution import load_implementation
from dga2d.runtime.user_files import cache_dir

HORIZON = 300
GUESSES = 40
POLISHED = 3
TABLE = Path(__file__).parents[1] / "domains" / "control" / "bounds.json"
Vector = NDArray[np.float64]


def planner() -> dict[str, Any]:
    """Return the functions of the library's trajectory optimisation."""
    operator = next(op for op in DOMAIN.operators() if op.id == "trajectory_optimisation")
    found: dict[str, Any] = load_implementation(operator.implementations[0], cache_dir()).__globals__
    return found


class Problem:
    """The optimal control problem of a system; parameters and initial state are given later."""

    def __init__(self, system: str) -> None:
        known = SYSTEMS[system]
        n, count = len(known.initial), len(known.nominal)
        p, x, u = ca.SX.sym("p", count), ca.SX.sym("x", n), ca.SX.sym("u")
        rates = ca.Function("rates", [x, u, p], [_rates(known.model, x, u, p)])
        h, y = DT / SUBSTEPS, x
        for _ in range(SUBSTEPS):
            a = rates(y, u, p)
            b = rates(y + h / 2 * a, u, p)
            c = rates(y + h / 2 * b, u, p)
            d = rates(y + h * c, u, p)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        step = ca.Function("step", [x, u, p], [y])
        error = ca.vertcat(*[_wrapped(x[i]) if i in ANGLES[known.model] else x[i] for i in range(n)])
        stage = ca.Function("stage", [x, u], [ca.sumsqr(error) + INPUT_WEIGHT * u * u])
        ending = ca.SX.sym("P", n, n)
        last = ca.Function("last", [x, ending], [error.T @ ending @ error])
        xs, us = ca.MX.sym("xs", n, HORIZON + 1), ca.MX.sym("us", 1, HORIZON)
        start, ps, final = ca.MX.sym("x0", n), ca.MX.sym("ps", count), ca.MX.sym("final", n, n)
        after = step.map(HORIZON)(xs[:, :-1], us, ca.repmat(ps, 1, HORIZON))
        cost = ca.sum2(stage.map(HORIZON)(xs[:, :-1], us)) + last(xs[:, -1], final)
        self._n = n
        self._bound = known.bound
        self._solver = ca.nlpsol(
            "episode",
            "ipopt",
            {
                "x": ca.vertcat(ca.vec(xs), ca.vec(us)),
                "f": cost,
                "g": ca.vertcat(xs[:, 0] - start, ca.vec(after - xs[:, 1:])),
                "p": ca.vertcat(start, ps, ca.vec(final)),
            },
            {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes", "ipopt.max_iter": 400},
        )

    def solved(self, xs: Vector, us: Vector, parameters: Vector, final: Vector) -> float:
        """Return the cost of the optimum next to a first guess; infinite where IPOPT finds none."""
        free = np.full(xs.size, np.inf)
        bounds = np.concatenate([free, np.full(HORIZON, self._bound)])
        answer = self._solver(
            x0=np.concatenate([xs.ravel(), us]),
            p=np.concatenate([xs[0], parameters, final.ravel()]),
            lbx=-bounds,
            ubx=bounds,
            lbg=0.0,
            ubg=0.0,
        )
        is_found = self._solver.stats()["success"] and float(ca.norm_inf(answer["g"])) < 1e-6
        return float(answer["f"]) if is_found else np.inf


def _wrapped(angle: Any) -> Any:
    return ca.atan2(ca.sin(angle), ca.cos(angle))


def _rates(model: str, x: Any, u: Any, p: Any) -> Any:
    if model == "linear":
        n = x.numel()
        return ca.reshape(p[: n * n], n, n).T @ x + p[n * n :] * u
    if model == "pendulum":
        return ca.vertcat(x[1], p[2] / p[1] * ca.sin(x[0]) + u / (p[0] * p[1] ** 2))
    c, s = ca.cos(x[1]), ca.sin(x[1])
    acceleration = (u + p[1] * s * (p[2] * x[3] ** 2 - p[3] * c)) / (p[0] + p[1] * s**2)
    return ca.vertcat(x[2], x[3], acceleration, (p[3] * s - acceleration * c) / p[2])


def bound_of(instance: Instance, problem: Problem, library: dict[str, Any]) -> tuple[float, float]:
    """Return the least cost that IPOPT finds for an instance, and the one before it."""
    known, data = SYSTEMS[instance.group], instance.data
    p, x0 = np.array(data["parameters"]), np.array(data["x0"])
    environment = DOMAIN.environment(instance) | {"parameters": p}
    gain, final = library["regulator"](environment, p, environment["target"], INPUT_WEIGHT)
    is_angle = np.zeros(x0.size, np.bool_)
    is_angle[environment["angles"]] = True
    number = library["model_number"](environment)
    library |= {"HORIZON": HORIZON, "GUESSES": GUESSES}
    found = []
    for us, old, feedback in library["first_guesses"](
        np.random.default_rng(1), gain, np.zeros(x0.size), known.bound
    ):
        better, cost, xs, _ = library["improved"](
            *(number, p, x0, us, old, feedback, known.bound, DT, INPUT_WEIGHT),
            *(np.zeros(x0.size), is_angle, final, 60, 1e-9),
        )
        found.append((cost, better, xs))
    found.sort(key=lambda each: each[0])
    return min(problem.solved(xs, us, p, final) for _, us, xs in found[:POLISHED]), found[0][0]


def main() -> None:
    """Compute the bounds of the systems that are named, all by default, and write them into the table."""
    table: dict[str, float] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    library = planner()
    for system in sys.argv[1:] or list(SYSTEMS):
        problem = Problem(system)
        for ref in DOMAIN.generated():
            if ref.group != system or ref.part == "validation" or f"{ref.group}/{ref.name}" in table:
                continue
            by_ipopt, before = bound_of(DOMAIN.load(ref), problem, library)
            if by_ipopt < np.inf:
                table[f"{ref.group}/{ref.name}"] = round(by_ipopt, 6)
            print(f"{ref.group}/{ref.name} IPOPT {by_ipopt:.4f}, before it {before:.4f}", flush=True)
            TABLE.write_text(json.dumps(dict(sorted(table.items())), indent=0) + "\n")


if __name__ == "__main__":
    main()
