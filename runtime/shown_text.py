"""Text of others as it is: what a model or an endpoint wrote must not move the cursor, hide or turn round."""

from __future__ import annotations


def shown(text: str) -> str:
    """`text` on one line, each character that is not printable as a Python escape (``\\x1b``, ``\\u202e``).

    Control characters, escape sequences, line ends, and marks that reverse the direction of writing are not
    printable (Unicode categories "Other" and "Separator", but for the space).
    """
    return _escaped(text, "")


def shown_lines(text: str) -> str:
    """The same for text of several lines: line feeds and tabs stay."""
    return _escaped(text, "\n\t")


def _escaped(text: str, kept: str) -> str:
    rest = text
    for character in kept:
        rest = rest.replace(character, "")
    if rest.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii") for c in text
    )
