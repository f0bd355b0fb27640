"""The payloads that fill a log, decoded without their models: what a replay of millions of events reads.

Evaluations are nine events in ten, samples and scores nearly all others. A record here has the fields of its
payload and takes a quarter of the time. A decoder accepts nothing that the payload's model refuses, and reads
what it accepts as the model does; where it refuses, `decode_payload` has the last word and the words for it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads import FailureKind, SplitName

NOT_DECODED = (msgspec.MsgspecError, UnicodeDecodeError)
"""What a decoder raises for bytes that it leaves to the payload's model."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of the records: immutable, closed, without cycles. Fields stand in canonical order, in which their
    decoders find them at once."""


class PositionRecord(Record, frozen=True):
    """``PositionTrace``: what one position of a pipeline did."""

    elapsed_s: float
    score_after: float
    score_before: float | None
    work: int


class EvaluationRecord(Record, frozen=True):
    """``EvaluationRecorded``."""

    candidate: int
    diagnostic: str
    elapsed_s: float
    failure: FailureKind | None
    generation: int
    instance: InstanceKey
    objective: float | None
    solution: BlobDigest | None
    split: SplitName
    trace: tuple[PositionRecord, ...]
    work: int


class StepRecord(Record, frozen=True):
    """``Step``."""

    implementation: ImplementationId
    operator: OperatorId


class PolicyStepRecord(Record, frozen=True):
    """``PolicyStep``."""

    actions: tuple[OperatorId, ...]
    chosen: OperatorId
    probabilities: tuple[float, ...]


class SampleRecord(Record, frozen=True):
    """``PipelineSampled``."""

    candidate: int
    generation: int
    policy_steps: tuple[PolicyStepRecord, ...]
    policy_updates: int
    steps: tuple[StepRecord, ...]


class ScoreRecord(Record, frozen=True):
    """``CandidateScored``."""

    candidate: int
    gaps: tuple[float | None, ...]
    generation: int
    score: float


decode_evaluation: Callable[[bytes], EvaluationRecord] = msgspec.json.Decoder(EvaluationRecord).decode
decode_sample: Callable[[bytes], SampleRecord] = msgspec.json.Decoder(SampleRecord).decode
decode_score: Callable[[bytes], ScoreRecord] = msgspec.json.Decoder(ScoreRecord).decode
