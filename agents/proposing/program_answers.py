"""Complete programs, one function within a fixed skeleton, and reflections: what is asked for, the check of
answers, the offline proposer's own.

Of a component the offline proposer weighs terms of the function's arguments: its text names them in the
docstring, so that whoever varies it knows them. The simple rule that a component begins with counts as a
single term.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from dga2d.agents.proposing.answers import (
    check_code,
    clean_answer,
    normalised_ast_digest,
    parse_source,
    python_block,
)
from dga2d.agents.proposing.composition import Habits
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.prompts import fence
from dga2d.agents.proposing.recipes import Recipe, recipe_of, write_program
from dga2d.agents.proposing.tasks import ProgramTask, ReflectTask, ShownProgram
from dga2d.agents.proposing.variation import PARTS_OF_ENDLESS, PATIENCE, WARMTH, perturb
from dga2d.domains.core.components import bound_names, evolved_function, join_component, split_component
from dga2d.domains.core.contract import Implementation

MAX_REFLECTION_CHARS = 4_000
"""Longest reflection that is taken."""
MOST_STAGES = 4
"""Most operators of a chain."""
FRESH = ("i1", "e1")
"""Variations that take nothing over from the programs shown."""
DRAWS = 60
"""Programs or functions drawn before giving up; draws that repeat a known text do not count as answers."""


def parse_program(text: str, frame: str = "") -> str:
    """Return the source text of an answer, ending in one line end; within the skeleton of `frame`, if any.

    Raises
    ------
    ProposalError
        ``size``, ``code_block``, ``encoding``, ``no_variation``: see `python_block`; ``syntax``,
        ``signature``, ``source_rules``: see `check_code`; `put_into` for components.
    """
    source = python_block(text).strip("\n") + "\n"
    if frame:
        source = put_into(frame, source)
    check_code(source)
    return source


def parse_reflection(text: str, task: ReflectTask) -> str:
    """Return the words of an answer on one line, cut to twice what was asked for.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `clean_answer`; ``empty``: it says nothing.
    """
    words = clean_answer(text).split()
    if not words:
        raise ProposalError("empty", "the answer says nothing")
    return " ".join(words[: 2 * task.max_words])[:MAX_REFLECTION_CHARS]


# ---------------------------------------------------------------- the offline proposer


def program_answers(task: ProgramTask, rng: np.random.Generator) -> Iterator[str]:
    """Yield different programs made of library code, none of which runs like a parent."""
    if task.frame:
        yield from (f"{fence(text, 'python')}\n" for text in component_answers(task, rng))
        return
    maker = _ProgramMaker(task, rng)
    known = {normalised_ast_digest(parent.source) for parent in task.parents}
    for _ in range(DRAWS):
        text = maker.draw()
        if text is None or (digest := normalised_ast_digest(text)) in known:
            continue
        known.add(digest)
        yield f"{fence(text, 'python')}\n"


Item = TypeVar("Item")


class _ProgramMaker:
    """Varies and recombines recipes, as the task asks."""

    def __init__(self, task: ProgramTask, rng: np.random.Generator) -> None:
        self._task = task
        self._rng = rng
        self._code: Mapping[str, Implementation] = {str(i.id): i for i in task.code}
        category = {str(op.id): op.category for op in task.operators}
        starts = {str(op.id) for op in task.operators if op.is_initialiser}
        by_role: dict[str, list[str]] = {"start": [], "kick": [], "improve": []}
        for name in sorted(self._code):
            operator = str(self._code[name].operator)
            is_kick = category[operator] == "perturbation"
            role = "start" if operator in starts else "kick" if is_kick else "improve"
            by_role[role].append(name)
        self._starts, self._kicks, self._improvers = by_role["start"], by_role["kick"], by_role["improve"]

    def draw(self) -> str | None:
        """Return a program of the kind that is asked for; ``None`` where this draw makes none."""
        parents, variation = self._task.parents, self._task.variation
        if not parents or variation in FRESH:
            return self._write(self._fresh())
        bases = [r for parent in parents if (r := recipe_of(parent.source)) is not None]
        varies_constants = variation == "m2" or (len(parents) == 1 and self._rng.random() < 0.3)
        if not bases or varies_constants:  # what was not made here can be varied in its constants alone
            return perturb(self._draw(parents).source, self._rng)
        if variation == "m3":
            return self._write(self._shorter(self._draw(bases)))
        return self._write(self._cross_recipes(bases) if len(bases) > 1 else self._change_part(bases[0]))

    def _write(self, recipe: Recipe | None) -> str | None:
        if recipe is None:
            return None
        rng = self._rng
        patience, parts, warmth = (v[int(rng.integers(len(v)))] for v in (PATIENCE, PARTS_OF_ENDLESS, WARMTH))
        habits = Habits(int(patience), int(parts), float(warmth), self._task.round_units)
        return write_program(recipe, self._code, habits)

    def _fresh(self) -> Recipe | None:
        """Return a recipe drawn at random."""
        if not self._starts:
            return None
        start = self._draw(self._starts)
        if self._improvers and self._kicks and self._rng.random() < 0.5:
            improvers = {self._draw(self._improvers) for _ in range(1 + int(self._rng.integers(2)))}
            return Recipe("iterated", (start, *sorted(improvers), self._draw(self._kicks)))
        others = [*self._improvers, *self._kicks]
        count = 1 + int(self._rng.integers(MOST_STAGES - 1)) if others else 0
        return Recipe("chain", (start, *(self._draw(others) for _ in range(count))))

    def _change_part(self, base: Recipe) -> Recipe:
        """Return a recipe with a part exchanged, put in or left out."""
        parts, place = list(base.parts), int(self._rng.integers(len(base.parts)))
        if place == 0:
            parts[0] = self._draw(self._starts)
        elif base.kind == "iterated":
            parts[place] = self._draw(self._kicks if place == len(parts) - 1 else self._improvers)
        else:
            way, others = int(self._rng.integers(3)), [*self._improvers, *self._kicks]
            if way == 0 and len(parts) > 2:
                del parts[place]
            elif way == 1 and len(parts) < MOST_STAGES:
                parts.insert(place, self._draw(others))
            else:
                parts[place] = self._draw(others)
        return Recipe(base.kind, tuple(parts))

    def _shorter(self, base: Recipe) -> Recipe:
        """Return a recipe without one of its stages, if it can do without."""
        least = 2 if base.kind == "chain" else 3
        if len(base.parts) <= least:
            return base
        place = 1 + int(self._rng.integers(len(base.parts) - (1 if base.kind == "chain" else 2)))
        return Recipe(base.kind, (*base.parts[:place], *base.parts[place + 1 :]))

    def _cross_recipes(self, bases: Sequence[Recipe]) -> Recipe:
        """Return a recipe of the kind of one parent, its parts from all."""
        kind = self._draw(bases).kind
        starts = [base.parts[0] for base in bases]
        improvers = [p for base in bases for p in base.parts[1:] if p in self._improvers]
        kicks = [p for base in bases for p in base.parts[1:] if p in self._kicks]
        improvers, kicks = improvers or self._improvers, kicks or self._kicks
        start = self._draw(starts)
        if kind == "iterated":
            two = {self._draw(improvers) for _ in range(2)}
            return Recipe(kind, (start, *sorted(two), self._draw(kicks)))
        count = max(len(self._draw(bases).parts) - 1, 1)
        pool = [p for base in bases for p in base.parts[1:]] or improvers
        return Recipe(kind, (start, *(self._draw(pool) for _ in range(min(count, MOST_STAGES - 1)))))

    def _draw(self, items: Sequence[Item]) -> Item:
        return items[int(self._rng.integers(len(items)))]


def reflection_answers(task: ReflectTask) -> Iterator[str]:
    """Yield one plain summary of what the programs are made of, or of what was found out before."""
    if not task.parents:
        yield f"{' '.join(' '.join(task.notes).split()[: task.max_words]) or 'Nothing is known yet.'}\n"
        return
    worst, best = (f(task.parents, key=lambda shown: shown.score) for f in (min, max))
    if len(task.parents) == 1:
        yield f"It is made of {_parts(best)}; mean gap {best.gap}.\n"
        return
    points = 100.0 * (best.score - worst.score)
    told = f"{points:.2f} points" if math.isfinite(points) else "far"
    yield f"{_parts(best)} is {told} better than {_parts(worst)}.\n"


def _parts(program: ShownProgram) -> str:
    recipe = recipe_of(program.source)
    if recipe is None:
        return program.idea or str(program.id)
    names = [part.rpartition(".")[0].replace("_", " ") for part in recipe.parts]
    return f"{recipe.kind} {', '.join(names)}"


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
