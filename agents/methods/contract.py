"""What a method that evolves complete programs decides, and what it may decide it on.

A run goes in rounds. `Method.plan` says what a round asks a language model for; the programs that come are
evaluated; `Method.update` says what the method works on from then on. Both are pure functions of `Search`:
a replay calls them again. All else (calls and repairs, the ledger, the sandbox, evaluation, validation,
resuming, replay) is the same for every method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from dga2d.events import ImplementationId
from dga2d.events.payloads import TreeNode
from dga2d.replay.state.search_state import SEED, ProgramRecord, Reflection
from dga2d.replay.streams import stream


@dataclass(frozen=True)
class Variation:
    """A kind of thing that a method asks for."""

    instruction: str
    """What the prompt asks for, in full sentences."""
    shows_library: bool = False
    """Whether the prompt shows the library's code beside its operators' summaries."""
    shows_scores: bool = False
    """Whether the prompt tells how good the programs are that it shows."""
    max_words: int = 100
    """Most words of a reflection or description."""


@dataclass(frozen=True)
class Ask:
    """One call that a round asks for."""

    variation: str
    """Name of one of the method's variations."""
    parents: tuple[ImplementationId, ...] = ()
    """Programs that the prompt shows, in this order."""
    purpose: Literal["program", "reflect", "describe"] = "program"
    """``program`` brings a candidate, ``reflect`` words, ``describe`` words about the program of `after`,
    which is evaluated when it has them."""
    after: int | None = None
    """Place in the round of the ask whose text this one is given; it is made when that is there."""


@dataclass(frozen=True)
class Plan:
    """What a round asks for."""

    phase: str
    """Its name."""
    asks: tuple[Ask, ...]
    """At least one; those that wait for none are made at once."""


@dataclass(frozen=True)
class Population:
    """What a method works on after a round."""

    members: tuple[ImplementationId, ...]
    """In the method's own order, usually best first; the best are validated."""
    archive: tuple[ImplementationId, ...] = ()
    nodes: tuple[TreeNode, ...] = ()
    """Nodes of a tree that are new or changed."""
    memory: str = ""
    """What else it has to remember; replaces what was there."""


@dataclass(frozen=True)
class Search:
    """All that a method may decide on."""

    seed: int
    """Of the run."""
    round: int
    """1, 2, …: the round to be planned, or the one that has just been evaluated."""
    calls_left: int
    calls_limit: int
    size: int
    """Programs that the user wants it to work on; 0 for its own number."""
    attempts: int
    """Most calls for one ask, repairs included."""
    seeds: tuple[ImplementationId, ...]
    """The library's own programs; evaluated in the first round, which a method need not plan."""
    programs: Mapping[ImplementationId, ProgramRecord]
    """All programs evaluated so far, those of `latest` included."""
    latest: tuple[ProgramRecord, ...]
    """Programs of the round that has just been evaluated, by slot; empty when a round is planned."""
    population: tuple[ImplementationId, ...]
    archive: tuple[ImplementationId, ...]
    tree: Mapping[ImplementationId, TreeNode]
    reflections: tuple[Reflection, ...]
    """Oldest first."""
    memory: str
    phase: str
    """Of the round that has just been evaluated; empty when a round is planned."""
    sources: Mapping[ImplementationId, str] = field(default_factory=dict)
    """Texts of all programs; empty when a round is planned."""

    @property
    def members(self) -> tuple[ProgramRecord, ...]:
        """The population's programs."""
        return tuple(self.programs[name] for name in self.population)

    def draws(self, *keys: int) -> np.random.Generator:
        """Return the random stream of this round, or one of several by `keys`."""
        return stream(self.seed, "method", self.round, *keys)


class Method(Protocol):
    """A method that evolves complete programs. All functions are pure; none keeps anything between calls.

    The first round, which evaluates the library's own programs and costs no call, is planned for all methods;
    `update` sees it as any other, with the phase ``seeds``.
    """

    @property
    def variations(self) -> Mapping[str, Variation]:
        """What it asks for, by name."""
        ...

    def plan(self, search: Search) -> Plan | None:
        """Return the next round; ``None`` when the run is over. Not called when no call is left."""
        ...

    def update(self, search: Search) -> Population:
        """Return what the method works on after a round, `search.latest`. Every program named must be of
        `search.programs`."""
        ...

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        """Return texts of earlier rounds that the prompt of an ask shows, besides that of `Ask.after`."""
        ...


def is_seeding(search: Search) -> bool:
    """Return whether the round just evaluated was the first, of the library's own programs."""
    return search.phase == SEEDS


SEEDS = "seeds"
"""Phase of the first round."""


def seeding(search: Search) -> Plan:
    """Return the first round of every run."""
    return Plan(SEEDS, tuple(Ask(SEED, (name,)) for name in search.seeds))
