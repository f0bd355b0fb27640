"""What contenders of a race are made of, and how an algorithm is changed in some of its positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dga2d.agents.agent import open_basis, present_graph
from dga2d.agents.pool_edits import contribution
from dga2d.agents.proposing.graphs import incompatibility
from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.agents.proposing.variation import ENDLESS, ITERABLE
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.tunables import Value
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import RaceMove, Step
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

Steps = tuple[Step, ...]
SAMPLED = 2
"""Pipelines of the generation that race, the best ones."""


class Configured(NamedTuple):
    """A text with other constants or, without any, with marked functions of other texts."""

    text: Implementation
    parent: ImplementationId
    constants: Mapping[str, Value]


class NewContender(NamedTuple):
    """A contender, and the texts that it brings."""

    move: RaceMove
    change: str
    steps: Steps
    configured: tuple[Configured, ...] = ()


@dataclass
class RaceMaterial:
    """What a move may use to make a contender."""

    state: RunState
    texts: Mapping[ImplementationId, str]
    """Sources of the implementations of the incumbent, of a screen's programs and of those that went far."""
    contracts: Mapping[OperatorId, OperatorContract]
    draws: np.random.Generator
    donors: Mapping[ImplementationId, str] = field(default_factory=dict)
    """Sources of the pools' implementations, where their marked functions may be taken from."""
    incumbent: Steps = field(init=False)
    rivals: tuple[Steps, ...] = field(init=False)
    """The best pipelines of the generation and of the run, best first."""

    def __post_init__(self) -> None:
        self.incumbent = incumbent(self.state)
        self.rivals = tuple(dict.fromkeys(self._rivals()))

    def _rivals(self) -> Iterator[Steps]:
        state, (generation, _) = self.state, open_basis(self.state)
        for program in (state.checkpoint, state.best):
            if program is not None:
                yield program.steps
        for _, j in sorted((-score, j) for j, score in generation.scores.items())[:SAMPLED]:
            yield generation.pipelines[j].steps

    def draw(self, count: int) -> int:
        """Return a number in 0 … `count` − 1."""
        return int(self.draws.integers(count))

    def is_walk(self, walk: Sequence[OperatorId]) -> bool:
        """Return whether operators fit one behind the other and the run's structure allows their edges."""
        if not 1 <= len(walk) <= self.state.settings.max_length:
            return False
        edges = tuple(pairwise((START, *walk, END)))
        graph = present_graph(self.state)
        if self.state.settings.structure != "dg" and not graph.edges.issuperset(edges):
            return False
        return all(incompatibility(edge, self.contracts) is None for edge in edges)


def effort(material: RaceMaterial, place: int) -> float:
    """Return the mean part of the time that a position of the incumbent takes; 1 where none is known."""
    known = contribution(material.state, material.incumbent[place].implementation)
    return known.effort / known.runs if known.runs else 1.0


def busy_places(material: RaceMaterial, first: int = 0) -> list[int]:
    """Return the incumbent's positions from `first` on that take at least ``share_effort`` of the time, the
    one that takes most first."""
    places = range(first, len(material.incumbent))
    ordered = sorted(places, key=lambda place: -effort(material, place))
    return [place for place in ordered if effort(material, place) >= material.state.settings.share_effort]


def operators_of(steps: Steps) -> tuple[OperatorId, ...]:
    return tuple(step.operator for step in steps)


def with_implementations(steps: Steps, taken: Mapping[int, ImplementationId]) -> Steps:
    """Return the steps with other implementations at some positions."""
    return tuple(
        step.model_copy(update={"implementation": taken[i]}) if i in taken else step
        for i, step in enumerate(steps)
    )


def may_replace(new: OperatorContract, old: OperatorContract) -> bool:
    """Return whether an operator is of the kind of another: it takes and leaves the same, and is of its
    category or, in the place of any search, one that uses all the time it gets."""
    is_search = new.category in ENDLESS and old.category in ITERABLE
    return (new.requires, new.provides) == (old.requires, old.provides) and (
        new.category == old.category or is_search
    )
