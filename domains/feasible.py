"""What is done with valid solutions only."""

from __future__ import annotations

from dga2d.domains.contract import Verdict
from dga2d.domains.errors import InvalidSolutionError


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
