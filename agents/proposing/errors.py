"""Why there is no answer of a proposer, or why it was refused, if only for its syntax.

Dga2dError
├── ProposalError                an answer broke a rule of its stage; its diagnostic goes into the next prompt
└── ModelError                   no answer came
    ├── CallLostError            this call is spent without an answer; another may succeed
    └── ModelUnavailableError    none can succeed until somebody acts; the run is paused
"""

from __future__ import annotations

import ast

from dga2d.domains.core.statements import parse_quietly
from dga2d.events import Dga2dError

MAX_DIAGNOSTIC_CHARS = 1500
MAX_REASON_CHARS = 400


class ProposalError(Dga2dError, ValueError):
    """An answer cannot be used.

    Attributes
    ----------
    stage
        Short name of the check that failed (``size``, ``encoding``, ``json``, ``code_block``, ``syntax``,
        ``signature``, ``source_rules``, ``duplicate``, ``no_variation``, ``edge_interface``, …).
    diagnostic
        One or a few sentences for whoever is to do better; at most ``MAX_DIAGNOSTIC_CHARS`` characters.
    """

    def __init__(self, stage: str, diagnostic: str) -> None:
        self.stage = stage
        self.diagnostic = diagnostic[:MAX_DIAGNOSTIC_CHARS]
        super().__init__(f"{stage}: {self.diagnostic}")


class ModelError(Dga2dError):
    """A call brought no answer.

    Attributes
    ----------
    reason
        One line for the log, without secrets; at most ``MAX_REASON_CHARS`` characters.
    """

    def __init__(self, reason: str) -> None:
        line = " ".join(reason.encode("utf-8", errors="replace").decode().split())
        self.reason = line[:MAX_REASON_CHARS]
        super().__init__(self.reason)


class CallLostError(ModelError):
    """The request may have been charged for and there is no usable answer."""


class ModelUnavailableError(ModelError):
    """The endpoint refuses every request like this one, or did not come back in time."""


def abbreviate(value: object, limit: int = 60) -> str:
    """Return a value of an answer as pure ASCII, shortened, for use in a diagnostic."""
    text = ascii(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def parse_source(source: str) -> ast.Module:
    """Return the syntax tree of a source text.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python, or too deeply nested to be read.
    """
    try:
        return parse_quietly(source)
    except SyntaxError as error:
        raise ProposalError("syntax", f"line {error.lineno}: {abbreviate(error.msg, 200)}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProposalError("syntax", f"the code cannot be parsed: {abbreviate(str(error), 200)}") from None
