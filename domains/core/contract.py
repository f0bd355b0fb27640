"""What every problem domain offers: instances, a compiled decoder, an independent verifier, operators.

The names and meanings follow the condensed domain contracts of the DGA2D paper, Appendix C.5. A domain
knows nothing of agents, event logs or language models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NewType, Protocol

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InvalidSolutionError

if TYPE_CHECKING:
    from dga2d.domains.drawing import Picture

OperatorName = NewType("OperatorName", str)
"""Name of an operator within its domain: lower-case ASCII words joined by ``_``."""
ImplementationName = NewType("ImplementationName", str)
"""``<operator id>.<first 12 hex digits of the SHA-256 of the source>``: unique across all pools."""

Tier = Literal["basic", "advanced"]
SolutionKind = Literal["none", "partial", "complete"]
Part = Literal["train", "validation", "test"]
"""A part of a domain's instances; no two share any."""
ReferenceKind = Literal["optimal", "best_known", "computed"]
GIVEN_TO_ALL = frozenset({"budget", "prepared", "rng"})
"""Keys of ``env_data`` that are no data of the instance, in every domain (`dga2d.domains.execution`)."""


class State:
    """A solution under construction, handed from operator to operator.

    Attributes
    ----------
    sequence
        int32 `(length,)`, the encoding named on the domain's card; empty before an initialiser ran.
    metadata
        Further arrays of the encoding (FJSP's ``machine_alloc``, say); empty for most domains.
    """

    __slots__ = ("metadata", "sequence")

    def __init__(
        self, sequence: NDArray[np.int32] | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        self.sequence: NDArray[np.int32] = np.empty(0, np.int32) if sequence is None else sequence
        self.metadata: dict[str, Any] = {} if metadata is None else metadata

    def copy(self) -> State:
        """Return an independent copy: arrays of the encoding are copied, too."""
        return State(
            np.array(self.sequence, dtype=np.int32, copy=True),
            {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in self.metadata.items()},
        )


Decoder = Callable[[State], float]
"""Compiled decoder: the minimisation score of a state; the domain's invalid score when it is broken."""


@dataclass(frozen=True)
class Reference:
    """The value a gap is measured against (y_ref of Eq. 3), in the problem's own direction."""

    value: float
    """In the unit of the objective."""
    kind: ReferenceKind
    """Whether it is proven, the best published, or computed here."""
    source: str
    """Who published or computed it, and how."""


@dataclass(frozen=True)
class Instance:
    """One problem instance.

    `data` holds what the domain's reader produced (arrays are read-only); only the domain looks inside.
    """

    domain: str
    """Name of its domain."""
    group: str
    """Benchmark group, the unit of the 60/20/20 split (``ta``, ``tsplib``, …)."""
    name: str
    """Stable id within the group, e.g. ``ta01``."""
    data: Mapping[str, Any] = field(repr=False)
    """What the domain's reader produced."""
    reference: Reference | None = None
    """What its gap is measured against; ``None`` where nothing is known, as for a user's own file."""

    @property
    def key(self) -> str:
        """``group/name``: how logs and reports name the instance."""
        return f"{self.group}/{self.name}"


@dataclass(frozen=True)
class InstanceRef:
    """Where an instance can be had: cheap to list, loaded by :meth:`Domain.load` when needed."""

    domain: str
    """Name of its domain."""
    group: str
    """Benchmark group, as in `Instance`."""
    name: str
    """Stable id within the group."""
    path: Path | None
    """File in its published format; ``None`` where the domain generates the instance itself."""
    reference: Reference | None = None
    """As in `Instance`."""
    part: Part | None = None
    """Split that its domain puts it into, ``train``, ``validation`` or ``test``; ``None``: it is drawn."""
    only_named: bool = False
    """Whether a run is for it only where its group is named: ``all`` passes over it."""

    @property
    def key(self) -> str:
        """``GROUP/NAME``, as in `Instance`."""
        return f"{self.group}/{self.name}"


@dataclass(frozen=True)
class Verdict:
    """What the independent verifier says of a solution."""

    objective: float | None
    """Objective in the problem's own direction, less than 1e100 from 0; ``None`` when the solution is
    broken."""
    violation: str | None
    """First broken constraint in words; ``None`` when the solution is feasible."""

    @property
    def is_feasible(self) -> bool:
        """Whether no constraint is broken."""
        return self.violation is None


@dataclass(frozen=True)
class Card:
    """The problem card shown to proposers (own wording of the paper's Appendix C.5 facts)."""

    title: str
    """The problem's full name."""
    objective: str
    """What is minimised or maximised, and the decoder's score where it differs."""
    encoding: str
    """What `State.sequence` and `State.metadata` hold: length, dtype, range."""
    decoder: str
    """How a state becomes a solution."""
    environment: Mapping[str, str]
    """Key of ``env_data`` → its shape, dtype, unit and meaning; none of `GIVEN_TO_ALL`."""
    constraints: str
    """What a state must keep to be valid."""
    score_source: str = ""
    """Python source of a score that the author of a problem wrote and of all that it calls; empty where the
    decoder is described in words. From the ninth edition of prompts on it is told in the decoder's place."""
    repeats: bool = False
    """Whether a walk is a step that is run again and again until the problem is solved: its operators then
    take steps of a method, and a search of their own inside one of them would only repeat the others."""


@dataclass(frozen=True)
class Implementation:
    """One piece of code for an operator: text, addressed by its digest."""

    operator: OperatorName
    """The operator it stands for."""
    source: str
    """The whole text; it imports nothing of the domain."""
    origin: str
    """``library:<file>`` or the event that brought it."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the UTF-8 source, 64 hex digits."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @cached_property
    def id(self) -> ImplementationName:
        """``OPERATOR.DIGEST`` with the first 12 hex digits of the digest."""
        return ImplementationName(f"{self.operator}.{self.digest[:12]}")


@dataclass(frozen=True)
class Operator:
    """A node of the graph: what it does, what it accepts and leaves, where it comes from."""

    id: OperatorName
    """Unique within the domain."""
    title: str
    """Name for people."""
    summary: str
    """What it does, in a sentence for proposers."""
    category: str
    """``initialisation``, ``local_search``, ``perturbation``, ``intensification`` or ``recombination``."""
    requires: SolutionKind
    """Kind of solution the operator needs; ``none`` marks an initialiser (entry node)."""
    provides: SolutionKind
    """Kind of solution it leaves."""
    tier: Tier
    """``--library basic`` uses operators of the basic tier alone."""
    complexity: str
    """Of one step, in the size of the instance."""
    source: str
    """Author, title, year of the method."""
    implementations: tuple[Implementation, ...]
    """Its pool at the start of a run, at least one."""

    @property
    def is_initialiser(self) -> bool:
        """Whether it starts from nothing: only ``START`` leads to it."""
        return self.requires == "none"


@dataclass(frozen=True)
class PipelineStep:
    """One position of a concrete algorithm: the operator and the implementation that stands for it."""

    operator: OperatorName
    """The operator."""
    implementation: Implementation
    """One of its implementations."""


@dataclass(frozen=True)
class OwnScore:
    """A domain's own measure of an algorithm on an instance, in place of a gap: larger is better.

    Such a domain has it as its attribute ``own_score``, is to be maximised, and its objectives are the
    scores.
    """

    failure: float
    """What an instance counts on which the algorithm fails, below 0 and below every score of a success."""
    formula: str
    """How it comes about, in a line."""

    def __post_init__(self) -> None:
        if not self.failure < 0.0:
            raise ValueError(f"expected failure < 0, got {self.failure}")


def own_score_of(domain: Domain) -> OwnScore | None:
    """Return the measure of a domain that has one of its own; ``None`` where gaps are measured."""
    found = getattr(domain, "own_score", None)
    return found if isinstance(found, OwnScore) else None


REPEATED_WALKS: Mapping[str, Any] = {
    "calibration": "off",
    "operator_limit": 40,
    "race_contenders": 16,
    "race_sweep": 10,
    "race_moves": "code,constants,crossover,finalist,implementation,sampled,walk",
    "rejection_limit": 0,
}
"""Settings of runs whose walk is repeated: work is questions to an oracle, all positions share one budget,
and which method takes the steps decides more than anything else, so that races try every operator of the
library, and gain where no code is accepted."""


def settings_of(domain: Domain) -> dict[str, Any]:
    """Return the settings of a run that a domain has other defaults for, its attribute ``run_settings``."""
    own, score = dict(getattr(domain, "run_settings", {})), own_score_of(domain)
    return own if score is None else {"failure_reward": score.failure, **own}


def unit_seconds_of(domain: Domain) -> float:
    """Return how long a unit of work takes where that is long, a domain's own ``unit_seconds()``; 0 without
    it.
    """
    measured: Callable[[], float] | None = getattr(domain, "unit_seconds", None)
    return 0.0 if measured is None else measured()


class Domain(Protocol):
    """One problem domain. All methods are pure; none touches the network or a global random state.

    Evaluation workers import the module ``decoder`` of the domain's package and nothing else of it: its
    ``make_decoder`` gets what `environment` returned and must not need `Instance` or the package around it.
    `verify` runs in the trusted parent and must not share code with `decoder`.
    """

    @property
    def name(self) -> str:
        """What it is called on the command line; a plug-in's is that of its package or entry point."""
        ...

    @property
    def card(self) -> Card:
        """What proposers are told of the problem."""
        ...

    @property
    def sense(self) -> Literal["min", "max"]:
        """Direction of the *objective* (the decoder's score is always minimised)."""
        ...

    @property
    def invalid_score(self) -> float:
        """Score of a broken state."""
        ...

    def operators(self) -> tuple[Operator, ...]:
        """Return the fixed, versioned operator library, sorted by id."""
        ...

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        """Return the pipeline a user gets without any evolution; its first step is an initialiser."""
        ...

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        """Return the same for ``--library basic``, of operators of the basic tier alone."""
        ...

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """Return a classical iterated local search out of the library, for side-by-side tables."""
        ...

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the instances the program makes without any download, with references, sorted by key."""
        ...

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Return the instances found below `data_dir`/<name>, with best-known values, sorted by key.

        Raises
        ------
        InstanceFormatError
            The table of best-known values is malformed.
        """
        ...

    def load(self, ref: InstanceRef) -> Instance:
        """Generate or read one instance.

        Raises
        ------
        InstanceFormatError
            The file is missing, truncated or breaks its format.
        """
        ...

    def smoke_instance(self) -> Instance:
        """Return a small instance (an evaluation takes milliseconds) for validating new implementations."""
        ...

    def rehearsal_instance(self) -> Instance:
        """Return an instance of ordinary size that belongs to no split.

        New implementations run on it for a moment before they are measured, so that compiled code which the
        smoke instance does not reach is compiled, too. A domain without compiled operators may return its
        smoke instance.
        """
        ...

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return exactly the keys of the card: Python ints, floats, strings and numpy arrays only."""
        ...

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        """Return the compiled decoder of an environment (numba, cached on disk); allocation-free per call.

        It is compiled when it is returned: the sealed child that calls it may not read numba's cache.
        """
        ...

    def verify(self, instance: Instance, state: State) -> Verdict:
        """Check every constraint in plain Python/numpy and compute the objective. Never raises on bad
        input: a wrong dtype, shape or type is a violation.
        """
        ...

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text of a solution file in the community's format.

        Raises
        ------
        InvalidSolutionError
            The state does not pass `verify`.
        """
        ...

    def picture(self, instance: Instance, state: State) -> Picture:
        """Return a drawing of the solution (`dga2d.domains.drawing`), or a figure of matplotlib, which is
        optional.

        Raises
        ------
        InvalidSolutionError
            The state does not pass `verify`.
        NotOfferedError
            The domain has no picture.
        ImportError
            It is drawn by matplotlib, and there is none.
        """
        ...

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """Return a solution by OR-Tools, for side-by-side tables: no operator, no sandbox, wall-clock
        seconds.

        ``None`` if none was found in time.

        Raises
        ------
        NotOfferedError
            The domain has no model for OR-Tools.
        ImportError
            There is no ``ortools``, an optional dependency.
        """
        ...


def require_feasible(verdict: Verdict) -> float:
    """Let nothing but a feasible solution pass; its objective.

    Raises
    ------
    InvalidSolutionError
        The verifier found a violation, which is the message.
    """
    if verdict.objective is None:
        raise InvalidSolutionError(verdict.violation)
    return verdict.objective


def normalised_gap(
    objective: float, reference: float, sense: Literal["min", "max"], scale: float | None = None
) -> float:
    """Return the gap g = (y − y_ref)/s for minimisation, (y_ref − y)/s for maximisation.

    Positive: worse than the reference. A fraction, not a percentage. s is `scale`, or else max(|y_ref|, 1).
    """
    if scale is None:
        scale = max(abs(reference), 1.0)
    difference = objective - reference if sense == "min" else reference - objective
    return difference / scale
