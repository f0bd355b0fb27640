"""What a method of whole programs has found so far: programs, population, archive, tree, reflections."""

from __future__ import annotations

from dataclasses import dataclass, field

from immutables import Map

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import ProgramAsk, TreeNode

PROGRAM = OperatorId("program")
"""The only operator of such a run: a walk from ``START`` to ``END`` is one complete program."""
SEED = "seed"
"""Variation of programs of the library, which are taken as they are."""


@dataclass(frozen=True)
class ProgramRecord:
    """A program that was evaluated."""

    id: ImplementationId
    number: int
    """1, 2, … in the order of rounds and slots."""
    round: int
    slot: int
    variation: str
    parents: tuple[ImplementationId, ...]
    idea: str
    """In one sentence of the proposer's; may be empty."""
    description: str
    """What a model said of it when it was asked to describe it; empty where it was not."""
    score: float
    """S on the training batch, larger is better; R_fail where it failed."""
    effort: float
    """Mean work units under a work budget, mean seconds otherwise; 0 where it failed."""
    failed: bool


@dataclass(frozen=True)
class Reflection:
    """A model's words about programs, none of which is code."""

    round: int
    slot: int
    variation: str
    text: str


@dataclass(frozen=True)
class WrittenProgram:
    """A program of the open round."""

    implementation: ImplementationId
    idea: str


@dataclass(frozen=True)
class RoundState:
    """Progress of one round."""

    seq: int
    phase: str
    asks: tuple[ProgramAsk, ...]
    calls_left: int
    """When it was planned."""
    verdicts: Map[int, int] = Map()
    """Slot → event with which it has what it asks for, or goes without."""
    written: Map[int, WrittenProgram] = Map()
    """By slot."""
    texts: Map[int, str] = Map()
    """Reflections and descriptions by slot."""
    updated_seq: int = 0
    """Event that ended the round; 0 before."""

    def follower(self, slot: int) -> int | None:
        """Return the slot that describes the program of `slot`; ``None`` if none does."""
        return next(
            (i for i, ask in enumerate(self.asks) if ask.purpose == "describe" and ask.after == slot), None
        )


@dataclass(frozen=True)
class SearchState:
    """All that a method decides on, besides calls and settings."""

    programs: Map[ImplementationId, ProgramRecord] = Map()
    """Every program of a closed round; the first of those with the same text."""
    population: tuple[ImplementationId, ...] = ()
    archive: tuple[ImplementationId, ...] = ()
    tree: Map[ImplementationId, TreeNode] = field(default_factory=Map)
    reflections: tuple[Reflection, ...] = ()
    """Oldest first."""
    memory: str = ""
