"""What a check of a domain finds, claim by claim."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from dga2d.domains.core.errors import BundlingError


@dataclass(frozen=True)
class Finding:
    """One claim and whether it holds."""

    claim: str
    holds: bool | None
    """``None`` where it was not tried, because something it rests on does not hold."""
    detail: str
    """What was tried, or the first thing that contradicts the claim."""


class UnsoundError(Exception):
    """The domain contradicts a claim; the message says where."""


def require(condition: object, contradiction: str) -> None:
    """Raise UnsoundError unless `condition` is true."""
    if not condition:
        raise UnsoundError(contradiction)


def in_words(error: BaseException) -> str:
    """An error with the place it comes from, on one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, UnsoundError | BundlingError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{where}".split())
