"""Why an answer of a proposer was refused.

Dga2dError
└── ProposalError   an answer broke a rule of its stage; its diagnostic goes into the next prompt
"""

from __future__ import annotations

from dga2d.events.errors import Dga2dError

MAX_DIAGNOSTIC_CHARS = 1500


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


def shown(value: object, limit: int = 60) -> str:
    """A value of an answer as pure ASCII, shortened, for use in a diagnostic."""
    text = ascii(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
