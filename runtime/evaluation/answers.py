"""How the trusted parent reads a child's ending: it verifies the solution and computes the objective."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from anyio import to_thread

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Instance, State
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.oracle import with_record
from dga2d.events.payloads import FailureKind, PositionTrace
from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.diagnostics import shorten
from dga2d.runtime.evaluation.errors import WireError

_FAILURES = frozenset(get_args(FailureKind))
_MAX_POSITIONS = 1000
_WORK_LIMIT = 1 << 62
_MOST_SECONDS = 1e9
_MOST_OBJECTIVE = 1e100
"""Whose square, and a sum of such squares, is still a number."""
_SMALL_BYTES = 1 << 14
"""Instance and answer of which the solution is verified sooner than a thread could be asked to do it."""


@dataclass(frozen=True)
class EvaluationFailure:
    """Why there is no solution."""

    kind: FailureKind
    diagnostic: str


@dataclass(frozen=True)
class ChildAnswer:
    """A child's well-formed answer; nothing in it is believed but its form."""

    state: State
    trace: tuple[PositionTrace, ...]
    work: int


def read_ending(
    ended: Mapping[str, Any], cpu_limit_s: float | None = None
) -> ChildAnswer | EvaluationFailure:
    """Return the answer or the failure of a child that ended as the zygote's message `ended` says.

    `cpu_limit_s` is the request's own limit of processor time.
    """
    end = ended["end"]
    if end == "answered":
        try:
            return _read_answer(ended["answer"])
        except WireError as error:
            return EvaluationFailure("crashed", f"the answer was malformed: {shorten(error.reason)[:200]}")
    if end == "timeout":
        phase = "while it ran" if ended["has_started"] else "while it was imported"
        return EvaluationFailure("timeout", f"the time limit was exceeded {phase}")
    if end == "cpu_timeout":
        used_s = ended["cpu_s"]
        return EvaluationFailure(
            "timeout", f"{used_s:.2f} s of processor time were used of {cpu_limit_s:g} s allowed"
        )
    if end == "oversized_answer":
        return EvaluationFailure("oversized_answer", "the answer exceeded its size limit")
    return _of_death(ended["exit_code"])


def _of_death(code: int) -> EvaluationFailure:
    if code == -signal.SIGXCPU:
        return EvaluationFailure("timeout", "the limit of processor time was exceeded")
    if code == -signal.SIGXFSZ:
        return EvaluationFailure("forbidden", "a file exceeded its size limit")
    if code == -signal.SIGSYS:
        return EvaluationFailure("forbidden", "a forbidden system call was made")
    if code < 0:
        return EvaluationFailure("crashed", f"the process was ended by {_signal_name(-code)}")
    return EvaluationFailure("crashed", f"the process ended early with exit status {code}, without an answer")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read_answer(data: bytes) -> ChildAnswer | EvaluationFailure:
    fields = wire.decode(data)
    if fields.get("kind") == "failure":
        kind, diagnostic = fields.get("failure"), fields.get("diagnostic")
        if not isinstance(kind, str) or kind not in _FAILURES or not isinstance(diagnostic, str):
            raise WireError("failure without a kind")
        return EvaluationFailure(kind, shorten(_printable(diagnostic)))  # type: ignore[arg-type]
    sequence, metadata = fields.get("sequence"), fields.get("metadata")
    if not isinstance(sequence, np.ndarray) or not isinstance(metadata, bytes):
        raise WireError("solution without sequence or metadata")
    return ChildAnswer(
        State(sequence, wire.decode(metadata)),
        _trace(fields.get("trace")),
        _count(fields.get("work"), "work"),
    )


def _printable(text: str) -> str:
    cleaned = "".join(c if c.isprintable() or c == "\n" else "�" for c in text)
    return cleaned.encode("utf-8", "replace").decode()


def _trace(value: object) -> tuple[PositionTrace, ...]:
    if not isinstance(value, list) or len(value) > _MAX_POSITIONS:
        raise WireError("malformed trace")
    return tuple(_position(entry) for entry in value)


def _position(entry: object) -> PositionTrace:
    if not isinstance(entry, list) or len(entry) != 4:
        raise WireError("malformed trace")
    before, after, elapsed, work = entry
    return PositionTrace(
        score_before=None if before is None else _number(before),
        score_after=_number(after),
        elapsed_s=_seconds(elapsed),
        work=_count(work, "work"),
    )


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise WireError("trace holds no finite number")
    return float(value)


