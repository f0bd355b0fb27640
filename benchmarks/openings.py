"""What races find among texts put together at random, and among children of the best of these, by how many
they are offered.

    python benchmarks/openings.py fjsp tsp cvrp binpack3d [--texts 32] [--children 16] [--outcomes FILE]

Texts are assembled as the first race of a run assembles them (`dga2d.agents.race_assemblies`), from the basic
library, and stand behind the first position of the basic baseline or in the place of its search; the parents
of children (`dga2d.agents.race_children`) are the best six on twelve training instances. Each is measured on
36 training and 24 validation instances, with common random numbers and under calibrated work. Races by the
rules of the default preset are then played on training instances drawn from these, 2000 for every number of
texts; a row has the evaluations of the rounds that select, at most, and the mean gap of their winners on the
validation instances. There is no incumbent to be ahead of, no final, and no other contender.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

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
from dga2d.agents.race_children import PARENTS, with_children
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.racer import plan_rounds, stay_of
from dga2d.agents.spreading import spread, spread_copies
from dga2d.domains.core.registry import domain_names
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
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
SEEN = 12
"""Training instances by which parents are chosen, as many as the second round of a race has."""


class Texts(NamedTuple):
    """Gaps of some programs in percent, by row, on training and on validation instances."""

    training: np.ndarray
    validation: np.ndarray


class FirstRace:
    """What the first race of a run is offered whose graph has the whole of its library."""

    def __init__(self, state: RunState, problem: Problem, baseline: Program, seed: int) -> None:
        self._operators = {OperatorId(op.id): op for op in problem.domain.operators()}
        library = (c for op in self._operators.values() for c in op.implementations)
        self._known = {ImplementationId(c.id): c for c in (*library, *baseline.parts)}
        self._pools = {
            OperatorId(op.id): tuple(sorted(ImplementationId(c.id) for c in op.implementations))
            for op in state.header.library
        }
        graph = OperatorGraph(tuple(sorted(self._pools)), frozenset(), frozenset())
        basis = EvolutionBasis(0, graph, self._pools, state.credits, 0, 0)
        rules = {name: DEFAULT[name] for name in ("race_contenders", "share_effort")}
        self._state = replace(
            state,
            pools=Map(self._pools),
            graph=graph,
            generation=GenerationState(1, 0, 0, basis=basis),
            settings=state.settings.model_copy(update=rules),
        )
        self._seed = seed

    def assembled(self, count: int) -> list[Program]:
        """Return so many programs with assembled texts."""
        opening = self._state.settings.model_copy(update={"race_opening": count})
        made = with_assembled_texts(self._material(replace(self._state, settings=opening)))
        return [self._program(contender) for contender in islice(made, count)]

    def children(self, parents: Sequence[Program], count: int) -> list[Program]:
        """Return at most so many children of programs."""
        self._known |= {ImplementationId(part.id): part for program in parents for part in program.parts}
        far = tuple(
            tuple(
                Step(operator=OperatorId(part.operator), implementation=ImplementationId(part.id))
                for part in program.parts
            )
            for program in parents
        )
        made = with_children(self._material(replace(self._state, far=far)))
        return [self._program(contender) for contender in islice(made, count)]

    def _material(self, state: RunState) -> RaceMaterial:
        contracts = {name: OperatorContract.of(self._operators[name]) for name in self._pools}
        donors = {name: self._known[name].source for pool in self._pools.values() for name in pool}
        texts = {name: part.source for name, part in self._known.items()}
        return RaceMaterial(state, texts, contracts, np.random.default_rng(self._seed), donors)

    def _program(self, contender: NewContender) -> Program:
        brought = {ImplementationId(made.text.id): made.text for made in contender.configured}
        return Program(tuple((self._known | brought)[step.implementation] for step in contender.steps))


async def measure(name: str, options: argparse.Namespace) -> list[Texts]:
    """Return the gaps of the baseline, of assembled texts and of children."""
    rate = await work_per_second(name, "*", None, "basic")
    settings = RunSettings(library="basic", work=max(1, round(options.seconds * rate)), evaluators=1)
    problem = open_family(name, None, "*")
    state, baseline = await starting_state(problem, settings, options.seed)
    training = spread_copies([entry.key for entry in state.header.splits.train], TRAINING)
    validation = spread([entry.key for entry in state.header.splits.validation], VALIDATION)
    async with open_evaluator(name, settings) as pool:
        bench = ProgramBench(state, baseline, problem, pool)
        await bench.calibrate([baseline])

        async def gaps(programs: Sequence[Program], what: str) -> Texts:
            found: dict[str, list[list[float]]] = {"race": [], "validation": []}
            for number, program in enumerate(programs, 1):
                await bench.calibrate([program])
                for purpose, keys in (("race", training), ("validation", validation)):
                    answers = await gaps_of(bench, program, keys, purpose)
                    found[purpose].append([FAILED if gap is None else gap for gap in answers])
                print(f"{name}: {number} of {len(programs)} {what}", file=sys.stderr)
            return Texts(np.array(found["race"]), np.array(found["validation"]))

        start = await gaps([baseline], "start")
        race = FirstRace(state, problem, baseline, options.seed)
        programs = race.assembled(options.texts)
        assembled = await gaps(programs, "assembled texts")
        seen = np.random.default_rng(options.seed).permutation(TRAINING)[:SEEN]
        ranked = np.argsort(assembled.training[:, seen].mean(axis=1), kind="stable")
        children = race.children([programs[int(k)] for k in ranked[:PARENTS]], options.children)
        return [start, assembled, await gaps(children, "children")]


def play(texts: Texts, count: int) -> tuple[int, float]:
    """Return the evaluations of the selecting rounds of a race among so many texts, and the mean gap of its
    winners on validation instances."""
    rules, draws = RunSettings(**DEFAULT), np.random.default_rng(count)
    rounds, selecting = plan_rounds(rules, count)
    gaps, evaluations = [], 0
    for _ in range(DRAWS):
        left = draws.permutation(len(texts.training))[:count]
        instances, used, evaluations = draws.permutation(TRAINING), 0, 0
        for size in rounds[:selecting]:
            evaluations += len(left) * (size - used)
            used = size
            order = np.argsort(texts.training[np.ix_(left, instances[:size])].mean(axis=1), kind="stable")
            left = left[order[: stay_of(len(left), rules.race_growth)]]
        gaps.append(texts.validation[left[0]].mean())
    return evaluations, float(np.mean(gaps))


def print_rows(name: str, start: Texts, texts: Texts, what: str) -> None:
    """Print the rows of a domain for texts of one kind."""
    means = texts.validation.mean(axis=1)
    for count in (n for n in (1, 4, 8, 16, 24, 32, 48, 64) if n <= len(means)):
        evaluations, gap = play(texts, count)
        row = f"{count} of {len(means)} {what} | {evaluations} | {gap:.2f} | {means.min():.2f}"
        print(f"| {name} | {start.validation.mean():.2f} | {row} |", flush=True)


async def measure_all(options: argparse.Namespace) -> None:
    known: dict[str, list[list[list[list[float]]]]] = {}
    if options.outcomes is not None and options.outcomes.exists():
        known = json.loads(options.outcomes.read_text(encoding="utf-8"))
    print("| domain | start, % | texts | evaluations | winner, % | best of all, % |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in options.domains:
        if name not in known:
            measured = await measure(name, options)
            known[name] = [[gaps.tolist() for gaps in texts] for texts in measured]
            if options.outcomes is not None:
                options.outcomes.write_text(json.dumps(known), encoding="utf-8")
        start, assembled, children = (Texts(*map(np.array, gaps)) for gaps in known[name])
        print_rows(name, start, assembled, "assembled")
        print_rows(name, start, children, "children")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="+", choices=domain_names(), metavar="DOMAIN")
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--children", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.1, help="per instance, as work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outcomes", type=Path, help="keeps the gaps; known ones come from it")
    anyio.run(measure_all, parser.parse_args())


if __name__ == "__main__":
    main()
