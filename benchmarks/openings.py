"""What the first race of a run finds among texts put together at random, by how many it is offered.

    python benchmarks/openings.py fjsp tsp cvrp binpack3d [--texts 32] [--seconds 0.1] [--outcomes FILE]

Texts are assembled as the first race of a run assembles them (`dga2d.agents.race_assemblies`), from the basic
library, and stand behind the first position of the basic baseline or in the place of its search. Each is
measured on 36 training and 24 validation instances, with common random numbers and under calibrated work.
Races by the rules of the default preset are then played on training instances drawn from these, 2000 for
every number of texts; a row has the evaluations of the rounds that select, at most, and the mean gap of their
winners on the validation instances. There is no incumbent to be ahead of, no final, and no other contender.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

import anyio
import numpy as np
from arms import work_per_second
from comparison import FAILED
from immutables import Map
from independent import gaps_of, starting_state
from one_family import open_family
from programs import Program, ProgramBench

from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.agents.race_assemblies import with_assembled_texts
from dga2d.agents.race_material import RaceMaterial
from dga2d.agents.racer import plan_rounds, stay_of
from dga2d.agents.spreading import spread, spread_copies
from dga2d.domains.core.contract import Implementation, Operator
from dga2d.domains.core.registry import domain_names
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.generation_state import EvolutionBasis, GenerationState
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.config import DEFAULT
from dga2d.runtime.runs.problem import Problem

TRAINING, VALIDATION = 36, 24
"""Instances on which a text is measured."""
DRAWS = 2000
"""Races that are played for a number of texts."""


def assembled_programs(
    state: RunState, problem: Problem, baseline: Program, count: int, seed: int
) -> Iterator[Program]:
    """Yield what a first race with so many assembled texts is offered."""
    operators = {OperatorId(op.id): op for op in problem.domain.operators()}
    known = {ImplementationId(c.id): c for op in operators.values() for c in op.implementations}
    known |= {ImplementationId(part.id): part for part in baseline.parts}
    material = _material(state, operators, known, count, seed)
    for contender in islice(with_assembled_texts(material), count):
        brought = {ImplementationId(made.text.id): made.text for made in contender.configured}
        yield Program(tuple((known | brought)[step.implementation] for step in contender.steps))


def _material(
    state: RunState,
    operators: Mapping[OperatorId, Operator],
    known: Mapping[ImplementationId, Implementation],
    count: int,
    seed: int,
) -> RaceMaterial:
    """Return what the first race of a run with the whole of its library in the graph is made of."""
    pools = {
        OperatorId(op.id): tuple(sorted(ImplementationId(c.id) for c in op.implementations))
        for op in state.header.library
    }
    graph = OperatorGraph(tuple(sorted(pools)), frozenset(), frozenset())
    basis = EvolutionBasis(0, graph, pools, state.credits, 0, 0)
    rules = {name: DEFAULT[name] for name in ("race_contenders", "share_effort")}
    begun = replace(
        state,
        pools=Map(pools),
        graph=graph,
        generation=GenerationState(1, 0, 0, basis=basis),
        settings=state.settings.model_copy(update={**rules, "race_opening": count}),
    )
    contracts = {name: OperatorContract.of(operators[name]) for name in pools}
    donors = {name: known[name].source for pool in pools.values() for name in pool}
    texts = donors | {name: part.source for name, part in known.items()}
    return RaceMaterial(begun, texts, contracts, np.random.default_rng(seed), donors)


async def measure(name: str, seconds: float, texts: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gaps of the baseline and of assembled texts, by row, on training and on validation
    instances."""
    rate = await work_per_second(name, "*", None, "basic")
    settings = RunSettings(library="basic", work=max(1, round(seconds * rate)), evaluators=1)
    problem = open_family(name, None, "*")
    state, baseline = await starting_state(problem, settings, seed)
    training = spread_copies([entry.key for entry in state.header.splits.train], TRAINING)
    validation = spread([entry.key for entry in state.header.splits.validation], VALIDATION)
    found: dict[str, list[list[float]]] = {"race": [], "validation": []}
    async with open_evaluator(name, settings) as pool:
        bench = ProgramBench(state, baseline, problem, pool)
        await bench.calibrate([baseline])
        for program in (baseline, *assembled_programs(state, problem, baseline, texts, seed)):
            await bench.calibrate([program])
            for purpose, keys in (("race", training), ("validation", validation)):
                gaps = await gaps_of(bench, program, keys, purpose)
                found[purpose].append([FAILED if gap is None else gap for gap in gaps])
            print(f"{name}: {len(found['race']) - 1} of {texts} texts", file=sys.stderr)
    return np.array(found["race"]), np.array(found["validation"])


def play(training: np.ndarray, validation: np.ndarray, texts: int) -> tuple[int, float]:
    """Return the evaluations of the selecting rounds of a race among so many texts, and the mean gap of its
    winners on validation instances."""
    rules, draws = RunSettings(**DEFAULT), np.random.default_rng(texts)
    rounds, selecting = plan_rounds(rules, texts)
    gaps, evaluations = [], 0
    for _ in range(DRAWS):
        left = 1 + draws.permutation(len(training) - 1)[:texts]
        instances, used, evaluations = draws.permutation(training.shape[1]), 0, 0
        for size in rounds[:selecting]:
            evaluations += len(left) * (size - used)
            used = size
            order = np.argsort(training[np.ix_(left, instances[:size])].mean(axis=1), kind="stable")
            left = left[order[: stay_of(len(left), rules.race_growth)]]
        gaps.append(validation[left[0]].mean())
    return evaluations, float(np.mean(gaps))


def print_table(name: str, training: np.ndarray, validation: np.ndarray) -> None:
    """Print the rows of a domain."""
    means, made = validation.mean(axis=1), len(training) - 1
    for texts in (n for n in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64) if n <= made):
        evaluations, gap = play(training, validation, texts)
        row = f"{means[0]:.2f} | {texts} of {made} | {evaluations} | {gap:.2f} | {means[1:].min():.2f}"
        print(f"| {name} | {row} |", flush=True)


async def measure_all(options: argparse.Namespace) -> None:
    known: dict[str, list[list[list[float]]]] = {}
    if options.outcomes is not None and options.outcomes.exists():
        known = json.loads(options.outcomes.read_text(encoding="utf-8"))
    print(
        "| domain | start, % | texts | evaluations | winner, % | best of all, % |\n|---|--:|--:|--:|--:|--:|"
    )
    for name in options.domains:
        if name not in known:
            measured = await measure(name, options.seconds, options.texts, options.seed)
            known[name] = [gaps.tolist() for gaps in measured]
            if options.outcomes is not None:
                options.outcomes.write_text(json.dumps(known), encoding="utf-8")
        training, validation = (np.array(gaps) for gaps in known[name])
        print_table(name, training, validation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="+", choices=domain_names(), metavar="DOMAIN")
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.1, help="per instance, as work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outcomes", type=Path, help="keeps the gaps; known ones come from it")
    anyio.run(measure_all, parser.parse_args())


if __name__ == "__main__":
    main()
