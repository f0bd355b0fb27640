"""Runs an algorithm: loads implementations from text and walks a state through them.

Used inside the evaluation child, by tests and by library authors; it trusts nobody's result, the caller
verifies. The answer is the best complete state seen at the borders between positions (`docs/decisions.md`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Decoder, Implementation, State

Run = Callable[[Mapping[str, Any], State, Decoder], State]


class PositionEffect(NamedTuple):
    """What one position of a pipeline did to the solution."""

    score_before: float | None
    """Minimisation score on entry; ``None`` before the initialiser."""
    score_after: float
    elapsed_s: float
    work: int
    """Work units charged at this position."""


@dataclass(frozen=True)
class Execution:
    """Answer and trace of one run of an algorithm."""

    state: State
    score: float
    """The child's own decoder value of `state`: a hint, never a result."""
    trace: tuple[PositionEffect, ...]


def load_implementation(implementation: Implementation, cache_dir: Path) -> Run:
    """Execute the text of a trusted implementation, one of a library, and return its ``run``.

    What runs is the text in hand, never byte code found on disk. It is also written below `cache_dir`, where
    tracebacks find its lines and numba keeps machine code of functions that ask for it: that folder must be
    open to nobody else.

    Raises
    ------
    Exception
        Whatever the text raises.
    """
    folder = cache_dir / "library" / implementation.digest
    path = folder / f"impl_{implementation.digest[:12]}.py"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(implementation.source, encoding="utf-8")
        partial.replace(path)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module  # numba's on-disk cache finds a function's module by name
    try:
        exec(compile(implementation.source, path, "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[path.stem]
        raise
    run: Run = module.run
    return run


def execute(
    runs: Sequence[Run],
    environment: Mapping[str, Any],
    decoder: Decoder,
    budget: Budget,
    rng: np.random.Generator,
) -> Execution:
    """Run a pipeline of loaded implementations; `budget` must be made for ``len(runs)`` positions.

    Every decode an operator asks for charges one work unit, and so does every call of a decoder's ``hooks``,
    functions by the names under which operators find them in ``env_data``; its ``helpers`` are more of them,
    and free.
    """

    def charging(function: Callable[..., Any]) -> Callable[..., Any]:
        def charged(*arguments: Any) -> Any:
            budget.charge(1)
            return function(*arguments)

        return charged

    hooks = {name: charging(hook) for name, hook in getattr(decoder, "hooks", {}).items()}
    helpers = getattr(decoder, "helpers", {})
    env_data = {**environment, **hooks, **helpers, "rng": rng, "budget": budget}
    charged = charging(decoder)

    state, best, best_score = State(), State(), float("inf")
    before: float | None = None
    trace = []
    for position, run in enumerate(runs):
        if position:
            budget.next_position()
        start, work = time.perf_counter(), budget.work
        state = run(env_data, state, charged)
        score = float(decoder(state))
        trace.append(PositionEffect(before, score, time.perf_counter() - start, budget.work - work))
        before = score
        if position == 0 or score < best_score:
            best, best_score = state.copy(), score
    return Execution(best, best_score, tuple(trace))
