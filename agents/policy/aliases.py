"""Fixed-width ASCII aliases that a tokenizer splits into equally many tokens.

Equal token counts make the aliases prefix-free, and no operator is favoured by the length of its name.

References
----------
DGA2D paper, Appendix C.2, Template II (action aliases).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits

from dga2d.agents.policy.errors import AliasError, PolicyContextError
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END

Tokens = tuple[int, ...]
FAMILIES: tuple[tuple[str, ...], ...] = (
    (ascii_uppercase, ascii_uppercase),
    (ascii_uppercase, digits),
    (ascii_lowercase, ascii_lowercase),
    (ascii_uppercase, ascii_uppercase, ascii_uppercase),
)
"""Alphabets per letter of an alias, in order of preference."""
SEPARATORS = (" ", "")
"""What stands before an alias in a generated walk: vocabularies of byte pairs know words with a space."""


@dataclass(frozen=True)
class AliasPool:
    """Aliases of one shape under one tokenizer."""

    separator: str
    words: tuple[str, ...]
    tokens: tuple[Tokens, ...]
    """Distinct token sequences of equal length, one per word."""

    def assign(self, operators: Sequence[OperatorId]) -> dict[OperatorId, int]:
        """Index into the pool per operator: ``END`` has 0, the others follow in sorted order.

        The assignment depends on the operator list alone, not on the edges.

        Raises
        ------
        PolicyContextError
            More operators than aliases.
        """
        if len(operators) + 1 > len(self.words):
            raise PolicyContextError(
                f"the policy can name {len(self.words) - 1} operators, the graph has {len(operators)}"
            )
        return {END: 0, **{o: i for i, o in enumerate(sorted(operators), start=1)}}


def choose_aliases(
    spec: str,
    encode: Callable[[str], Sequence[int]],
    unknown: int | None,
    capacity: int,
    families: Sequence[tuple[str, ...]] = FAMILIES,
) -> AliasPool:
    """A pool of `capacity` aliases from the first family that has one, with the fewest tokens each.

    `encode` gives the token ids of a text without special tokens; `unknown` is the id of the unknown
    token, if there is one.

    Raises
    ------
    AliasError
        No family of candidates has `capacity` members of one token count; `spec` names the model.
    """
    for alphabets in families:
        pools = [p for s in SEPARATORS for p in _pools(alphabets, s, encode, unknown, capacity)]
        if pools:
            return min(pools, key=lambda pool: len(pool.tokens[0]))
    raise AliasError(
        spec,
        f"the vocabulary splits operator aliases unevenly: no set of {capacity} two- or three-letter "
        "codes has one distinct token sequence each, all of the same length",
    )


def _pools(
    alphabets: tuple[str, ...],
    separator: str,
    encode: Callable[[str], Sequence[int]],
    unknown: int | None,
    capacity: int,
) -> list[AliasPool]:
    """Pools of one family, one per token count that is frequent enough; stops when the best is full."""
    by_length: dict[int, dict[Tokens, str]] = {}
    for letters in product(*alphabets):
        word = "".join(letters)
        tokens = tuple(encode(separator + word))
        if tokens and unknown not in tokens:
            by_length.setdefault(len(tokens), {}).setdefault(tokens, word)
        if by_length and len(by_length[min(by_length)]) >= capacity:
            break
    return [
        AliasPool(separator, tuple(found.values())[:capacity], tuple(found)[:capacity])
        for _, found in sorted(by_length.items())
        if len(found) >= capacity
    ]
