"""The prompt of the pipeline policy, and the aliases by which it names operators.

Our wording of the paper's Template II. Aliases are fixed-width ASCII codes that a tokenizer splits into
equally many tokens, so that they are prefix-free and no operator is favoured by the length of its name.

References
----------
DGA2D paper, Appendix C.2, Template II (policy context, action aliases).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from string import Template, ascii_lowercase, ascii_uppercase, digits

from dga2d.agents.policy.contract import PolicyContext
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
        """Return an index into the pool per operator: ``END`` has 0, the others follow in sorted order.

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
    """Return the `capacity` aliases with the fewest tokens of the first family that is large enough.

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
    """Return pools of one family, one per token count that is frequent enough; stop when the best is full."""
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


TEMPLATE = "context_v1.txt"
"""Versioned: a change of wording is a new file, because recorded updates depend on it."""


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8").rstrip())


def render_prompt(context: PolicyContext, aliases: AliasPool) -> str:
    """Return the text before the first alias of a walk; it depends on the graph's operators, not its edges.

    Raises
    ------
    PolicyContextError
        The graph has more operators than there are aliases.
    """
    assigned = aliases.assign(context.graph.operators)
    rows = [
        f"{aliases.words[index]} {context.titles.get(operator, operator)}"
        for operator, index in assigned.items()
    ]
    return _template().substitute(
        domain_summary=context.domain_summary.strip(),
        instance_summary=context.instance_summary.strip(),
        aliases="\n".join(rows),
        max_length=context.max_length,
    )
