"""Classical root finders, as baselines beside the library's pipelines: counted by the domain's own oracle.

Settings where the paper states none: brackets grow from the initial guess by doubling, all counted;
derivatives are evaluations, and a column of a Jacobian is one; every method stops at a residual of 1e-8 and
fails after 1,000 evaluations. `N_iter` is the method's own count of iterations, as the paper has it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from dga2d.domains.budget import Budget
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Instance, PipelineStep
from dga2d.domains.core.oracle import Ask, with_record
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.rootfind import DOMAIN
from dga2d.domains.rootfind.families import RADIUS, SEEDS, TOLERANCE
from dga2d.domains.rootfind.oracle import make_oracle
from dga2d.domains.rootfind.verifier import largest_residual, score
from dga2d.runtime.user_files import cache_dir

Vector = NDArray[np.float64]
Method = Callable[[Ask, Vector], tuple[Vector, int]]
"""Solves by asking from an initial guess; gives the root and its iterations."""
MOST_ITERATIONS = 300
PAPER: Mapping[str, Sequence[float | None]] = {
    "Bisection": (0.73, 0.04, 0.73, None),
    "Brent": (0.80, 0.10, 0.80, None),
    "Newton": (0.82, 0.77, 0.83, None),
    "Secant": (0.83, 0.78, 0.86, None),
    "Steffensen": (0.81, 0.78, 0.78, None),
    "Halley": (0.83, 0.78, 0.83, None),
    "Newton (damped)": (None, None, None, 0.83),
    "Broyden": (None, None, None, 0.84),
    "Anderson": (None, None, None, 0.83),
    "SciPy (hybr)": (None, None, None, 0.82),
    "DGA2D": (0.86, 0.85, 0.84, 0.88),
    "EoH": (None, -0.58, -1.29, 0.88),
}
"""The paper's table, by family in the order of `SEEDS`; the issue asks for 0.86 in the third column of
DGA2D."""


class Failed(Exception):
    """The method found no root."""


def value(ask: Ask, x: Any) -> Vector:
    """Return f at one point."""
    row = np.concatenate([[0.0], np.reshape(x, -1)])
    return np.asarray(ask(row[None])[0])


def derivatives(ask: Ask, x: float, order: int) -> list[float]:
    """Return f and its derivatives in one variable."""
    return [float(v) for v in ask(np.column_stack([np.arange(order + 1.0), np.full(order + 1, x)]))[:, 0]]


def jacobian(ask: Ask, x: Vector) -> tuple[Vector, Vector]:
    """Return F and its Jacobian in two variables."""
    answers = ask(np.column_stack([np.arange(3.0), np.tile(x, (3, 1))]))
    return answers[0], answers[1:].T


def bracket(ask: Ask, x0: Vector) -> tuple[float, float, float, float]:
    """Return an interval with a change of sign, grown from the guess by doubling; its ends are evaluated
    anew."""
    reach = RADIUS / 8.0
    for _ in range(8):
        a, b = float(x0[0]) - reach, float(x0[0]) + reach
        fa, fb = (float(value(ask, x)[0]) for x in (a, b))
        if fa * fb <= 0.0:
            return a, fa, b, fb
        reach *= 2.0
    raise Failed("no change of sign")


def bisection(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    a, fa, b, _ = bracket(ask, x0)
    for number in range(1, MOST_ITERATIONS):
        middle = 0.5 * (a + b)
        fm = float(value(ask, middle)[0])
        if abs(fm) <= TOLERANCE:
            return np.array([middle]), number
        if fa * fm < 0.0:
            b = middle
        else:
            a, fa = middle, fm
    raise Failed


def brent(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    a, fa, b, fb = bracket(ask, x0)
    known = {a: fa, b: fb}  # brentq asks for the ends again
    if min(abs(fa), abs(fb)) <= TOLERANCE:
        return np.array([a if abs(fa) < abs(fb) else b]), 1

    def f(x: float) -> float:
        y = known.pop(x) if x in known else float(value(ask, x)[0])
        return 0.0 if abs(y) <= TOLERANCE else y

    root, report = optimize.brentq(f, a, b, xtol=1e-15, rtol=1e-14, full_output=True)
    return np.array([root]), int(report.iterations)


def newton(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    x = float(x0[0])
    for number in range(1, MOST_ITERATIONS):
        y, slope = derivatives(ask, x, 1)
        if abs(y) <= TOLERANCE:
            return np.array([x]), number
        x -= y / slope
    raise Failed


def halley(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    x = float(x0[0])
    for number in range(1, MOST_ITERATIONS):
        y, slope, bend = derivatives(ask, x, 2)
        if abs(y) <= TOLERANCE:
            return np.array([x]), number
        x -= 2.0 * y * slope / (2.0 * slope * slope - y * bend)
    raise Failed


def secant(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    a = float(x0[0])
    b = a + 1e-2
    fa, fb = (float(value(ask, x)[0]) for x in (a, b))
    for number in range(1, MOST_ITERATIONS):
        a, fa, b = b, fb, b - fb * (b - a) / (fb - fa)
        fb = float(value(ask, b)[0])
        if abs(fb) <= TOLERANCE:
            return np.array([b]), number
    raise Failed


def steffensen(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    x = float(x0[0])
    for number in range(1, MOST_ITERATIONS):
        y = float(value(ask, x)[0])
        if abs(y) <= TOLERANCE:
            return np.array([x]), number
        x -= y * y / (float(value(ask, x + y)[0]) - y)
    raise Failed


def damped_newton(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    x = x0
    y, matrix = jacobian(ask, x)
    for number in range(1, MOST_ITERATIONS):
        step, length = np.linalg.solve(matrix, y), 1.0
        while np.linalg.norm(value(ask, x - length * step)) > (1.0 - 1e-4 * length) * np.linalg.norm(y):
            length *= 0.5
        x = x - length * step
        y, matrix = jacobian(ask, x)
        if np.abs(y).max() <= TOLERANCE:
            return x, number
    raise Failed


def broyden(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    x = x0
    y, matrix = jacobian(ask, x)
    for number in range(1, MOST_ITERATIONS):
        step = -np.linalg.solve(matrix, y)
        x, before = x + step, y
        y = value(ask, x)
        if np.abs(y).max() <= TOLERANCE:
            return x, number
        matrix = matrix + np.outer(y - before - matrix @ step, step) / (step @ step)
    raise Failed


def anderson(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    """Anderson mixing of x - F(x) / 2 with a history of two."""
    points, values = [x0], [value(ask, x0)]
    for number in range(1, MOST_ITERATIONS):
        x, y = points[-1], -0.5 * values[-1]
        if len(points) > 1:
            moves = np.array([points[i + 1] - points[i] for i in range(len(points) - 1)]).T
            changes = np.array([-0.5 * (values[i + 1] - values[i]) for i in range(len(points) - 1)]).T
            weights = np.linalg.lstsq(changes, y, rcond=None)[0]
            new = x + y - (moves + changes) @ weights
        else:
            new = x + y
        points, values = [*points[-2:], new], [*values[-2:], value(ask, new)]
        if np.abs(values[-1]).max() <= TOLERANCE:
            return new, number
    raise Failed


def hybr(ask: Ask, x0: Vector) -> tuple[Vector, int]:
    found = optimize.root(lambda x: value(ask, x), x0, method="hybr", tol=1e-10)
    return found.x, int(found.nfev)  # MINPACK does not tell its iterations: each is an evaluation


METHODS: Mapping[str, tuple[Method, bool]] = {
    "Bisection": (bisection, True),
    "Brent": (brent, True),
    "Newton": (newton, True),
    "Secant": (secant, True),
    "Steffensen": (steffensen, True),
    "Halley": (halley, True),
    "Newton (damped)": (damped_newton, False),
    "Broyden": (broyden, False),
    "Anderson": (anderson, False),
    "SciPy (hybr)": (hybr, False),
}
"""Name in the paper's table → method, and whether it is for one variable."""


