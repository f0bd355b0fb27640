"""Other methods: rounds in which whole programs are written."""

from __future__ import annotations

from typing import Literal

from dga2d.events._names import BlobDigest, ImplementationId
from dga2d.events._payload import Model, Payload


class ProgramAsk(Model):
    """One thing that a round asks a model for, or a program that it takes as it is."""

    purpose: Literal["program", "reflect", "describe"]
    """A candidate, words, or words about a program that is evaluated when it has them."""
    variation: str
    """What is asked for, by the method's own name: ``e1``, ``crossover``, …; ``seed`` for a program of the
    library, which no model is asked for."""
    parents: tuple[ImplementationId, ...]
    """Programs that the prompt shows, in its order; of a seed the program itself."""
    after: int | None
    """Slot of the round whose text it is given: a reflection, or the program to be described; ``None`` for
    none."""


class RoundPlanned(Payload, owner="method_runner", operation="round-planned/{generation}"):
    """What a method asks for in round t; slots are the places of `asks`."""

    generation: int
    phase: str
    """The method's own name of the round: ``seeds``, ``initial``, ``crossover``, …"""
    asks: tuple[ProgramAsk, ...]
    """What is asked for, by slot; at least one thing."""
    calls_left: int
    """Calls that the round may use, shared out evenly over the slots."""


class ProgramWritten(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """A complete program is there. It becomes the candidate of its slot at once, or when it is described."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    implementation: ImplementationId
    """Of the operator ``program``."""
    source: BlobDigest
    call: int | None
    """``None`` for a program of the library."""
    idea: str
    """In one sentence, as the proposer put it; may be empty."""


class ProgramRejected(
    Payload, owner="method_runner", operation="round-slot/{generation}/{slot}", completes_if="is_final"
):
    """An answer is no program, or no reflection; `is_final` when no further call is made for the slot."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    call: int
    attempt: int
    """0, 1, …: answers of the slot that were refused before."""
    stage: str
    """The check that failed."""
    diagnostic: str
    """What was wrong, for whoever is to do better."""
    is_final: bool
    """Whether the slot goes without."""


class ProgramSkipped(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """Nothing is asked for in a slot: no call may be made, or what it builds on is missing."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    reason: str
    """Why, in words."""


class ReflectionWritten(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """A model's words about programs: a hint, what was learned so far, or what a program does."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    text: str
    """On one line."""
    call: int


class TreeNode(Model):
    """A program as a node of a method's tree, as it is from now on."""

    program: ImplementationId
    """The node."""
    parent: ImplementationId | None
    """``None`` for a child of the root, which is no program."""
    value: float
    """What the search takes the subtree to be worth; larger is better."""
    visits: int
    """How often it or one of its subtree was expanded into."""


class PopulationUpdated(Payload, owner="method_runner", operation="population-updated/{generation}"):
    """The round is over: what the method works on from now on."""

    generation: int
    population: tuple[ImplementationId, ...]
    """In the method's own order, usually best first."""
    archive: tuple[ImplementationId, ...]
    """What is kept beside it: the elite, or the programs that no other dominates; empty where a method keeps
    none."""
    nodes: tuple[TreeNode, ...]
    """Nodes of the tree that are new or changed."""
    memory: str
    """What else the method has to remember, in its own words; replaces what was there."""
