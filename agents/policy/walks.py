"""Sampling and beam search over bounded walks, for any source of action distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np

from dga2d.agents.policy.contract import DecodedWalk, PolicyContext, SampledWalk, WalkStep
from dga2d.agents.policy.errors import InfeasibleWalkError, PolicyContextError
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START
from dga2d.replay.streams import choose

History = tuple[OperatorId, ...]


@dataclass(frozen=True)
class ActionDistribution:
    """π_θ(· | h, D_t) on the feasible set."""

    actions: tuple[OperatorId, ...]
    probabilities: tuple[float, ...]
    log_probabilities: tuple[float, ...]


class ActionReader(Protocol):
    """Source of action distributions for one context.

    Histories are asked for in order of length, each after the one it extends by one operator.
    """

    def distributions(self, histories: Sequence[History]) -> list[ActionDistribution]:
        """Return one distribution per history, in order; every feasible set has at least one action."""
        ...


def require_route(context: PolicyContext) -> None:
    """Check that the context admits a pipeline.

    Raises
    ------
    PolicyContextError
        No walk of at most ``max_length`` operators leads from ``START`` to ``END``.
    """
    if not context.graph.feasible_actions((), context.max_length):
        raise PolicyContextError(
            f"the graph has no pipeline of at most {context.max_length} operators from START to END"
        )


def require_feasible(context: PolicyContext, walk: History) -> tuple[tuple[OperatorId, ...], ...]:
    """Return the L+1 feasible sets along `walk`.

    Raises
    ------
    InfeasibleWalkError
        The walk, closed by ``END``, leaves one of them.
    """
    actions = (*walk, END)
    sets = []
    for position, action in enumerate(actions):
        feasible = context.graph.feasible_actions(actions[:position], context.max_length)
        if action not in feasible:
            raise InfeasibleWalkError(walk, position)
        sets.append(feasible)
    return tuple(sets)


def is_feasible(context: PolicyContext, walk: History) -> bool:
    """Return whether the context's graph has the walk."""
    try:
        require_feasible(context, walk)
    except InfeasibleWalkError:
        return False
    return True


def log_prior(context: PolicyContext, history: History, actions: Sequence[OperatorId]) -> tuple[float, ...]:
    """Return the logarithms of the prior that multiplies π_θ(· | history); empty where it is uniform.

    While a walk is the beginning of the guide, the guide's next step has the probability `focus` together
    with nothing else; after leaving it, the steps that follow the same operator in the guide have it, so that
    a walk comes back. The rest is equal among all other actions.
    """
    if not context.focus or not context.guide:
        return ()
    guide = (START, *context.guide, END)
    walked = (START, *history)
    if guide[: len(walked)] == walked:
        following = {guide[len(walked)]}
    else:
        following = {after for before, after in pairwise(guide) if before == walked[-1]}
    n, followed = len(actions), following.intersection(actions)
    if not followed or len(followed) == n:
        return ()
    other = math.log((1.0 - context.focus) / (n - len(followed)))
    favoured = math.log(context.focus / len(followed))
    return tuple(favoured if action in followed else other for action in actions)


class ActionTable(Protocol):
    """A feasible set and its probabilities, as a policy gives them and a log records them."""

    @property
    def actions(self) -> tuple[OperatorId, ...]: ...

    @property
    def probabilities(self) -> tuple[float, ...]: ...


@dataclass
class _OpenWalk:
    """A walk while it is being drawn."""

    draw: np.random.Generator
    operators: History = ()
    steps: list[WalkStep] = field(default_factory=list)
    is_closed: bool = False

    def take(self, table: ActionTable) -> None:
        """Draw the next action with one number of the walk's stream."""
        chosen = table.actions[choose(table.probabilities, float(self.draw.random()))]
        self.steps.append(WalkStep(table.actions, table.probabilities, chosen))
        if chosen == END:
            self.is_closed = True
        else:
            self.operators = (*self.operators, chosen)

    def walk(self) -> SampledWalk:
        return SampledWalk(self.operators, tuple(self.steps))


def draw_walk(tables: Sequence[ActionTable], draw: np.random.Generator) -> SampledWalk:
    """Return the walk that a stream draws from the given tables, one number per table."""
    drawing = _OpenWalk(draw)
    for table in tables:
        drawing.take(table)
    return drawing.walk()


def sample_walks(reader: ActionReader, draws: Sequence[np.random.Generator]) -> tuple[SampledWalk, ...]:
    """Draw one walk per stream; walks advance together so that the reader can batch them."""
    drawings = [_OpenWalk(draw) for draw in draws]
    while open_walks := [d for d in drawings if not d.is_closed]:
        found = reader.distributions([d.operators for d in open_walks])
        for drawing, distribution in zip(open_walks, found, strict=True):
            drawing.take(distribution)
    return tuple(drawing.walk() for drawing in drawings)


def beam_search(reader: ActionReader, width: int) -> tuple[DecodedWalk, ...]:
    """Return the best closed walks, with `width` open ones kept per length; see ``PipelinePolicy.decode``.

    Log-probabilities only fall along a walk, so the search ends when no open walk can still enter the
    best `width` closed ones.

    Raises
    ------
    ValueError
        `width` is not positive.
    """
    if width < 1:
        raise ValueError(f"expected width >= 1, got {width}")
    beams: list[tuple[float, History]] = [(0.0, ())]
    closed: list[tuple[float, History]] = []
    while beams:
        extended: list[tuple[float, History]] = []
        for (cost, history), found in zip(beams, reader.distributions([h for _, h in beams]), strict=True):
            for action, log_probability in zip(found.actions, found.log_probabilities, strict=True):
                entry = (cost - log_probability, history if action == END else (*history, action))
                (closed if action == END else extended).append(entry)
        closed = sorted(closed)[:width]
        beams = sorted(extended)[:width]
        if len(closed) == width:
            beams = [beam for beam in beams if beam <= closed[-1]]
    return tuple(DecodedWalk(history, -cost) for cost, history in closed)