def _seconds(value: object) -> float:
    """Return a duration; one below 0, of a clock that stood still for the compiler or was set back, as 0."""
    seconds = _number(value)
    if not abs(seconds) < _MOST_SECONDS:
        raise WireError("trace holds no duration")
    return max(seconds, 0.0)


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _WORK_LIMIT:
        raise WireError(f"{name} is no count")
    return value


def compiled_code(ended: Mapping[str, Any], max_bytes: int) -> bytes | None:
    """Return what a successful preparation compiled, as it came; ``None`` if its form is wrong.

    It is opaque: only sealed children of the same implementation look into it.
    """
    try:
        code = wire.decode(ended["answer"]).get("compiled")
        if not isinstance(code, bytes) or len(code) > max_bytes:
            return None
        files = wire.decode(code)
    except WireError:
        return None
    return code if all(isinstance(content, bytes) for content in files.values()) else None


async def verdict(
    domain: Domain, request: EvaluationRequest, ended: Mapping[str, Any] | EvaluationFailure
) -> EvaluationReply:
    """Return the reply to `request`; `ended` is what `EvaluatorPool.run` returned, here or on another
    machine.
    """
    if isinstance(ended, EvaluationFailure):
        return failure_reply(ended.kind, ended.diagnostic)
    arguments = (domain, request.instance, ended, read_ending(ended, request.cpu_limit_s))
    if ended["environment_bytes"] + len(ended["answer"]) <= _SMALL_BYTES:
        return judge(*arguments)
    return await to_thread.run_sync(judge, *arguments)


def judge(
    domain: Domain, instance: Instance, ended: Mapping[str, Any], outcome: ChildAnswer | EvaluationFailure
) -> EvaluationReply:
    """Return the reply. The domain's verifier decides; the child's own score plays no part.

    Where the domain has an oracle, the verifier sees the oracle's record in the state's metadata.
    """
    span = float(ended["elapsed_s"]), float(ended["cpu_s"]), bool(ended["has_compiled"])
    if isinstance(outcome, EvaluationFailure):
        return failure_reply(outcome.kind, outcome.diagnostic, *span)
    state = outcome.state
    if hasattr(domain, "oracle_data"):
        try:
            state = with_record(state, wire.decode(ended["record"]))
        except WireError:
            return failure_reply("crashed", "the oracle ended without a record of what was asked", *span)
    objective, violation = _verify(domain, instance, state)
    solution = None
    if violation is None:
        try:
            solution = _canonical(state)
        except ValueError:
            violation = "the metadata holds values that are no finite JSON numbers or text"
    return EvaluationReply(
        objective if violation is None else None,
        None if violation is None else "infeasible",
        "" if violation is None else shorten(violation),
        span[0],
        outcome.work,
        outcome.trace,
        solution,
        *span[1:],
    )


def _verify(domain: Domain, instance: Instance, state: State) -> tuple[float | None, str | None]:
    try:
        verdict = domain.verify(instance, state)
    except DomainError as error:  # it says itself what is wrong, and where
        return None, str(error)
    except Exception as error:  # a verifier must not raise; should one, hostile input must not stop the pool
        return None, f"the verifier could not read the solution ({type(error).__name__})"
    if verdict.violation is not None:
        return None, verdict.violation
    if verdict.objective is None or not abs(verdict.objective) < _MOST_OBJECTIVE:
        return None, f"the objective is no finite number below {_MOST_OBJECTIVE:g}"
    return float(verdict.objective), None


def _canonical(state: State) -> bytes:
    """Return JSON with sorted keys; raise ValueError for numbers that are not finite."""
    metadata = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in state.metadata.items()}
    content = {"metadata": metadata, "sequence": state.sequence.tolist()}
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_no_bytes
    ).encode()


def _no_bytes(value: object) -> Any:
    raise ValueError(f"{type(value).__name__} in metadata")


def failure_reply(
    kind: FailureKind, diagnostic: str, elapsed_s: float = 0.0, cpu_s: float = 0.0, has_compiled: bool = False
) -> EvaluationReply:
    """Return the reply to a request that has no solution."""
    return EvaluationReply(None, kind, diagnostic, elapsed_s, 0, (), None, cpu_s, has_compiled)
