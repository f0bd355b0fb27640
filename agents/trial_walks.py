"""Walks that try something in the incumbent: new code, a new edge, a child against its parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from dga2d.agents.agent import present_graph
from dga2d.agents.policy.contract import WalkStep
from dga2d.agents.scoring import best_implementations
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge, Step
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.fold_credits import trials_left
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.graph import END, START, OperatorGraph, Pools
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import OwedTrial, RunState

Walk = tuple[OperatorId, ...]


def owed_samples(state: RunState, generation: GenerationState) -> tuple[tuple[Step, ...], ...]:
    """Return the candidates of a generation that are trials, at most half of them.

    Everything that waits for a trial gets one in turn, the oldest first, unless no walk can pass it or an
    earlier generation samples it.
    """
    if not state.owed_trials:
        return ()
    before = [g for g in (state.generation, *state.ahead.values()) if g and g.number < generation.number]
    waiting = [
        (steps, trial.left)
        for trial in trials_left(state.owed_trials, before)
        if (steps := _trial_steps(state, trial)) is not None
    ]
    most = generation.size // 2
    rounds = max((left for _, left in waiting), default=0)
    return tuple(steps for turn in range(rounds) for steps, left in waiting if turn < left)[:most]


def _trial_steps(state: RunState, trial: OwedTrial) -> tuple[Step, ...] | None:
    graph, longest = present_graph(state), state.settings.max_length
    program = incumbent(state)
    base = tuple(step.operator for step in program)
    if trial.implementation is None:
        assert trial.edge is not None
        walk = walk_along(graph, base, trial.edge, longest)
        return None if walk is None else fill(walk, program, state.pools, state.credits)
    operator = state.operator_of[trial.implementation]
    if trial.implementation not in state.pools[operator]:  # a race put another in its place
        return None
    walk = walk_through(graph, base, operator, longest)
    if walk is None:
        return None
    steps = fill(walk, program, state.pools, state.credits)
    return replace_implementation(steps, operator, trial.implementation)


def replace_implementation(
    steps: Sequence[Step], operator: OperatorId, new: ImplementationId
) -> tuple[Step, ...]:
    """Return the pipeline with `new` at every position of `operator`."""
    changed = {"implementation": new}
    return tuple(s.model_copy(update=changed) if s.operator == operator else s for s in steps)


def fill(walk: Walk, program: Sequence[Step], pools: Pools, credits: CreditTable) -> tuple[Step, ...]:
    """Return `walk` with the implementations of `program` where they are still in their pools, and those of
    highest credit elsewhere."""
    chosen = {s.operator: s for s in reversed(program) if s.implementation in pools.get(s.operator, ())}
    best = best_implementations(walk, pools, credits)
    return tuple(chosen.get(step.operator, step) for step in best)


def walk_through(graph: OperatorGraph, base: Walk, operator: OperatorId, longest: int) -> Walk | None:
    """Return the walk of the graph nearest to `base` that passes `operator`; ``None`` if there is none.

    That is `base` itself, or `base` with the operator inserted or in the place of another, the last places
    first; else a shortest walk.
    """
    found = (walk for walk in _variants(base, operator) if operator in walk and graph.is_walk(walk, longest))
    nearest = next(found, None)
    if nearest is not None or operator not in graph.on_walks(longest):
        return nearest
    return graph.route_through(operator)


def walk_along(graph: OperatorGraph, base: Walk, edge: Edge, longest: int) -> Walk | None:
    """Return the walk of the graph nearest to `base` that goes along `edge`; ``None`` if there is none."""
    if edge not in graph.edges:
        return None
    ends = [end for end in edge if end not in (START, END)]
    for operator in ends:
        for walk in _variants(base, operator):
            if edge in pairwise((START, *walk, END)) and graph.is_walk(walk, longest):
                return walk
    before, after = graph.path(START, edge[0]), graph.path(edge[1], END)
    shortest = (*before, *after)[1:-1]
    return shortest if before and after and graph.is_walk(shortest, longest) else None


def _variants(base: Walk, operator: OperatorId) -> Iterator[Walk]:
    yield base
    for place in range(len(base), -1, -1):
        yield (*base[:place], operator, *base[place:])
    for place in range(len(base) - 1, -1, -1):
        yield (*base[:place], operator, *base[place + 1 :])


def certain_steps(graph: OperatorGraph, walk: Walk, longest: int) -> tuple[WalkStep, ...]:
    """Return the decisions of a walk that is not drawn: each has probability 1."""
    taken = zip((*walk, END), graph.feasible_along(walk, longest), strict=True)
    return tuple(
        WalkStep(actions, tuple(float(action == chosen) for action in actions), chosen)
        for chosen, actions in taken
    )
