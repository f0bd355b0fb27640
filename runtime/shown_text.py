"""Text of others on a terminal: what a model or an endpoint wrote must not move the cursor."""

from __future__ import annotations


def shown(text: str) -> str:
    """`text` on one line, each character that is not printable as a Python escape (``\\x1b``, ``\\u202e``).

    Control characters, escape sequences, line ends, and marks that reverse the direction of writing are not
    printable (Unicode categories "Other" and "Separator", but for the space).
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
