"""Algorithms compared with each other: validations, races and the held-out test."""

from __future__ import annotations

from typing import ClassVar, Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads._run import LibraryOperator
from dga2d.events.payloads._shared import Edge, RaceMove, RaceVerdict, Step


class ValidationStarted(Payload, owner="conductor", operation="validation-started/{generation}"):
    """The policy is to be validated after generation t on these instances."""

    generation: int
    instances: tuple[InstanceKey, ...]


class PipelinesDecoded(Payload, owner="pipeline_sampler", operation="pipelines-decoded/{generation}"):
    """What a validation compares: the beam's pipelines with the highest-credit implementations, or a
    method's best programs, best first, then what else takes part."""

    generation: int
    pipelines: tuple[tuple[Step, ...], ...]
    log_probabilities: tuple[float, ...]
    """Of the beam's pipelines; empty for programs of another method."""


class ValidationScored(Payload, owner="validator", operation="validation-scored/{generation}"):
    """Mean raw reward of each decoded pipeline on the validation instances."""

    generation: int
    scores: tuple[float, ...]


class ChallengerComparison(Model):
    """A validated pipeline beside the checkpoint, or the safe baseline, pair by pair: an instance under one
    random stream."""

    candidate: int
    """Number among the decoded pipelines."""
    pairs: int
    """Of all validations in which both took part; where the settings take an instance for one observation,
    instances, each with the mean of its pairs."""
    mean_gain: float
    """Mean of the other's gap less the pipeline's, as a fraction of the reference."""
    interval: tuple[float, float] | None
    """Student's 95 % interval of the mean; ``None`` for a single pair."""
    won: int
    """Pairs in which the pipeline's gap was smaller."""
    lost: int
    """Pairs in which it was larger."""
    p_value: float
    """One-sided, of a mean gain that is not above zero; corrected for all that are tested with it where
    `checkpoint_test` is ``joint``."""


class ChallengersCompared(Payload, owner="validator", operation="challengers-compared/{generation}"):
    """All validated pipelines beside the checkpoint (at first: the safe baseline)."""

    left_out = frozenset({"over_baseline"})

    generation: int
    checkpoint: int
    """Number of the checkpoint among the decoded pipelines."""
    error: float
    """Probability with which this validation may take something for better that is not."""
    comparisons: tuple[ChallengerComparison, ...]
    """One for each other pipeline, in their order."""
    better: tuple[int, ...]
    """Pipelines that are better than the checkpoint at that error rate, all of them together; best mean
    first. Where they are tested against the baseline: it, and what is better than it, if ahead of the
    checkpoint in the mean."""
    over_baseline: tuple[ChallengerComparison, ...] | None = None
    """All but the checkpoint beside the safe baseline, where they are tested against that and the checkpoint
    is another program."""


class CheckpointSelected(Payload, owner="validator", operation="checkpoint-selected/{generation}"):
    """The best validated algorithm so far."""

    generation: int
    score: float
    pipeline: tuple[Step, ...]
    policy_updates: int


class Contender(Model):
    """An algorithm in a race."""

    move: RaceMove
    """How it came about."""
    change: str
    """What differs from the incumbent, in words; empty for the incumbent itself."""
    pipeline: tuple[Step, ...]
    """Its operators and implementations."""


class Configuration(Model):
    """An implementation that differs from another in its tunable constants, or has marked functions of
    others; no model wrote it."""

    implementation: ImplementationId
    """Its id."""
    source: BlobDigest
    """Its text."""
    parent: ImplementationId
    """What it was made of."""
    constants: dict[str, int | float | str | bool]
    """The constants that differ, with their values; empty where functions do: such a text is a new one."""


