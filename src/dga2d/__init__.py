"""DGA2D: automated algorithm design on a directed graph of operators, with an audited event log.

``import dga2d`` is cheap: what a name needs is imported when the name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dga2d.domains.own.encodings import Assignment, Permutation, RealVector, Sequence, Subset
    from dga2d.domains.own.functions import problem
    from dga2d.domains.own.named_arrays import Array, Arrays
    from dga2d.domains.own.operators import operator
    from dga2d.domains.own.problem import Problem, Split
    from dga2d.runtime.api import (
        AskTell,
        ProcessEvaluator,
        Program,
        Question,
        Run,
        Runs,
        Solution,
        StopEvolution,
        evolve,
        evolve_async,
        open,
    )

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Arrays",
    "AskTell",
    "Assignment",
    "Permutation",
    "Problem",
    "ProcessEvaluator",
    "Program",
    "Question",
    "RealVector",
    "Run",
    "Runs",
    "Sequence",
    "Solution",
    "Split",
    "StopEvolution",
    "Subset",
    "__version__",
    "evolve",
    "evolve_async",
    "open",
    "operator",
    "problem",
]

_HOMES = {
    "dga2d.domains.own.encodings": ("Assignment", "Permutation", "RealVector", "Sequence", "Subset"),
    "dga2d.domains.own.named_arrays": ("Array", "Arrays"),
    "dga2d.domains.own.functions": ("problem",),
    "dga2d.domains.own.operators": ("operator",),
    "dga2d.domains.own.problem": ("Problem", "Split"),
    "dga2d.runtime.api": (
        *("AskTell", "ProcessEvaluator", "Program", "Question", "Run", "Runs", "Solution", "StopEvolution"),
        *("evolve", "evolve_async", "open"),
    ),
}
"""Module → public names that it defines."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'dga2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
