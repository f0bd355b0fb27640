"""A problem's score: checked, with a place for every fault, and as the verifier that the program believes."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.errors import DomainError
from dga2d.domains.own.encodings import PREFIX, Encoding
from dga2d.domains.own.problem import Fields, Problem

INVALID_SCORE = 1e100
"""Score of what is no solution at all; every valid one is lower."""
PENALTY = 1e30
"""Score of a solution that breaks constraints: ``PENALTY * (1 + how much)``, below `INVALID_SCORE`."""
FROM_THE_FILE = (
    "build paths from Path(__file__).parent: the processes that evaluate have another working directory"
)
WHOLE = "instance"
"""Name of the only field of an instance that is a number, a text or an array by itself."""


AUTHORS_ERRORS = (Exception, SystemExit)
"""What a function of a problem's file may raise that is no request to stop the program."""


class ProblemFaultError(DomainError):
    """A function of a problem's file failed; the message says where, on which instance and what to do."""

    def __init__(self, file: str, line: int | None, part: str, instance: str, reason: str) -> None:
        self.file, self.line, self.part, self.instance, self.reason = file, line, part, instance, reason
        where = file if line is None else f"{file}:{line}"
        on = f" on instance {instance}" if instance else ""
        super().__init__(f"{where}: {part}{on}: {reason}")


def fault(problem: Problem, part: str, instance: str, error: BaseException | str) -> ProblemFaultError:
    """Return the error for what a problem's `part` raised, or did wrong in the words of a text.

    Its place is the line of the file that raised it, else that of the part, else that of the score.
    """
    parts: Iterator[Any] = (getattr(type(problem), name, None) for name in (part.partition(" ")[0], "score"))
    code = next((made.__code__ for made in parts if hasattr(made, "__code__")), None)
    file = getattr(code, "co_filename", type(problem).__module__)
    line = getattr(code, "co_firstlineno", None)
    if isinstance(error, str):
        return ProblemFaultError(Path(file).name, line, part, instance, error)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:600]
    line = own[-1].lineno if own else line
    return ProblemFaultError(Path(file).name, line, part, instance, f"failed with {reason}{_advice(error)}")


def _advice(error: BaseException) -> str:
    """Return what to do about an error whose text does not say it."""
    if isinstance(error, FileNotFoundError) and not Path(str(error.filename)).is_absolute():
        return f"; {FROM_THE_FILE}"
    return ""


class Scorer:
    """One instance of a problem: its solution space, checked scores, and the name it has in messages."""

    def __init__(self, problem: Problem, fields: Fields, name: str = "") -> None:
        self.problem, self.fields, self.name = problem, fields, name
        self.instance = seen_by_author(fields)
        self.sign = 1.0 if problem.sense == "min" else -1.0
        self.encoding = encoding_of(problem, self.instance, name)
        self.has_check = type(problem).check is not Problem.check
        self.has_delta = type(problem).delta is not Problem.delta

    def environment(self) -> dict[str, Any]:
        """Return what operators see: the fields of the instance and of its solution space, arrays copied."""
        fields = vars(self.fields).items()
        copied = {key: np.copy(v) if isinstance(v, np.ndarray) else v for key, v in fields}
        return {**copied, **self.encoding.environment()}

    def amount(self, solution: NDArray[Any]) -> str | float:
        """Return what `check` says, as a text or as a number of 0 or more."""
        if not self.has_check:
            return 0.0
        try:
            said = self.problem.check(self.instance, solution.copy())
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "check", self.name, error) from error
        if said is None or isinstance(said, str):
            return said or 0.0
        if isinstance(said, (bool, np.bool_)):
            hint = f"returned {said}; return None or 0 for a valid solution, else a sentence or an amount"
            raise fault(self.problem, "check", self.name, hint)
        return self._finite("check", said, "None, a sentence or an amount of 0 or more", least=0.0)

    def objective(self, solution: NDArray[Any]) -> float:
        """Return the score of a solution of the space, in the problem's own direction; the array is given
        away.
        """
        try:
            said = self.problem.score(self.instance, solution)
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "score", self.name, error) from error
        return self._finite("score", said, f"a finite number, less than {INVALID_SCORE:g} from 0")

    def delta(self, solution: NDArray[Any], *move: Any) -> float:
        """Return by how much the problem says that a move changes the score that operators minimise; the
        array is given away.
        """
        try:
            said = self.problem.delta(self.instance, solution, *move)
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "delta", self.name, error) from error
        return self.sign * self._finite("delta", said, "a finite number")

    def _finite(self, part: str, said: object, wanted: str, least: float = -math.inf) -> float:
        try:
            value = math.nan if isinstance(said, str) else float(said)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            value = math.nan
        if not least <= value or not abs(value) < INVALID_SCORE:
            is_number = isinstance(said, (float, np.floating))
            hint = "; what is no valid solution is said by `check`" if part == "score" and is_number else ""
            raise fault(self.problem, part, self.name, f"returned {said!r:.80}; expected {wanted}{hint}")
        return value

    def minimised(self, solution: NDArray[Any]) -> float:
        """Return the score that operators minimise, penalties included; the array is given away."""
        amount = self.amount(solution)
        if isinstance(amount, str):
            return INVALID_SCORE
        return PENALTY * (1.0 + amount) if amount > 0.0 else self.sign * self.objective(solution)

    def verdict(self, state: State) -> Verdict:
        """Return the objective, or the first thing that is wrong. Checks in plain Python."""
        violation = self.encoding.violation(state)
        if violation is not None:
            return Verdict(None, violation)
        solution = self.encoding.solution(state)
        amount = self.amount(solution)
        if isinstance(amount, str):
            return Verdict(None, f"check: {amount}")
        if amount > 0.0:
            return Verdict(None, f"check: the constraints are broken by {amount:g}")
        try:
            broken = self.problem.verify(self.instance, solution.copy())
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "verify", self.name, error) from error
        if broken is not None and not isinstance(broken, str):
            hint = f"returned {broken!r:.80}; expected None for a valid answer, else a sentence"
            raise fault(self.problem, "verify", self.name, hint)
        return Verdict(None, broken) if broken else Verdict(self.objective(solution), None)


def fields_of(environment: Mapping[str, Any]) -> Fields:
    """Return the instance in what operators see: without the description of the solution space."""
    return Fields({key: value for key, value in environment.items() if not key.startswith(PREFIX)})


def seen_by_author(fields: Fields) -> Any:
    """Return an instance as the problem's functions get it: a single value comes as that value."""
    return fields[WHOLE] if [*fields] == [WHOLE] else fields


def encoding_of(problem: Problem, instance: Any, name: str) -> Encoding:
    """Return the solution space of an instance, in which `encoding` may also be an attribute."""
    try:
        given: Any = problem.encoding
        encoding = given if isinstance(given, Encoding) else given(instance)
    except AUTHORS_ERRORS as error:
        raise fault(problem, "encoding", name, error) from error
    if not isinstance(encoding, Encoding) or not hasattr(encoding, "folder"):
        wanted = "dga2d.Permutation, Sequence, Assignment, Subset, RealVector or Arrays"
        raise fault(problem, "encoding", name, f"returned {encoding!r:.80}; expected a {wanted}")
    return encoding