def instances(family: str, part: str = "test") -> list[Instance]:
    """Return the instances of a split of a family."""
    return [DOMAIN.load(ref) for ref in DOMAIN.generated() if (ref.group, ref.part) == (family, part)]


def classical(method: Method, instance: Instance) -> float:
    """Return the score of a method on an instance, -2 where it finds no root."""
    oracle = make_oracle(dict(instance.data))
    try:
        with np.errstate(all="ignore"):
            x, iterations = method(oracle.answer, instance.data["x0"])
    except (Failed, ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError):
        return -2.0
    parameters = [float(p) for p in instance.data["parameters"]]
    if not largest_residual(instance.data["family"], parameters, [float(v) for v in x]) <= TOLERANCE:
        return -2.0
    return score(oracle.record()["evaluations"], iterations)


def of_pipeline(steps: Sequence[PipelineStep], instance: Instance) -> float:
    """Return the score of a pipeline of the library, run in this process, -2 on failure."""
    environment = DOMAIN.environment(instance)
    oracle = make_oracle(dict(instance.data))
    runs = [load_implementation(step.implementation, cache_dir()) for step in steps]
    budget, rng = Budget(1000, "work", len(runs)), np.random.default_rng(0)
    try:
        ended = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, oracle.answer)
    except (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError):
        return -2.0
    objective = DOMAIN.verify(instance, with_record(ended.state, oracle.record())).objective
    return -2.0 if objective is None else objective


def table(arguments: argparse.Namespace) -> None:
    """Print the mean score of each method on the held-out instances of each family, beside the paper's."""
    families = {family: instances(family) for family in SEEDS}
    print(f"{'':34}" + "".join(f"{family:>18}" for family in families))
    rows: dict[str, list[float | None]] = {
        name: [
            fmean(classical(method, one) for one in held_out) if scalar is (family != "system2d") else None
            for family, held_out in families.items()
        ]
        for name, (method, scalar) in METHODS.items()
    }
    named = {"safe": DOMAIN.safe_baseline(), "basic": DOMAIN.basic_baseline()}
    named |= {
        chain: libraries.pipeline(DOMAIN.operators(), *chain.split("+")) for chain in arguments.pipelines
    }
    for name, steps in named.items():
        rows[name] = [fmean(of_pipeline(steps, one) for one in held_out) for held_out in families.values()]
    for name, row in rows.items():
        paper = PAPER.get(name, (None,) * len(row))
        print(f"{name[:33]:34}" + "".join(_cell(*pair) for pair in zip(row, paper, strict=True)))
    for name in ("DGA2D", "EoH"):
        print(f"{name + ' (paper)':34}" + "".join(_cell(None, figure) for figure in PAPER[name]))


def _cell(own: float | None, paper: float | None) -> str:
    said = "" if paper is None else f" ({paper:.2f})"
    return f"{'--' if own is None else f'{own:.3f}'}{said}".rjust(18)
