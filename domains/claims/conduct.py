"""The claim that operators stop in time and leave what is not theirs alone, tried beside the operator.

Only its own process sees what an operator does to the arrays that it is given, and how often it asks for a
budget that is spent. :func:`conduct_faults` looks at one that is loaded; :func:`watch_run` puts the same
function behind an operator's text, so that the text can be watched where it must run: in the sandbox.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Decoder, Implementation, State
from dga2d.domains.execution import Run

MARK = "misconduct: "
"""Stands before the faults in the error that a watched text raises."""


class ShortBudget:
    """A budget that is spent after some questions and counts those that come later."""

    def __init__(self, questions: int) -> None:
        self.left = questions
        self.late = 0

    def exhausted(self) -> bool:
        self.left -= 1
        self.late += self.left < 0
        return self.left < 0

    def remaining(self) -> float:
        return 0.0 if self.exhausted() else 1.0

    def charge(self, units: int = 1) -> None:
        return None


def conduct_faults(
    run: Run,
    env_data: dict[str, Any],
    state: State,
    score: Decoder,
    invalid_score: float,
    questions: tuple[int, ...] = (1, 3, 10, 38),
    late_questions: int = 3,
) -> tuple[list[str], State]:
    """Return what an operator does wrong, a sentence each, and the state it gives.

    `run` is called with `env_data` and `state`, then with budgets that are spent after so many `questions`;
    it may ask `late_questions` times more. `score` is the decoder's value of a state, `invalid_score` that of
    a broken one.
    """
    faults = []
    kept = {key: np.copy(value) for key, value in env_data.items() if isinstance(value, np.ndarray)}
    given, start = state.sequence, state.copy()
    answer = run(env_data, state, score)
    if not np.array_equal(given, start.sequence):
        faults.append("writes into the array it is given; let it work on a copy")
    for key, value in kept.items():
        if not np.array_equal(value, env_data[key]):
            faults.append(f"changes env_data[{key!r}], which later operators read")
    for count in questions:
        budget = ShortBudget(count)
        short = run({**env_data, **kept, "budget": budget}, start.copy(), score)
        if budget.late > late_questions:
            faults.append(f"goes on after its share is spent: it asks {budget.late} times more")
        if score(short) == invalid_score:
            faults.append("returns a broken state when time is short")
    return list(dict.fromkeys(faults)), answer


def watch_run(implementation: Implementation, invalid_score: float) -> Implementation:
    """Return the text with a `run` around its own that raises an error for what :func:`conduct_faults` finds.

    The error's message is `MARK` and the faults, joined by semicolons.
    """
    text = f'''{_with_run_renamed(implementation.source)}


import numpy as np


{_text(ShortBudget)}

{_text(conduct_faults)}

def run(env_data, state, calc_makespan_fn):
    faults, answer = conduct_faults(unwatched_run, env_data, state, calc_makespan_fn, {invalid_score!r})
    if faults:
        raise RuntimeError("{MARK}" + "; ".join(faults))
    return answer
'''
    return Implementation(implementation.operator, text, implementation.origin)


def faults_in(diagnostic: str) -> tuple[str, ...]:
    """Return the faults that the error of a watched text names; none if it is another error."""
    _, mark, said = diagnostic.rpartition(MARK)
    return tuple(said.splitlines()[0].split("; ")) if mark else ()


def _with_run_renamed(source: str) -> str:
    """Return the text with its `run` called `unwatched_run`."""
    lines = source.rstrip().split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "run":
            lines[node.lineno - 1] = lines[node.lineno - 1].replace("def run(", "def unwatched_run(", 1)
    return "\n".join(lines)


def _text(part: type[ShortBudget] | Callable[..., object]) -> str:
    """Return the source of a class or function without annotations: the text does not import their names."""
    tree = ast.parse(inspect.getsource(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree) + "\n"
