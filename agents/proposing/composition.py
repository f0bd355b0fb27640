"""Implementations made one: an improvement that is repeated from perturbed solutions.

The texts of an improving and of a perturbing operator, behind that of an initialiser where one is to be
replaced, are merged. All keep their code, tunables and exchangeable blocks; a new ``run`` alternates
improvement and perturbation (iterated local search). Definitions that are the same as the first text's stand
once, the other names of later texts get a prefix.

References
----------
H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, Handbook of Metaheuristics, 2003.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import lru_cache

from dga2d.agents.proposing.answers import parse_source
from dga2d.domains.core.statements import Statement, split_statements

CONSTRUCT, IMPROVE, PERTURB = "construct_once", "improve_once", "perturb_once"
_DRIVER = """

KICKS_IN_VAIN = {patience}  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    \"\"\"{summary}\"\"\"
    budget = env_data["budget"]
{start}    state = improve_once(env_data, state, calc_makespan_fn)
    score = calc_makespan_fn(state)
    best, best_score = state.copy(), score
    failures = 0
    while not budget.exhausted():
        trial = perturb_once(env_data, state.copy(), calc_makespan_fn)
        trial = improve_once(env_data, trial, calc_makespan_fn)
        trial_score = calc_makespan_fn(trial)
        budget.charge(1)
        if trial_score <= score:
            state, score = trial.copy(), trial_score
        failures += 1
        if trial_score < best_score:
            best, best_score, failures = trial.copy(), trial_score, 0
        if failures >= KICKS_IN_VAIN:
            state, score, failures = best.copy(), best_score, 0
    return best
"""
_IMPROVING = "Improve `state`, then perturb and improve again while the share lasts; the best found."
_CONSTRUCTING = "Construct a solution, improve it, then perturb and improve again while the share lasts."


def is_iterated(source: str) -> bool:
    """Return whether a text was made here, so that iterating it again gains nothing."""
    return re.search(rf"^def {IMPROVE}\(", source, flags=re.MULTILINE) is not None


def iterate(improver: str, perturbation: str, patience: int) -> str | None:
    """Return an iterated local search around the ``run`` of `improver`, kicked by that of `perturbation`.

    The search accepts what is no worse and returns to its best solution after `patience` kicks in vain.
    ``None`` where one of the texts is such a search already, or has taken the names that are needed.

    Raises
    ------
    ProposalError
        ``syntax``: a text is not Python.
    """
    merged = _merge_modules(((improver, IMPROVE), (perturbation, PERTURB)))
    driver = _DRIVER.format(patience=patience, summary=_IMPROVING, start="")
    return None if merged is None else merged + driver


def construct_and_improve(constructor: str, improver: str, perturbation: str, patience: int) -> str | None:
    """Return the same search, started from what the ``run`` of `constructor`, an initialiser, makes."""
    merged = _merge_modules(((constructor, CONSTRUCT), (improver, IMPROVE), (perturbation, PERTURB)))
    start = f"    state = {CONSTRUCT}(env_data, state, calc_makespan_fn)\n"
    driver = _DRIVER.format(patience=patience, summary=_CONSTRUCTING, start=start)
    return None if merged is None else merged + driver


def _merge_modules(parts: tuple[tuple[str, str], ...]) -> str | None:
    """Return one module made of several, each with a name for its ``run``; the first keeps all others."""
    if any(is_iterated(source) for source, _ in parts):
        return None
    imports: dict[str, None] = {}
    texts: list[str] = []
    before: tuple[Statement, ...] = ()
    bound = {"KICKS_IN_VAIN"}
    for source, role in parts:
        pieces = _pieces(source)
        imports.update((_commented(piece).strip(), None) for piece in pieces if piece.is_import)
        shared = _shareable(before, pieces)
        own = [piece for piece in pieces if not piece.is_import and piece.meaning not in shared]
        prefix = role.partition("_")[0] if before else ""
        renamed = {name: _add_prefix(prefix, name) for piece in own for name in piece.names} | {"run": role}
        if bound & {*renamed.values()}:
            return None
        bound.update(renamed.values())
        texts += [_rename(_commented(piece), renamed) for piece in own]
        before = before or pieces
    heading = "\n\nThen:\n".join(_summary(source) for source, _ in parts)
    return "\n\n\n".join((f'"""Iterated local search.\n\n{heading}\n"""', "\n".join(imports), *texts))


def _add_prefix(prefix: str, name: str) -> str:
    if not prefix:
        return name
    return f"{prefix.upper()}_{name}" if name.isupper() else f"{prefix}_{name}"


def _shareable(first: tuple[Statement, ...], second: tuple[Statement, ...]) -> set[str]:
    """Return the meanings of definitions that need one copy: they are equal, and so is all they rest on."""
    shared = {piece.meaning for piece in first} & {piece.meaning for piece in second}
    while True:
        foreign = {
            name
            for piece in second
            if not piece.is_import and (piece.meaning not in shared or "run" in piece.names)
            for name in piece.names
        }
        kept = {piece.meaning for piece in second if piece.meaning in shared and not piece.reads & foreign}
        kept -= {piece.meaning for piece in second if "run" in piece.names}
        if kept == shared:
            return shared
        shared = kept


def _summary(source: str) -> str:
    return (ast.get_docstring(parse_source(source)) or "").replace('"""', "'''").replace("\\", "\\\\")


@lru_cache(maxsize=256)
def _pieces(source: str) -> tuple[Statement, ...]:
    """Return the statements of a text without its docstring and other strings."""
    statements = split_statements(source, parse_source(source))
    return tuple(statement for statement in statements if not statement.is_constant_expression)


def _commented(piece: Statement) -> str:
    """Return a statement with the comments above it."""
    return "\n".join((*filter(str.strip, piece.above), piece.text))


def _rename(text: str, names: dict[str, str]) -> str:
    """Return the text with names replaced wherever they are not attributes."""
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    out, done, before = [], 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and before != ".":
            start = offsets[token.start[0] - 1] + token.start[1]
            out += [text[done:start], names[token.string]]
            done = start + len(token.string)
        before = token.string
    return "".join((*out, text[done:]))
