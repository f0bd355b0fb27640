"""The examples in one file: what evolution gains over the generic baseline, of its gap to the best known.

    python benchmarks/own_problems.py --references        # best known objectives of the held-out instances
    python benchmarks/own_problems.py tardiness --seeds 5
    python benchmarks/own_problems.py circles --seeds 5 --folder runs  # keeps the runs, goes on with them
    python benchmarks/own_problems.py facilities --recorded RUN.dga2d.zip  # the test of a recorded run
    python benchmarks/own_problems.py circles --recorded RUN.dga2d.zip --scores  # its scores in place of gaps

A run is what the example's page says: the offline proposer, no language model. Its held-out test compares the
evolved algorithm with the safe baseline, the encoding's basic initialiser, descent and iterated local search,
under the same budget: seconds, or for circles calibrated work. *Closed* is the part of the baseline's mean
gap to the best known that the evolved algorithm saves; the interval is Student's over seeds. Best known: the
optimum by HiGHS (facilities), the best of long runs (tardiness), the published record (circles).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median

import anyio
import numpy as np
from reference_table import read_references, write_references

from dga2d.domains.budget import Budget
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Domain, normalised_gap
from dga2d.domains.core.plugins import use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.execution import execute, load_implementation
from dga2d.events import RunId
from dga2d.replay.archive import import_run
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.pairs import interval
from dga2d.runtime.runs import sessions
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.terminal.progress import silent
from dga2d.store import UnknownRunError, open_store

EXAMPLES = Path(__file__).parents[1] / "examples"
REFERENCES = Path(__file__).with_name("own_references.json")
SETTINGS = {
    "tardiness": {"time_limit": 0.5, "generations": 6, "policy": "uniform"},
    "facilities": {"time_limit": 0.5, "generations": 6, "policy": "uniform"},
    "circles": {"work": 20_000, "generations": 6, "policy": "uniform", "preset": "none"},
}
RECORD_26 = 2.63598308
"""Largest sum of radii of 26 circles that is known here; published was 2.63598283 (ShinkaEvolve, 2025)."""
LONG_S, LONG_SEEDS = 20.0, (1, 2, 3)
GAPS = "| example | seed | baseline: gap to the best known, % | evolved, % | closed |"
SCORES = "| run | algorithm | trials | best | median | mean |"


def best_known(name: str, domain: Domain, key: str) -> float:
    """Return the best objective known of an instance."""
    if name == "circles":
        return RECORD_26
    return float(read_references(REFERENCES)[key])


def compute_references(name: str) -> dict[str, float]:
    """Return the best objective that can be found of every held-out instance."""
    problem = Problem.open(use_problem_file(EXAMPLES / f"{name}.py"), None)
    found = {}
    for ref in problem.splits.test:
        instance = problem.instance(ref.key)
        if name == "facilities":
            found[ref.key] = optimum(instance.data["scorer"].instance)
        else:
            found[ref.key] = min(long_run(problem.domain, instance, seed) for seed in LONG_SEEDS)
        print(ref.key, found[ref.key], file=sys.stderr, flush=True)
    return found


def optimum(fields: object) -> float:
    """Return the cost of the best assignment of customers to facilities, proven by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    costs, opening, demand, capacity = (
        getattr(fields, part) for part in ("costs", "opening", "demand", "capacity")
    )
    n, k = costs.shape
    each, load, link = np.zeros((n, n * k + k)), np.zeros((k, n * k + k)), np.zeros((n * k, n * k + k))
    for i in range(n):
        each[i, i * k : (i + 1) * k] = 1.0
        for j in range(k):
            load[j, i * k + j] = demand[i]
            link[i * k + j, i * k + j], link[i * k + j, n * k + j] = 1.0, -1.0
    load[:, n * k :] = -np.diag(capacity)
    limits = [LinearConstraint(each, 1, 1), LinearConstraint(load, ub=0), LinearConstraint(link, ub=0)]
    solved = milp(
        np.concatenate((costs.ravel(), opening)),
        constraints=limits,
        integrality=np.ones(n * k + k),
        bounds=Bounds(0, 1),
        options={"time_limit": 120, "mip_rel_gap": 1e-6},
    )
    return float(solved.fun)


def long_run(domain: Domain, instance: object, seed: int) -> float:
    """Return what a chain of strong operators reaches in a long time."""
    steps = libraries.pipeline(domain.operators(), "field_orders", "annealing", "ruin_and_recreate")
    runs = [load_implementation(step.implementation, Path(tempfile.gettempdir())) for step in steps]
    decoder = domain.decoder(domain.environment(instance))  # type: ignore[arg-type]
    budget = Budget(LONG_S, "s", len(runs))
    answer = execute(runs, domain.environment(instance), decoder, budget, np.random.default_rng(seed))  # type: ignore[arg-type]
    return float(domain.verify(instance, answer.state).objective or 0.0)  # type: ignore[arg-type]


