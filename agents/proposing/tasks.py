"""What a proposer is told of a domain and of a run, and what it is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from dga2d.domains.core.contract import Card, Implementation, Operator, SolutionKind
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge, Step
from dga2d.replay.settings import Structure
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import RunState


@dataclass(frozen=True)
class OperatorContract:
    """An operator as a proposer sees it: what it is for, what it accepts and leaves behind."""

    id: OperatorId
    title: str
    summary: str
    category: str
    requires: SolutionKind
    provides: SolutionKind

    @property
    def is_initialiser(self) -> bool:
        """Whether only ``START`` may lead here."""
        return self.requires == "none"

    @classmethod
    def of(cls, operator: Operator) -> OperatorContract:
        """Return the contract of a library operator."""
        return cls(
            OperatorId(operator.id),
            operator.title,
            operator.summary,
            operator.category,
            operator.requires,
            operator.provides,
        )


@dataclass(frozen=True)
class HBounds:
    """Configured bounds of the search settings H = {K, τ} (paper, Section 3.1); both ends are allowed."""

    operator_limit_max: int
    """Largest K."""
    operator_limit_min: int = 1
    temperature_min: float = 0.1
    temperature_max: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.operator_limit_min <= self.operator_limit_max:
            raise ValueError(
                f"expected 1 <= K min <= K max, got {self.operator_limit_min} and {self.operator_limit_max}"
            )
        if not 0 < self.temperature_min <= self.temperature_max <= 1:
            raise ValueError(
                f"expected 0 < tau min <= tau max <= 1, got {self.temperature_min} and {self.temperature_max}"
            )

    @property
    def usual_temperature(self) -> float:
        """τ = 0.7 of the paper's experiments, moved into the bounds."""
        return min(max(0.7, self.temperature_min), self.temperature_max)


@dataclass(frozen=True)
class PoolEntry:
    """An implementation of the operator's current pool."""

    id: ImplementationId
    source: str
    credit: float
    """Q̄(c) of Section 3.5; 0 when it was never activated."""
    samples: int = 0
    """Candidates that used it."""
    error: float | None = None
    """Standard error of the credit; ``None`` where it was never used."""


@dataclass(frozen=True)
class EdgeCredit:
    """An edge of the current graph and its aggregated credit Q̄(O_i, O_j); 0 when never activated."""

    edge: Edge
    credit: float
    samples: int = 0
    error: float | None = None
    """Standard error of the credit; ``None`` where no candidate went along it."""


@dataclass(frozen=True)
class BankExample:
    """Code of another run that a prompt shows."""

    origin: str
    """Operator and domain that it was written for."""
    gain: str
    """What it gained there."""
    source: str


@dataclass(frozen=True)
class RunFacts:
    """What prompts tell of a run from their second edition on; lines of text."""

    budget: str
    instances: str
    max_tokens: int
    """Bound of the prompt."""
    incumbent: tuple[str, ...] = ()
    """Its positions, with what they account for."""
    neighbours: tuple[PoolEntry, ...] = ()
    """Code beside the operator in the incumbent."""
    gaps: tuple[str, ...] = ()
    """By instance of the batch."""
    met: tuple[str, ...] = ()
    """The best that races came to by training instance, those first on which fewest came to it."""
    positions: tuple[str, ...] = ()
    """What the operator did in the last generation."""
    tried: tuple[str, ...] = ()
    """Earlier proposals with what they gained, the oldest first."""
    blocks: tuple[str, ...] = ()
    """Exchangeable functions of other operators."""
    kernels: tuple[str, ...] = ()
    """Functions that code may import instead of writing them."""
    edition: Literal[2, 3, 4, 5, 6, 7, 8, 9, 10] = 2
    sizes: tuple[str, ...] = ()
    """Exact sizes of the training instances."""
    edits: tuple[str, ...] = ()
    """Earlier edits of the graph and what became of them, the oldest first."""
    feedback: tuple[str, ...] = ()
    """What was measured of the answer of the turn before."""
    direction: str = ""
    """What sets this proposal apart from others asked for at the same time."""
    examples: tuple[BankExample, ...] = ()
    """Entries of the run's bank with the operator's role, the best first."""
    is_incumbent: bool = True
    """Whether `incumbent` is that; else the nearest program that has the operator."""
    left_out: tuple[str, ...] = ()
    """What the prompt has no room for, as its fifth edition says it."""


