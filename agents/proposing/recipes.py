"""Complete programs made of library code: a recipe says of which operators, and can be read back.

A chain constructs a solution and hands it from stage to stage, as a pipeline does: each has its part of what
is left of the budget, by weights that are tunables. An iterated program repeats improvements from perturbed
solutions (`composition.iterate`). The recipe stands in the docstring, so that whoever varies the program
knows its parts; code without one is varied in its constants alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from dga2d.agents.proposing.composition import Habits, is_iterated, iterate, merge_modules
from dga2d.domains.core.contract import Implementation
from dga2d.domains.source_rules.text import MAX_SOURCE_BYTES

_RECIPE = re.compile(r"^Recipe: (?P<kind>chain|iterated) (?P<parts>\S+(?: \S+)*)$", re.MULTILINE)
_OWN_NAMES = frozenset({"Stage", "WEIGHTS"})
_CHAIN_DRIVER = '''

{weights}


class Stage:
    """A part of what is left of a budget."""

    def __init__(self, budget, share):
        self.budget = budget
        self.start = budget.remaining()
        self.length = max(self.start * share, 1e-9)

    def charge(self, units=1):
        self.budget.charge(units)

    def remaining(self):
        left = 1.0 - (self.start - self.budget.remaining()) / self.length
        return max(0.0, min(left, 1.0))

    def exhausted(self):
        return self.remaining() <= 0.0 or self.budget.exhausted()


def run(env_data, state, calc_makespan_fn):
    """Construct a solution and hand it from stage to stage; the best found."""
    budget, best, best_score = env_data["budget"], None, math.inf
    weights = [{names}]
    for number, stage in enumerate([{stages}]):
        share = Stage(budget, weights[number] / sum(weights[number:]))
        state = stage({{**env_data, "budget": share}}, state, calc_makespan_fn)
        score = calc_makespan_fn(state)
        if best is None or score < best_score:
            best, best_score = state.copy(), score
    return best
'''


USUAL_HABITS = Habits(patience=10, parts=8)


class Recipe(NamedTuple):
    """What a program is made of."""

    kind: Literal["chain", "iterated"]
    parts: tuple[str, ...]
    """Ids of implementations: the initialiser, then the stages in order; of an iterated program one or two
    improvers and, last, the perturbation."""


def recipe_of(source: str) -> Recipe | None:
    """Return the recipe that a text names; ``None`` where it names none."""
    found = _RECIPE.search(source)
    if found is None:
        return None
    kind: Literal["chain", "iterated"] = "chain" if found["kind"] == "chain" else "iterated"
    return Recipe(kind, tuple(found["parts"].split()))


def write_program(
    recipe: Recipe, library: Mapping[str, Implementation], habits: Habits = USUAL_HABITS
) -> str | None:
    """Return the text of a recipe; ``None`` where its parts are unknown, do not go together or are too long.

    `habits` are those of an iterated program.

    Raises
    ------
    ProposalError
        ``syntax``: a part is not Python.
    """
    if any(part not in library for part in recipe.parts):
        return None
    names = [library[part].operator.replace("_", " ") for part in recipe.parts]
    texts = [library[part].source for part in recipe.parts]
    told = f"\n\nRecipe: {recipe.kind} {' '.join(recipe.parts)}"
    if recipe.kind == "iterated":
        if not 3 <= len(texts) <= 4:
            return None
        idea = f"{' and '.join(names[1:-1])} in turns, kicked by {names[-1]}, from {names[0]}."
        text = iterate(texts[1:-1], texts[-1], habits, texts[0], title=f"{_capital(idea)}{told}")
    else:
        text = _chain(texts, f"{_capital(', then '.join(names))}.{told}")
    if text is None or len(text.encode()) > MAX_SOURCE_BYTES:
        return None
    return text if text.endswith("\n") else f"{text}\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _chain(texts: Sequence[str], title: str) -> str | None:
    if any(is_iterated(source) for source in texts[1:]):
        return None
    stages = [f"stage{number}_run" for number in range(len(texts))]
    weights = [f"WEIGHT_{number}" for number in range(len(texts))]
    merged = merge_modules(tuple(zip(texts, stages, strict=True)), title, _OWN_NAMES | {*weights})
    if merged is None:
        return None
    return merged + _CHAIN_DRIVER.format(
        weights="\n".join(f"{name} = 1.0  # tunable: float 0.1..10.0" for name in weights),
        names=", ".join(weights),
        stages=", ".join(stages),
    )
