"""Small pieces of Markdown that the generated sections are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars inside cells are escaped."""
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for row in rows:
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")
    return "\n".join(lines)


def prose(docstring: str) -> str:
    """A docstring in one paragraph, with Markdown's code marks instead of reStructuredText's."""
    text = re.sub(r":\w+:`~?(?:\.|\w+\.)*(\w+)`", r"`\1`", " ".join(docstring.split()))
    pieces = text.replace("``", "`").split("`")
    return "`".join(p if i % 2 else p.replace("<", "\\<") for i, p in enumerate(pieces))