class RaceStarted(Payload, owner="racer", operation="race-started/{generation}"):
    """Contenders are to be compared with the incumbent on growing sets of training instances."""

    generation: int
    contenders: tuple[Contender, ...]
    """The first is the incumbent."""
    configurations: tuple[Configuration, ...]
    """Implementations that the contenders bring with them."""
    instances: tuple[InstanceKey, ...]
    """In the order in which they are used; a second occurrence has another random stream."""
    rounds: tuple[int, ...]
    """How many of `instances` have been used when each round is scored; increasing, the last uses all."""
    selecting: int
    """Rounds that select a finalist; those after them compare it with the incumbent on instances that took
    no part in its selection. A race in which all select is a screen (`screen_instances`): it asks what
    constants and functions of the incumbent are worth, and nobody wins."""


class Standing(Model):
    """How a contender compares with the incumbent in a round: gains are gaps of the incumbent less its
    own, pair by pair. In rounds that select those of the gate count, too, where `race_evidence` says so."""

    left_out: ClassVar[frozenset[str]] = frozenset({"pairs"})

    contender: int
    """Its number, from 1."""
    gain: float | None
    """Mean, a fraction; ``None`` where the contender failed."""
    won: int
    """Instances with a positive gain."""
    lost: int
    """Instances with a negative gain."""
    p: float | None
    """Of "the mean gain is not above zero", by Student's and Wilcoxon's tests together; ``None`` in rounds
    that select, and for who is behind."""
    verdict: RaceVerdict
    """Why it leaves: it failed on an instance, had no positive mean gain, others gained more, or, in the last
    round, the test did not refuse that it is no better."""
    pairs: int | None = None
    """Pairs of which `gain` is the mean, also those of earlier races; ``None``, and absent from the log,
    without `race_memory` and `race_shrinkage`."""


class RaceRoundScored(Payload, owner="racer", operation="race-round/{generation}/{round}"):
    """All evaluations of a round are in: who stays, and why the others leave."""

    generation: int
    round: int
    """0, 1, …"""
    standings: tuple[Standing, ...]
    """Of all contenders that were left but the incumbent, by number."""


class PoolChange(Model):
    """An implementation of the incumbent that joins the pool of its operator."""

    operator: OperatorId
    """Whose pool changes."""
    added: ImplementationId
    """What joins."""
    removed: ImplementationId | None
    """The text it configures, whose credits it takes over; ``None`` where that has left the pool."""


class IncumbentSelected(Payload, owner="racer", operation="incumbent-selected/{generation}"):
    """The race is over: the incumbent from now on, the one before or the contender that beat it."""

    generation: int
    contender: int
    """0 where the incumbent stays."""
    pipeline: tuple[Step, ...]
    """The incumbent's operators and implementations."""
    pool_changes: tuple[PoolChange, ...]
    """Implementations that the pools lacked."""
    added_edges: tuple[Edge, ...]
    """Edges of its walk that the graph lacked."""


TestLabel = Literal["evolved", "baseline", "hand_tuned"]
"""What an algorithm of a held-out test is: the checkpoint, the safe baseline of the run's library, or that of
the whole library."""


class TestCandidate(Model):
    """An algorithm that goes through the held-out test."""

    label: TestLabel
    pipeline: tuple[Step, ...]
    time_limit_s: float | None
    """Seconds it may take per instance, above 0; ``None`` for the run's own budget."""


class TestStarted(Payload, owner="conductor", operation="test-started/{attempt}"):
    """The held-out test begins. A second attempt is only written when it was forced."""

    version: ClassVar[int] = 2
    left_out: ClassVar[frozenset[str]] = frozenset({"hand_tuned"})

    attempt: int
    forced: bool
    candidates: tuple[TestCandidate, ...]
    instances: tuple[InstanceKey, ...]
    hand_tuned: tuple[LibraryOperator, ...] | None = None
    """Operators of the whole library's safe baseline in its order, each with the implementation it uses,
    where that is tested too; ``None`` where it is not."""


class TestScored(Payload, owner="validator", operation="test-scored/{attempt}"):
    """Mean gap of each candidate (a fraction; ``None`` where an instance failed) on the test split."""

    attempt: int
    mean_gaps: tuple[float | None, ...]
    failures: tuple[int, ...]
