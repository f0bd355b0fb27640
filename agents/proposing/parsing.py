"""The syntax trees of texts from outside."""

from __future__ import annotations

import ast

from dga2d.agents.proposing.errors import ProposalError, abbreviate
from dga2d.domains.core.statements import parse_quietly


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