@dataclass(frozen=True, kw_only=True)
class PastAttempts:
    """What came of earlier answers to a task."""

    diagnostic: str | None = None
    """Why the previous answer was refused; ``None`` at the first attempt."""
    attempt: int = 0
    """0, 1, …: answers refused before."""
    previous: str | None = None
    """The refused answer itself, where it is to be shown."""


@dataclass(frozen=True)
class InitializeTask(PastAttempts):
    """Choose operators, edges and H for the first graph (Algorithm 1, line 1; Template I)."""

    card: Card
    operators: tuple[OperatorContract, ...]
    bounds: HBounds
    baseline: tuple[OperatorId, ...]
    """Operators of the safe baseline pipeline, in order."""
    max_length: int
    """Most operators of a pipeline."""
    facts: RunFacts | None = None
    """For the third edition of the prompt; ``None`` for the first."""


@dataclass(frozen=True)
class ImplementTask(PastAttempts):
    """Write one implementation of an operator (Algorithm 2, LLMGenerateImplementation; Template IV)."""

    card: Card
    operator: OperatorContract
    mode: Literal["add", "replace"]
    pool: tuple[PoolEntry, ...]
    parent: PoolEntry
    """The implementation to improve on: the pool's highest credit."""
    removed: ImplementationId | None = None
    """The implementation that leaves the pool in ``replace`` mode."""
    others: tuple[Implementation, ...] = ()
    """Implementations of other operators: what proposals may be made of."""
    perturbations: tuple[Implementation, ...] = ()
    """Those of `others` that perturb a solution."""
    improvers: tuple[Implementation, ...] = ()
    """Those of `others` that improve a solution by local search."""
    intensifiers: tuple[Implementation, ...] = ()
    """Those of `others` that improve a solution as long as they may."""
    unused: tuple[tuple[OperatorContract, Implementation], ...] = ()
    """Implementations of the domain's library that the run's library leaves out; no prompt shows them."""
    structure_only: bool = False
    """Whether constants are set elsewhere, so that a proposal has to change more than them."""
    summary: str = ""
    """Where time and improvement went in the last generation."""
    draft: PoolEntry | None = None
    """The answer of the turn before, which this one is to improve; ``None`` at the first turn."""
    answer_form: Literal["whole", "diff"] = "whole"
    """Whether the code is answered as a whole text or as replacements in `base`."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Texts of the kernels that code may import, by name."""
    allows_no_change: bool = False
    allows_configurations: bool = False
    """Whether code that differs from a member of the pool in constants alone may take its place."""
    near_copy_lines: int = 0
    """Fewest new lines against every member of the pool."""
    measured: frozenset[ImplementationId] = frozenset()
    """Code that the gate measured in earlier generations, which is refused if it comes again."""
    round_units: int = 1
    """Work units that a round of a composed search counts beside its operators' own; for the built-in
    proposer."""
    rank: int = 1
    """Which of the `askers` this one is: the built-in proposer gives none of them what another may get."""
    askers: int = 1
    """Requests of the same time for code of the operator."""
    facts: RunFacts | None = None
    """For the second edition of the prompt; ``None`` for the first."""

    @property
    def base(self) -> PoolEntry:
        """The code that replacements refer to."""
        return self.draft or self.parent


