"""The table of ``control``: classical laws tuned by a stated budget, library pipelines, the paper's rows.

A classical law has the nominal parameters and is tuned on the design instance: `TRIALS` sets of its own
numbers, drawn evenly in their logarithms within the ranges of `LAWS`, the best of which runs on the test
instances. All episodes of a law run side by side in arrays, with the steps of the domain's plant.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm, solve_discrete_are

from dga2d.domains.budget import Budget
from dga2d.domains.control import DOMAIN
from dga2d.domains.control.oracle import make_oracle
from dga2d.domains.control.plants import ANGLES, DT, INPUT_WEIGHT, LARGEST, STEPS, SUBSTEPS, SYSTEMS
from dga2d.domains.control.verifier import score
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Instance, PipelineStep
from dga2d.domains.core.oracle import oracle_data, with_record
from dga2d.domains.execution import execute, load_implementation
from dga2d.runtime.user_files import cache_dir

Vector = NDArray[np.float64]
TRIALS = 200
FAILURE = -20.0
BOUNDS = Path(__file__).parents[1] / "domains" / "control" / "bounds.json"
PAPER = {
    "PID": (-2.37, -3.99, -11.59),
    "LQR": (-2.15, -2.83, -11.66),
    "SMC": (-3.16, -3.46, -4.73),
    "bang-bang": (-3.21, -3.58, -10.27),
    "energy shaping": (-3.77, -3.21, -4.71),
    "DGA2D": (-2.13, -2.74, -4.69),
    "EoH": (-2.25, -2.83, -4.88),
}
"""The paper's table, in the order of `SYSTEMS`."""


class Situation(NamedTuple):
    """What a law sees in a step: one column for each episode."""

    model: str
    error: Vector
    """`(n, k)`, angles from -π to π."""
    integral: Vector
    """Of the last coordinate's error."""
    nominal: Vector
    bound: float
    push: float
    """How an input accelerates the last coordinate at the target."""
    still: Vector
    """How the nominal plant accelerates that coordinate without an input."""
    gain: Vector
    """The nominal regulator's."""


Law = Callable[[Situation, Vector], Vector]
"""Inputs for a situation and the law's numbers, `(m, k)`."""


def rates_of(model: str, p: Vector, x: Vector, u: Any) -> Vector:
    """Return the derivatives for parameters `(count, k)` and states `(n, k)`."""
    if model == "linear":
        return np.stack([x[1], u + 0.0 * x[0]])
    if model == "pendulum":
        return np.stack([x[1], p[2] / p[1] * np.sin(x[0]) + u / (p[0] * p[1] ** 2)])
    c, s = np.cos(x[1]), np.sin(x[1])
    acceleration = (u + p[1] * s * (p[2] * x[3] ** 2 - p[3] * c)) / (p[0] + p[1] * s**2)
    return np.stack([x[2], x[3], acceleration, (p[3] * s - acceleration * c) / p[2]])


def stepped(model: str, p: Vector, x: Vector, u: Vector) -> Vector:
    """Return the states after a step of the plant."""
    h = DT / SUBSTEPS
    for _ in range(SUBSTEPS):
        a = rates_of(model, p, x, u)
        b = rates_of(model, p, x + 0.5 * h * a, u)
        c = rates_of(model, p, x + 0.5 * h * b, u)
        d = rates_of(model, p, x + h * c, u)
        x = x + h / 6.0 * (a + 2.0 * (b + c) + d)
    return x


def regulator_of(model: str, nominal: Vector, n: int) -> Vector:
    """Return the gain of the discrete linear-quadratic regulator of the nominal plant at the target."""
    p, moves = nominal[:, None], 1e-6 * np.eye(n)
    slopes = (rates_of(model, p, moves, 0.0) - rates_of(model, p, -moves, 0.0)) / 2e-6
    push = rates_of(model, p, np.zeros((n, 1)), 1.0)
    whole = expm(DT * np.block([[slopes, push], [np.zeros((1, n + 1))]]))
    a, b = whole[:n, :n], whole[:n, n:]
    q = solve_discrete_are(a, b, np.eye(n), np.array([[INPUT_WEIGHT]]))
    gain: Vector = np.linalg.solve(INPUT_WEIGHT + b.T @ q @ b, b.T @ q @ a)[0]
    return gain


def wrapped(angle: Vector) -> Vector:
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


