"""One function within a fixed skeleton: the check of answers, and the offline proposer's own.

The offline proposer weighs terms of the function's arguments: its text names them in the docstring, so that
whoever varies it knows them. The simple rule that a component begins with counts as a single term.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from dga2d.agents.proposing.answers import normalised_ast_digest, parse_source
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.tasks import ProgramTask
from dga2d.agents.proposing.variation import perturb
from dga2d.domains.core.components import bound_names, evolved_function, join_component, split_component

DRAWS = 60
"""Functions drawn before giving up; draws that repeat a known text do not count as answers."""
MOST_TERMS = 4
_TERMS = "Terms: "
_FORMS = ("{a}", "{a} / (1.0 + {b})", "{a} * {b}", "min({a}, {b})", "max({a}, {b})", "abs({a} - {b})")
_WEIGHTS = (0.25, 0.5, 1.0, 2.0, -0.25, -0.5, -1.0)


def put_into(frame: str, answer: str) -> str:
    """Return the program of an answered function and the skeleton of `frame`. An answer that brings a
    skeleton along is cut off before it.

    Raises
    ------
    ProposalError
        ``syntax``: it is not Python; ``signature``: the function is missing, has other arguments or is not
        compiled, or a name of the skeleton is taken.
    """
    head, (_, skeleton) = split_component(answer)[0], split_component(frame)
    tree, wanted = parse_source(head), evolved_function(frame)
    arguments = [argument.arg for argument in wanted.args.args]
    told = f"def {wanted.name}({', '.join(arguments)})"
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == wanted.name]
    if len(found) != 1 or [argument.arg for argument in found[0].args.args] != arguments:
        raise ProposalError("signature", f"expected exactly one {told} at module level")
    if not any("jit" in ast.unparse(decorator) for decorator in found[0].decorator_list):
        raise ProposalError("signature", f"expected @njit(cache=True) above {told}: compiled code calls it")
    if taken := sorted(bound_names(head) & bound_names(skeleton)):
        raise ProposalError("signature", f"the skeleton uses these names itself: {', '.join(taken)}")
    return join_component(head, skeleton)


def component_answers(task: ProgramTask, rng: np.random.Generator) -> Iterator[str]:
    """Yield different texts of the function, none of which runs like a parent."""
    maker = _TermMaker(task, rng)
    known = {normalised_ast_digest(parent.source) for parent in task.parents}
    for _ in range(DRAWS):
        text = maker.draw()
        if (digest := normalised_ast_digest(text)) not in known:
            known.add(digest)
            yield text


class _TermMaker:
    """Draws sums of weighed terms, as the task asks."""

    def __init__(self, task: ProgramTask, rng: np.random.Generator) -> None:
        self._task = task
        self._rng = rng
        self._function = evolved_function(task.frame)
        self._arguments = [argument.arg for argument in self._function.args.args]

    def draw(self) -> str:
        parents, variation = self._task.parents, self._task.variation
        bases = [terms_of(parent.source) for parent in parents]
        if variation in ("i1", "e1") or not parents:
            own = terms_of(self._task.frame) if self._rng.random() < 0.5 else ()
            return self._write((*own, *(self._term() for _ in range(1 + int(self._rng.integers(2))))))
        source = parents[int(self._rng.integers(len(parents)))].source
        varies_constants = variation == "m2" or (len(parents) == 1 and self._rng.random() < 0.3)
        if varies_constants and (varied := perturb(source, self._rng)) != source:
            return varied
        if len(parents) > 1:
            pool = list(dict.fromkeys(term for base in bases for term in base))
            count = min(max(map(len, bases), default=1), len(pool))
            drawn = self._rng.permutation(len(pool))[:count]
            return self._write([pool[int(i)] for i in sorted(drawn)])
        return self._write(self._change_terms(bases[0], is_shorter=variation == "m3"))

    def _change_terms(self, terms: Sequence[str], is_shorter: bool) -> Sequence[str]:
        """Return the terms with one left out, exchanged or put in."""
        place, way = int(self._rng.integers(max(len(terms), 1))), int(self._rng.integers(3))
        if len(terms) > 1 and (is_shorter or way == 0):
            return [*terms[:place], *terms[place + 1 :]]
        if way == 1 and terms:
            return [*terms[:place], self._term(), *terms[place + 1 :]]
        return [*terms[: MOST_TERMS - 1], self._term()]

    def _term(self) -> str:
        a, b = (self._arguments[int(self._rng.integers(len(self._arguments)))] for _ in range(2))
        return _FORMS[int(self._rng.integers(len(_FORMS)))].format(a=a, b=b)

    def _write(self, terms: Sequence[str]) -> str:
        terms = list(dict.fromkeys(terms)) or [self._term()]
        weights = [_WEIGHTS[int(self._rng.integers(len(_WEIGHTS)))] for _ in terms]
        weights[0] = abs(weights[0])
        constants = [f"WEIGHT_{i} = {w}  # tunable: float -4.0..4.0" for i, w in enumerate(weights)]
        total = "\n        + ".join(f"WEIGHT_{i} * ({term})" for i, term in enumerate(terms))
        name, arguments = self._function.name, ", ".join(self._arguments)
        return (
            f'"""A weighed sum of terms, {len(terms)} in all.\n\n{_TERMS}{"; ".join(terms)}\n"""\n\n'
            "from numba import njit\n\n"
            f"{chr(10).join(constants)}\n\n\n@njit(cache=True)\n"
            f"def {name}({arguments}):\n    return (\n        {total}\n    )\n"
        )


def terms_of(source: str) -> tuple[str, ...]:
    """Return the terms that a text names, or the one that its function returns; none where that is longer."""
    tree = parse_source(split_component(source)[0])
    for line in (ast.get_docstring(tree) or "").splitlines():
        if line.startswith(_TERMS):
            return tuple(line.removeprefix(_TERMS).split("; "))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        return ()
    body = functions[-1].body[0 if ast.get_docstring(functions[-1]) is None else 1 :]
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return (ast.unparse(body[0].value),)
    return ()