@dataclass(frozen=True)
class ConnectTask(PastAttempts):
    """Propose edges (Algorithm 2, LLMGenerateCompatibleEdge; Template III in ``delta`` mode)."""

    card: Card
    operators: tuple[OperatorContract, ...]
    edges: tuple[EdgeCredit, ...]
    """All edges of the current graph, sentinels included."""
    remove: Edge | None
    """The lowest-credit edge, to be exchanged in ``replace`` mode."""
    mode: Literal["replace", "delta"]
    max_length: int
    summary: str = ""
    structure: Structure = "dg"
    """What the graph may look like."""
    allows_no_change: bool = False
    keeps_reach: bool = False
    """Whether every operator that is on some walk must stay on one."""
    edition: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] = 1
    """Of the prompt."""
    facts: RunFacts | None = None
    """From the third edition of the prompt on."""
    chosen_for: str = ""
    """Why it is that edge, as the fourth edition tells it."""

    def __post_init__(self) -> None:
        if self.mode == "replace" and self.remove is None:
            raise ValueError("expected the edge to be replaced in replace mode, got none")

    @cached_property
    def graph(self) -> OperatorGraph:
        """The current graph."""
        return OperatorGraph(
            tuple(sorted(op.id for op in self.operators)),
            frozenset(op.id for op in self.operators if op.is_initialiser),
            frozenset(entry.edge for entry in self.edges),
        )


CATEGORIES = (
    "initialisation",
    "construction",
    "local_search",
    "intensification",
    "perturbation",
    "recombination",
    "repair",
)
"""Roles that a new operator may have besides those of the library."""
MOST_OPERATOR_EDGES = 12
"""Most edges of a new operator."""


@dataclass(frozen=True)
class OperatorTask(PastAttempts):
    """Propose an operator that the graph lacks, with its edges and its first implementation."""

    card: Card
    operators: tuple[OperatorContract, ...]
    """Of the present graph."""
    edges: tuple[Edge, ...]
    incumbent: tuple[OperatorId, ...]
    """The walk that it is to improve."""
    taken: tuple[OperatorId, ...]
    """Every id that was ever used."""
    categories: Mapping[OperatorId, str]
    """Roles of all operators of run and library."""
    others: tuple[Implementation, ...]
    """Implementations of all operators: what proposals may be made of."""
    max_length: int
    structure: Structure
    retires: bool
    """Whether another operator leaves the graph if this one is taken."""
    facts: RunFacts
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Texts of the kernels that code may import, by name."""
    round_units: int = 1
    """Work units that a round of a composed search counts beside its operators' own; for the built-in
    proposer."""

    @cached_property
    def graph(self) -> OperatorGraph:
        """The present graph."""
        return OperatorGraph(
            tuple(sorted(op.id for op in self.operators)),
            frozenset(op.id for op in self.operators if op.is_initialiser),
            frozenset(self.edges),
        )


@dataclass(frozen=True)
class KernelTask(PastAttempts):
    """Write a faster version of a function that implementations share."""

    card: Card
    kernel: str
    """Its name."""
    summary: str
    """What it computes."""
    arguments: tuple[str, ...]
    """``NAME: type, shape and meaning``."""
    source: str
    """Its present text, a module."""
    hosts: tuple[str, ...]
    """Implementations that hold it, each with its part of the effort where that is known."""
    sizes: tuple[str, ...]
    """Of the training instances."""
    tried: tuple[str, ...]
    """What came of earlier requests for it, the oldest first."""
    facts: RunFacts | None = None
    """Never any."""


@dataclass(frozen=True)
class ShownProgram:
    """A complete program as a prompt shows it."""

    id: ImplementationId
    source: str
    idea: str
    """In one sentence; may be empty."""
    description: str
    """What a model said of it; empty where none was asked."""
    gap: str
    """Mean gap on the training batch in words."""
    score: float
    """S on the training batch; larger is better."""
    is_seed: bool = False
    """Whether it is the library's own."""


@dataclass(frozen=True)
class ProgramTask(PastAttempts):
    """Write a complete program, from nothing to a solution."""

    card: Card
    variation: str
    """Name of what is asked for, as the method has it."""
    instruction: str
    """The same in words."""
    parents: tuple[ShownProgram, ...]
    shows_scores: bool
    """Whether the prompt tells how good the parents are."""
    notes: tuple[str, ...]
    """Texts of earlier reflections."""
    operators: tuple[OperatorContract, ...]
    """Of the run's library, sorted by id."""
    code: tuple[Implementation, ...]
    """Code of these operators: what proposals may be made of."""
    facts: RunFacts
    """`RunFacts.blocks` holds the code that the prompt shows of the library."""
    frame: str = ""
    """Program whose skeleton stays as it is, where a component is asked for; empty for whole programs."""
    round_units: int = 1
    """Work units that a round of a composed search counts beside its operators' own; for the built-in
    proposer."""


