"""Runs an algorithm: loads implementations from text and walks a state through them.

Used inside the evaluation child, by tests and by library authors; it trusts nobody's result, the caller
verifies. The answer is the best complete state seen at the borders between positions (`docs/decisions.md`),
or the last state of a walk that repeats.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from dga2d.domains.budget import Budget, Clock
from dga2d.domains.core.contract import Decoder, Implementation, State
from dga2d.domains.core.oracle import Ask

MOST_PASSES = 1_000_000
"""Passes after which a walk that repeats ends, whatever its decoder and its budget say."""
MOST_IDLE_STEPS = 1000
"""Steps in a row without a charge after which it ends as well: nothing in it does anything."""
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
    ask: Ask | None = None,
    clock: Clock = time.perf_counter,
) -> Execution:
    """Run a pipeline of loaded implementations; `budget` must be made for ``len(runs)`` positions.

    Every decode an operator asks for charges one work unit, and so does every call of a decoder's ``hooks``,
    functions by the names under which operators find them in ``env_data``; its ``helpers`` are more of them,
    and free. `ask` is the oracle of a domain that has one: its decoder is connected to it, and every question
    charges one unit. What positions take is told by `clock`.

    A decoder that says ``repeats`` makes a step of the walk: the first position runs once, the others again
    and again in their order, until the decoder's ``is_done`` or the end of the budget, which all share. Only
    questions are charged there: a decoder's value is what is known anyhow.
    """

    def charging(function: Callable[..., Any]) -> Callable[..., Any]:
        def charged(*arguments: Any) -> Any:
            budget.charge(1)
            return function(*arguments)

        return charged

    if ask is not None:
        decoder.connect(_charging_rows(ask, budget))  # type: ignore[attr-defined]
    hooks = {name: charging(hook) for name, hook in getattr(decoder, "hooks", {}).items()}
    helpers = getattr(decoder, "helpers", {})
    env_data = {
        **environment,
        **hooks,
        **helpers,
        "prepared": preparing({**environment, **helpers}),
        "rng": rng,
        "budget": budget,
    }
    if getattr(decoder, "repeats", False):
        return _repeat(runs, env_data, decoder, budget, clock)
    return _once(runs, env_data, decoder, charging(decoder), budget, clock)


def preparing(environment: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function that operators find as ``env_data["prepared"]``.

    ``prepared(make, *numbers)`` is what ``make(environment, *numbers)`` returns, made once in an evaluation:
    what rests on the instance alone, such as lists of near cities, need not be made again by a search that
    calls the same code in every round. `make` is given neither randomness nor the budget.

    Raises
    ------
    TypeError
        By ``prepared``: one of the `numbers` is no key of a dictionary, such as an array.
    """
    made = dict[tuple[Any, ...], Any]()

    def prepared(make: Callable[..., Any], *numbers: Any) -> Any:
        key = (make, *numbers)
        if key not in made:
            made[key] = make(environment, *numbers)
        return made[key]

    return prepared


def _charging_rows(ask: Ask, budget: Budget) -> Ask:
    def charged(rows: Any) -> Any:
        budget.charge(len(rows))
        return ask(rows)

    return charged


def _once(
    runs: Sequence[Run],
    env_data: Mapping[str, Any],
    decoder: Decoder,
    charged: Decoder,
    budget: Budget,
    clock: Clock,
) -> Execution:
    state, best, best_score = State(), State(), float("inf")
    before: float | None = None
    trace = []
    work = 0
    for position, run in enumerate(runs):
        if position:
            work = budget.work
            budget.next_position()
        start = clock()
        state = run(env_data, state, charged)
        score = float(decoder(state))
        trace.append(PositionEffect(before, score, clock() - start, budget.work - work))
        before = score
        if position == 0 or score < best_score:
            best, best_score = state.copy(), score
    return Execution(best, best_score, tuple(trace))


def _repeat(
    runs: Sequence[Run], env_data: Mapping[str, Any], decoder: Decoder, budget: Budget, clock: Clock
) -> Execution:
    """Run the walk as the step of an iteration, and return the last state.

    Scores in the trace are those of the first pass; the last position's is that of the answer.
    """
    is_done: Callable[[State], bool] = decoder.is_done  # type: ignore[attr-defined]
    after_pass: Callable[[State], None] | None = getattr(decoder, "after_pass", None)
    budget.put_together()
    state = State()
    trace = list[PositionEffect]()
    idle = 0
    for position in _walk_again(len(runs)):
        start, work = clock(), budget.work
        state = runs[position](env_data, state, decoder)
        if after_pass is not None and position == len(runs) - 1:
            after_pass(state)
        elapsed_s, charged_units = clock() - start, budget.work - work
        if position == len(trace):
            before = trace[-1].score_after if trace else None
            trace.append(PositionEffect(before, float(decoder(state)), 0.0, 0))
        known = trace[position]
        trace[position] = known._replace(
            elapsed_s=known.elapsed_s + elapsed_s, work=known.work + charged_units
        )
        idle = 0 if charged_units else idle + 1
        if is_done(state) or budget.exhausted() or idle >= MOST_IDLE_STEPS:
            break
    score = float(decoder(state))
    trace[-1] = trace[-1]._replace(score_after=score)
    trace += [PositionEffect(score, score, 0.0, 0)] * (len(runs) - len(trace))  # those it did not come to
    return Execution(state, score, tuple(trace))


def _walk_again(positions: int) -> Iterator[int]:
    """Yield the positions of a walk that repeats: the first one once."""
    yield 0
    for _ in range(MOST_PASSES if positions > 1 else 0):
        yield from range(1, positions)
