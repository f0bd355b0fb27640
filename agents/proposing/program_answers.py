"""Complete programs and reflections: what is asked for, the check of answers, the offline proposer's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from dga2d.agents.proposing.answers import check_code, clean_answer, normalised_ast_digest, python_block
from dga2d.agents.proposing.component_answers import component_answers, put_into
from dga2d.agents.proposing.composition import Habits
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.prompts import fence
from dga2d.agents.proposing.recipes import Recipe, recipe_of, write_program
from dga2d.agents.proposing.tasks import ProgramTask, ReflectTask, ShownProgram
from dga2d.agents.proposing.variation import PARTS_OF_ENDLESS, PATIENCE, WARMTH, perturb
from dga2d.domains.core.contract import Implementation

MAX_REFLECTION_CHARS = 4_000
"""Longest reflection that is taken."""
MOST_STAGES = 4
"""Most operators of a chain."""
FRESH = ("i1", "e1")
"""Variations that take nothing over from the programs shown."""
DRAWS = 60
"""Programs drawn before giving up; draws that repeat a known text do not count as answers."""


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
        return write_program(recipe, self._code, Habits(int(patience), int(parts), float(warmth)))

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
