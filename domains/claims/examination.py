"""How a claim is tried: everything that contradicts it is collected, errors of the domain's code included."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from dga2d.domains.core.errors import describe_error

Contradictions: TypeAlias = Generator[str, None, str]
"""What a claim gives: contradictions, a sentence each, and at last what was tried (``72 runs``)."""


class Claim(NamedTuple):
    """A claim in words and the function that tries it."""

    title: str
    check: Callable[..., Contradictions]


@dataclass(frozen=True)
class Examination:
    """What trying a claim has shown."""

    tried: str
    """What was tried, in a few words; empty if the claim could not be tried to its end."""
    contradictions: tuple[str, ...]
    """Each contradiction once, in the order in which they were found."""


def examine(check: Callable[..., Contradictions], *arguments: Any) -> Examination:
    """Try a claim to its end. An exception that the domain's code raises is its last contradiction."""
    found: dict[str, None] = {}
    claim = check(*arguments)
    try:
        while True:
            found[next(claim)] = None
    except StopIteration as end:
        return Examination(end.value, tuple(found))
    except Exception as error:  # a domain's own code may raise anything
        return Examination("", (*found, describe_error(error)))
