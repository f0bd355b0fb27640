"""Several runs and classical methods on the runs' held-out instances, solved again, side by side.

Tests of runs stand in their logs; they are compared as they are by `comparing`. Here every algorithm solves
every instance now, on this machine, under one limit of seconds, so that methods can take part that no run
has tested, and runs whose own budgets differ. Nothing is written to the logs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dga2d.agents.evaluator_pool import evaluation_stream
from dga2d.agents.ports import EvaluationRequest, Evaluator
from dga2d.domains.core.contract import Instance, own_score_of
from dga2d.events import InstanceKey, RunId, instance_and_copy
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import UsageError
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.inspection.comparing import (
    Arm,
    check_alike,
    common_instances,
    evolved_arm,
    ruler_of,
    view_of_arms,
)
from dga2d.runtime.inspection.validations import gaps_of
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.sessions import reopen_problem
from dga2d.runtime.runs.solving import (
    Algorithm,
    Method,
    SolveFailedError,
    baseline_steps,
    best_of_run,
    solve_by_or_tools,
)
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.terminal.output import Announce
from dga2d.store import open_store

METHODS: tuple[Method, ...] = ("safe", "basic", "ils", "cp-sat")
"""Classical methods that can stand beside runs."""


class Limits(NamedTuple):
    """What every algorithm gets on every instance."""

    seconds: float
    threads: int
    """Search threads of OR-Tools; all others have one."""
    seed: int


class Contestant(NamedTuple):
    """An algorithm that takes part, without its gaps yet."""

    arm: Arm
    algorithm: Algorithm | None
    """``None``: OR-Tools."""


async def solve_head_to_head(
    url: str,
    runs: Sequence[str],
    methods: Sequence[Method],
    limits: Limits,
    data_dir: Path | None,
    announce: Announce,
) -> dict[str, Any]:
    """Return how the algorithms of `runs` and classical `methods` do on the instances that all runs were
    tested on; the shape is that of `read_comparison`.

    Each instance is solved by all of them, one after the other, before the next one is: what else the machine
    does meets all alike. Their random streams are those of a test with the seed of `limits`.

    Raises
    ------
    RunStateError, UsageError
        The runs cannot be compared (see `check_alike`), or not in seconds; an instance cannot be found;
        OR-Tools is asked for and not installed.
    """
    async with open_store(url, create=False, read_only=True) as store:
        states = {run: await load_state(store, RunId(run)) for run in runs}
    check_alike(states, has_same_budget=False)
    first, keys = next(iter(states.values())), common_instances(states)
    problem = reopen_problem(first, data_dir)
    if own_score_of(problem.domain) is not None:
        raise UsageError(
            f"--seconds: {problem.domain.name} scores what an algorithm asks of a function, whatever the time"
        )
    contestants = await _contestants(url, states, methods, problem)
    gaps = await _solve_all(first, problem, keys, contestants, limits, announce)
    arms = [replace(one.arm, gaps=found) for one, found in zip(contestants, gaps, strict=True)]
    view = view_of_arms(first, arms, keys, f"{limits.seconds:g} s")
    return view | {"references_of": ruler_of(states, keys)}


async def _contestants(
    url: str, states: Mapping[str, RunState], methods: Sequence[Method], problem: Problem
) -> list[Contestant]:
    domain = problem.domain
    found = [
        Contestant(evolved_arm(name, state, {}), await best_of_run(url, name, domain.name))
        for name, state in states.items()
    ]
    for method in methods:
        algorithm = None if method == "cp-sat" else baseline_steps(domain, method)
        found.append(Contestant(Arm(method, None, None, None, None, {}), algorithm))
    return found


async def _solve_all(
    first: RunState,
    problem: Problem,
    keys: Sequence[InstanceKey],
    contestants: Sequence[Contestant],
    limits: Limits,
    announce: Announce,
) -> list[dict[InstanceKey, float | None]]:
    """Return the gaps in percent by instance for each contestant; ``None`` where it failed."""
    settings = RunSettings(evaluators=1, time_limit=limits.seconds)
    objectives: list[dict[InstanceKey, float | None]] = [{} for _ in contestants]
    async with open_evaluator(problem.domain.name, settings) as evaluator:
        for one in contestants:
            if one.algorithm is not None:
                announce(f"compiling {one.arm.name}")
                await evaluator.prepare(one.algorithm.steps)  # a failure is told by every evaluation, too
        for place, key in enumerate(keys):
            instance = problem.instance(instance_and_copy(key)[0])
            for one, found in zip(contestants, objectives, strict=True):
                announce(f"{one.arm.name} solves {key} ({place + 1} of {len(keys)})")
                found[key] = await _objective(problem, evaluator, one.algorithm, instance, place, limits)
    return [gaps_of(first.header, "test", found) for found in objectives]


async def _objective(
    problem: Problem,
    evaluator: Evaluator,
    algorithm: Algorithm | None,
    instance: Instance,
    place: int,
    limits: Limits,
) -> float | None:
    """Return the verified objective; ``None`` where there is no valid solution."""
    if algorithm is None:
        settings = RunSettings(evaluators=limits.threads, time_limit=limits.seconds)
        try:
            return (await solve_by_or_tools(problem.domain, instance, settings, limits.seed)).objective
        except SolveFailedError:
            return None
    seeds = (limits.seed, *evaluation_stream("test", 0, 0, place))
    name = f"{algorithm.name} on {instance.key}"
    request = EvaluationRequest(name, instance, algorithm.steps, seeds, shares=algorithm.shares)
    return (await evaluator.evaluate(request)).objective