@dataclass(frozen=True)
class ReflectTask(PastAttempts):
    """Say something about programs, in words."""

    card: Card
    variation: str
    instruction: str
    parents: tuple[ShownProgram, ...]
    notes: tuple[str, ...]
    max_words: int
    facts: RunFacts | None = None
    """Never any."""


Task = InitializeTask | ImplementTask | ConnectTask | OperatorTask | KernelTask | ProgramTask | ReflectTask


@dataclass(frozen=True)
class PromptContext:
    """The domain's card, and the contracts and implementations of its library."""

    card: Card
    contracts: Mapping[OperatorId, OperatorContract]
    implementations: tuple[Implementation, ...] = ()

    @classmethod
    def of(cls, card: Card, operators: tuple[Operator, ...]) -> PromptContext:
        """Return the context of a domain."""
        contracts = {OperatorId(op.id): OperatorContract.of(op) for op in operators}
        return cls(card, contracts, tuple(c for op in operators for c in op.implementations))


def operator_categories(task: OperatorTask) -> list[str]:
    """Return the roles that a new operator may have, sorted."""
    return sorted({*CATEGORIES, *task.categories.values()})


def known_contracts(state: RunState, context: PromptContext) -> Mapping[OperatorId, OperatorContract]:
    """Return the contracts of the library's operators and of those that joined in the run."""
    joined = {
        name: OperatorContract(name, new.title, new.summary, new.category, new.requires, new.provides)
        for name, new in state.operators.items()
    }
    return {**context.contracts, **joined} if joined else context.contracts


def known_of_library(state: RunState, context: PromptContext) -> list[Step]:
    """Return the implementations of the library that the run knows, in the library's order.

    They are those that its log lists, whose texts are the log's whatever the library holds by now, and what
    came into the run later as a text of the installed library. Of the latter only the installed library can
    tell.
    """
    found = {c.id: operator.id for operator in state.header.library for c in operator.implementations}
    came_later = {
        ImplementationId(c.id): OperatorId(c.operator)
        for c in context.implementations
        if ImplementationId(c.id) in state.operator_of and ImplementationId(c.id) not in found
    }
    if came_later:
        place = {ImplementationId(c.id): number for number, c in enumerate(context.implementations)}
        merged = {**found, **came_later}
        found = {c: merged[c] for c in sorted(merged, key=lambda c: place.get(c, -1))}
    return [Step(operator=operator, implementation=c) for c, operator in found.items()]


def improvement_summary(state: RunState, generation: GenerationState) -> str:
    """Return one line per operator: its share of this generation's effort and of the improvement made.

    Effort is work units under a work budget and seconds otherwise; improvement is the relative decrease
    of the score at the operator's positions. Sorted by operator.
    """
    effort: dict[str, float] = {}
    gain: dict[str, float] = {}
    for (j, _), outcome in sorted(generation.outcomes.items()):
        steps = generation.pipelines[j].steps
        for step, trace in zip(steps, outcome.trace, strict=False):
            spent = float(trace.work) if state.settings.work is not None else trace.elapsed_s
            effort[step.operator] = effort.get(step.operator, 0.0) + spent
            if trace.score_before is not None:
                scale = max(abs(trace.score_before), 1.0)
                lowered = (trace.score_before - trace.score_after) / scale
                gain[step.operator] = gain.get(step.operator, 0.0) + max(lowered, 0.0)
    total_effort, total_gain = sum(effort.values()) or 1.0, sum(gain.values()) or 1.0
    return "\n".join(
        f"{operator}: {100 * effort[operator] / total_effort:.0f} % of the effort, "
        f"{100 * gain.get(operator, 0.0) / total_gain:.0f} % of the improvement"
        for operator in sorted(effort)
    )