async def evolve_and_test(name: str, seed: int, folder: Path) -> RunState:
    """Return a run's state after its held-out test; one that `folder` holds goes on where it was."""
    url, run = f"sqlite+aiosqlite:///{folder / name}.db", RunId(f"{name}-{seed}")
    settings = make_settings({}, SETTINGS[name])
    try:
        async with open_store(url) as store:
            state = await sessions.started_state(store, run)
    except UnknownRunError:
        state = (await sessions.evolve(url, name, settings, seed, None, silent, run)).state
    if state.status != "completed":
        state = (await sessions.resume(url, run, silent, {})).state
    if state.test is None or state.test.mean_gaps is None:
        state = (await sessions.hold_out_test(url, run, silent)).state
    return state


async def recorded_state(archive: Path, folder: Path) -> RunState:
    """Return the state of an exported run."""
    async with open_store(f"sqlite+aiosqlite:///{folder / archive.stem}.db", create=True) as store:
        return await load_state(store, RunId((await import_run(store, archive)).run))


def gaps(name: str, state: RunState) -> tuple[float, float]:
    """Return the mean gaps in percent to the best known of the baseline and of the evolved algorithm."""
    domain, found = get_domain(name), dict[str, float]()
    for label, row in held_out_scores(state).items():
        each = (normalised_gap(score, best_known(name, domain, key), domain.sense) for key, score in row)
        found[label] = 100.0 * fmean(each)
    return found["baseline"], found.get("evolved", found["baseline"])


def held_out_scores(state: RunState) -> dict[str, list[tuple[str, float]]]:
    """Return instance and score of each held-out trial in equal work, by algorithm."""
    assert state.test is not None
    return {
        candidate.label: [
            (key, float(outcome.objective or 0.0)) for key, outcome in state.test.outcomes.row(number).items()
        ]
        for number, candidate in enumerate(state.test.candidates)
        if candidate.time_limit_s is None
    }


def score_rows(name: str, archives: Sequence[Path], folder: Path) -> Iterator[str]:
    """Yield the scores of recorded runs' held-out trials."""
    best = max if get_domain(name).sense == "max" else min
    for archive in archives:
        for label, row in held_out_scores(anyio.run(recorded_state, archive, folder)).items():
            scores = [score for _, score in row]
            told = " | ".join(f"{value:.8f}" for value in (best(scores), median(scores), fmean(scores)))
            yield f"| {archive.name} | {label} | {len(scores)} | {told} |"


def table(name: str, seeds: range, recorded: Sequence[Path], folder: Path) -> Iterator[str]:
    """Yield the rows of an example, and their mean."""
    closed = []
    for number in recorded or seeds:
        if isinstance(number, Path):
            state = anyio.run(recorded_state, number, folder)
        else:
            state = anyio.run(partial(evolve_and_test, name, number, folder))
        before, after = gaps(name, state)
        closed.append(100.0 * (1.0 - after / before))
        yield f"| {name} | {state.header.seed} | {before:.2f} | {after:.2f} | {closed[-1]:.0f} % |"
    mean = interval(closed)
    bounds = "" if mean.low is None else f" ({mean.low:.0f} to {mean.high:.0f})"
    yield f"| **{name}** | all | | | {mean.mean:.0f} %{bounds} |"


def main() -> None:
    """Print the table, or compute the references."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", default=list(SETTINGS), metavar="EXAMPLE")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--references", action="store_true")
    parser.add_argument("--recorded", type=Path, nargs="+", default=[], help="exported runs of the example")
    parser.add_argument("--scores", action="store_true", help="scores of the recorded runs' held-out trials")
    parser.add_argument("--folder", type=Path, help="folder that keeps the runs; a run in it goes on")
    arguments = parser.parse_args()
    if arguments.references:
        found = {
            key: value
            for name in ("tardiness", "facilities")
            for key, value in compute_references(name).items()
        }
        write_references(REFERENCES, {"seconds": LONG_S, "seeds": list(LONG_SEEDS)}, found)
        return
    print(f"{SCORES}\n|---|---|--:|--:|--:|--:|" if arguments.scores else f"{GAPS}\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as fresh:
        folder = arguments.folder or Path(fresh)
        folder.mkdir(parents=True, exist_ok=True)
        for name in arguments.examples:
            use_problem_file(EXAMPLES / f"{name}.py")
            seeds = range(1, arguments.seeds + 1)
            rows = (
                score_rows(name, arguments.recorded, folder)
                if arguments.scores
                else table(name, seeds, arguments.recorded, folder)
            )
            for row in rows:
                print(row, flush=True)


if __name__ == "__main__":
    main()