def costs_of(system: str, law: Law, numbers: Vector, p: Vector, x: Vector, steps: int = STEPS) -> Vector:
    """Return what each episode costs, infinity where it diverged."""
    known = SYSTEMS[system]
    nominal, n, angles = np.array(known.nominal), len(x), list(ANGLES[known.model])
    flat, still_there = nominal[:, None], np.zeros((n, 1))
    push = float(rates_of(known.model, flat, still_there, 1.0)[-1, 0])
    gain = regulator_of(known.model, nominal, n)
    costs, integral = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    with np.errstate(all="ignore"):
        for _ in range(steps):
            error = x.copy()
            error[angles] = wrapped(error[angles])
            still = rates_of(known.model, flat, x, 0.0)[-1]
            integral += DT * error[n // 2 - 1]
            seen = Situation(known.model, error, integral, nominal, known.bound, push, still, gain)
            u = np.clip(np.nan_to_num(law(seen, numbers)), -known.bound, known.bound)
            costs += (error * error).sum(axis=0) + INPUT_WEIGHT * u * u
            x = stepped(known.model, p, x, u)
    return np.where((np.abs(x) <= LARGEST).all(axis=0), costs, np.inf)


def lqr(seen: Situation, numbers: Vector) -> Vector:
    return -seen.gain @ seen.error


def pid(seen: Situation, numbers: Vector) -> Vector:
    n = len(seen.error)
    kp, ki, kd, wind = numbers
    wanted = kp * seen.error[n // 2 - 1] + ki * np.clip(seen.integral, -wind, wind) + kd * seen.error[-1]
    return np.asarray(-np.sign(seen.push) * wanted)


def smc(seen: Situation, numbers: Vector) -> Vector:
    n = len(seen.error)
    slope, reach, layer, equivalent = numbers
    s = seen.error[-1] + slope * seen.error[n // 2 - 1]
    hold = -(seen.still + slope * seen.error[-1]) / seen.push
    return np.asarray(
        equivalent * hold - np.sign(seen.push) * reach * seen.bound * np.clip(s / layer, -1.0, 1.0)
    )


def bang_bang(seen: Situation, numbers: Vector) -> Vector:
    """Switch on the time-optimal curve, without a dead zone, as the paper's figures say."""
    e, v = seen.error[len(seen.error) // 2 - 1], seen.error[-1]
    curve = e + numbers[0] * v * np.abs(v) / (2.0 * seen.bound * abs(seen.push))
    return np.asarray(-np.sign(seen.push) * seen.bound * np.sign(curve))


def energy(seen: Situation, numbers: Vector) -> Vector:
    """Pump to the energy of the upright position; near it, the regulator catches."""
    pump, spring, damping, near = numbers
    x = seen.error
    if seen.model == "linear":
        return np.asarray(-(spring * x[0] + damping * x[1]))
    if seen.model == "pendulum":
        m, length, g = seen.nominal
        total = 0.5 * x[1] ** 2 + g / length * (np.cos(x[0]) - 1.0)
        u = -pump * total * x[1] * m * length**2
        u = np.where((np.abs(x[1]) < 0.05) & (total < -0.1), 0.3 * seen.bound, u)
    else:
        cart, m, length, g = seen.nominal
        c, s = np.cos(x[1]), np.sin(x[1])
        total = 0.5 * x[3] ** 2 + g / length * (c - 1.0)
        wanted = pump * total * x[3] * c - spring * x[0] - damping * x[2]
        u = (cart + m * s * s) * wanted - m * s * (length * x[3] ** 2 - g * c)
    place = len(x) // 2 - 1
    return np.where(np.abs(x[place]) + 0.2 * np.abs(x[-1]) < near, -seen.gain @ x, u)


LAWS: Mapping[str, tuple[Law, tuple[tuple[float, float], ...]]] = {
    "PID": (pid, ((1.0, 500.0), (0.001, 10.0), (0.5, 100.0), (0.01, 10.0))),
    "LQR": (lqr, ()),
    "SMC": (smc, ((0.2, 20.0), (0.05, 1.0), (0.02, 10.0), (0.01, 1.0))),
    "bang-bang": (bang_bang, ((0.3, 3.0),)),
    "energy shaping": (energy, ((0.05, 50.0), (0.1, 100.0), (0.1, 50.0), (0.1, 2.0))),
}
"""Name of a law → the law, and the ranges of its numbers."""


def instances(system: str, part: str = "test") -> list[Instance]:
    """Return the instances of a split of a system."""
    return [DOMAIN.load(ref) for ref in DOMAIN.generated() if (ref.group, ref.part) == (system, part)]


def columns(found: Sequence[Instance], name: str) -> Vector:
    return np.stack([instance.data[name] for instance in found], axis=1)


def tuned(system: str, law: Law, ranges: Sequence[tuple[float, float]]) -> Vector:
    """Return the numbers of a law that cost least on the design instance."""
    design = instances(system, "train") * (TRIALS if ranges else 1)
    low, high = np.log(np.array(ranges).reshape(-1, 2).T)
    drawn = np.random.default_rng(0).uniform(low, high, (len(design), len(ranges)))
    numbers = np.exp(drawn).T
    costs = costs_of(system, law, numbers, columns(design, "parameters"), columns(design, "x0"))
    return numbers[:, [int(np.argmin(costs))]]


def classical(system: str, law: Law, ranges: Sequence[tuple[float, float]]) -> Vector:
    """Return the costs of a tuned law on the test instances."""
    found = instances(system)
    numbers = tuned(system, law, ranges)
    return costs_of(system, law, numbers, columns(found, "parameters"), columns(found, "x0"))


def of_pipeline(steps: Sequence[PipelineStep], instance: Instance, cache: Path) -> float:
    """Return what an episode under a pipeline of the library costs, run in this process."""
    made_of = oracle_data(DOMAIN, instance)
    assert made_of is not None  # a controller asks for the plant's state
    environment, oracle = DOMAIN.environment(instance), make_oracle(made_of)
    runs = [load_implementation(step.implementation, cache) for step in steps]
    budget, rng = Budget(STEPS, "work", len(runs)), np.random.default_rng(0)
    try:
        ended = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, oracle.answer)
    except (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError):
        return np.inf
    verdict = DOMAIN.verify(instance, with_record(ended.state, oracle.record()))
    return np.inf if verdict.objective is None else float(oracle.record()["cost"])


def mean_score(costs: Sequence[float] | Vector) -> float:
    """Return the mean score of episodes, failures included; NaN where a cost is not known."""
    if np.isnan(costs).any():
        return np.nan
    return float(np.mean([score(float(cost)) if np.isfinite(cost) else FAILURE for cost in costs]))


def row(name: str, values: Sequence[float], paper: Sequence[float] | None = None) -> None:
    """Print a row of the table, with the paper's figures in brackets; NaN is a figure that is not known."""
    beside = [""] * len(values) if paper is None else [f" ({p:.2f})" for p in paper]
    cells = [f"{value:.3f}{extra}" for value, extra in zip(values, beside, strict=True)]
    cells.append(f"{np.mean(values):.2f}")
    print(f"| {name} | " + " | ".join(cells).replace("nan", "–") + " |", flush=True)


def table(arguments: argparse.Namespace) -> None:
    """Print the table; then how far the safe pipeline is from the open-loop bound, by instance."""
    print("| | " + " | ".join(system.title for system in SYSTEMS.values()) + " | mean |")
    print("|---|" + "---:|" * (len(SYSTEMS) + 1))
    for name, (law, ranges) in LAWS.items():
        row(name, [mean_score(classical(system, law, ranges)) for system in SYSTEMS], PAPER[name])
    pipelines = {"safe": DOMAIN.safe_baseline()}
    pipelines |= {
        chain: libraries.pipeline(DOMAIN.operators(), *chain.split("+")) for chain in arguments.pipelines
    }
    safe: dict[str, list[float]] = {}
    for name, steps in pipelines.items():
        costs = {s: [of_pipeline(steps, one, cache_dir()) for one in instances(s)] for s in SYSTEMS}
        safe = safe or costs
        row(
            name,
            [mean_score(costs[system]) for system in SYSTEMS],
            PAPER["DGA2D"] if name == "safe" else None,
        )
    bounds: Mapping[str, float] = json.loads(BOUNDS.read_text(encoding="utf-8"))
    known = {s: [bounds.get(f"{s}/{one.name}", np.nan) for one in instances(s)] for s in SYSTEMS}
    row("open-loop optimum", [mean_score(known[system]) for system in SYSTEMS])
    for name in ("DGA2D", "EoH"):
        row(f"{name} (paper)", PAPER[name])
    for system in SYSTEMS:
        over = 100.0 * (np.array(safe[system]) / np.array(known[system]) - 1.0)
        over = over[~np.isnan(over)]
        said = f"{np.median(over):.2f} % (median of {len(over)}; {over.min():.2f} to {over.max():.2f})"
        print(f"{system}: safe costs more than the optimum by {said}, within 3 % on {(over <= 3.0).sum()}")
