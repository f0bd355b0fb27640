"""What a problem in one file must keep: its functions repeat themselves, touch nothing, and fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.claims.examination import Contradictions
from dga2d.domains.claims.operators import are_equal, are_same
from dga2d.domains.claims.outputs import count_axes
from dga2d.domains.core.contract import Instance, InstanceRef, State
from dga2d.domains.core.errors import NotOfferedError
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.output import printing_to_stderr
from dga2d.domains.own.scoring import PENALTY, WHOLE, ProblemFaultError, Scorer, fault

N_SOLUTIONS = 5
"""Random solutions of each instance that are tried."""
COPY = "work on a copy"
N_MOVES = 20
"""Random moves of each solution that a `delta` is compared on."""
N_DRAWN = 100
"""Random solutions among which a valid one is sought, to be written and drawn."""
NO_VALID = f"not tried: none of {N_DRAWN} random solutions is valid"


def functions_claim(domain: OwnDomain, refs: Sequence[InstanceRef]) -> Contradictions:
    """`score` and `check` give the same twice, change no argument, and `delta` says what the score does."""
    met = set[str]()
    for ref in refs:
        instance = domain.load(ref)
        met |= set(vars(instance.data["scorer"].fields))
        with printing_to_stderr():
            found = list(_functions_on(domain, instance))
        yield from found
    unknown = [name for name in domain.problem.fields if name not in met]
    if unknown and WHOLE not in met:
        hint = f"describes {', '.join(unknown)}, which no instance has; they have {', '.join(sorted(met))}"
        yield str(fault(domain.problem, "fields", "", hint))
    return f"{N_SOLUTIONS * len(refs)} random solutions of {len(refs)} instances"


def _functions_on(domain: OwnDomain, instance: Instance) -> Iterator[str]:
    scorer: Scorer = instance.data["scorer"]
    decoder = domain.decoder(domain.environment(instance))
    rng = np.random.default_rng(1)
    for _ in range(N_SOLUTIONS):
        solution = scorer.encoding.random(rng)
        touched = list(_touched(scorer, solution))
        if touched:
            yield from touched
            return
        state = scorer.encoding.state(solution)
        first, again = (scorer.minimised(solution.copy()) for _ in range(2))
        decoded = decoder(state)
        if first != again or first != decoded:
            said = ", ".join(f"{value:g}" for value in (first, again, decoded))
            yield str(
                fault(domain.problem, "score", scorer.name, f"says {said} of one solution; it must be pure")
            )
        if scorer.has_delta and first < PENALTY:
            yield from _deltas(scorer, solution, first, rng)


def _touched(scorer: Scorer, solution: NDArray[Any]) -> Iterator[str]:
    """Yield which of `check` and `score` changes what it is given."""
    problem, is_valid = scorer.problem, True
    parts: dict[str, Callable[[Any], object]] = {}
    if scorer.has_check:
        is_valid = scorer.amount(solution.copy()) == 0.0
        parts["check"] = partial(problem.check, scorer.instance)
    if is_valid:
        parts["score"] = scorer.objective
    for part, function in parts.items():
        kept, given = scorer.environment(), solution.copy()
        function(given)
        changed = [key for key, value in scorer.environment().items() if not are_equal(value, kept[key])]
        if changed:
            yield str(
                fault(problem, part, scorer.name, f"changes {', '.join(changed)} of its instance; {COPY}")
            )
        if not are_same(scorer.encoding.state(given), scorer.encoding.state(solution)):
            yield str(fault(problem, part, scorer.name, f"changes the solution that it is given; {COPY}"))


def _valid_state(domain: OwnDomain, instance: Instance) -> State | None:
    """Return a random solution that is valid; ``None`` if none was found."""
    scorer: Scorer = instance.data["scorer"]
    rng = np.random.default_rng(1)
    states = (scorer.encoding.state(scorer.encoding.random(rng)) for _ in range(N_DRAWN))
    return next((state for state in states if domain.verify(instance, state).is_feasible), None)


def own_writing_claim(domain: OwnDomain) -> Contradictions:
    """A random solution of the smallest instance can be written."""
    instance = domain.smoke_instance()
    state = _valid_state(domain, instance)
    if state is None:
        return NO_VALID
    try:
        text = domain.write_solution(instance, state)
    except ProblemFaultError as error:
        yield str(error)
        return ""
    return f"{len(text)} characters"


def own_picture_claim(domain: OwnDomain) -> Contradictions:
    """A picture of a random solution of the smallest instance can be drawn; a problem may have none."""
    instance = domain.smoke_instance()
    state = _valid_state(domain, instance)
    if state is None:
        return NO_VALID
    try:
        picture = domain.picture(instance, state)
    except NotOfferedError:
        return "it has none"
    except ImportError as error:
        return f"not tried: {error}"
    except ProblemFaultError as error:
        yield str(error)
        return ""
    return f"{count_axes(picture)} axes"


def _deltas(scorer: Scorer, solution: NDArray[Any], score: float, rng: np.random.Generator) -> Iterator[str]:
    for _ in range(N_MOVES):
        moved, other = solution.copy(), scorer.encoding.random(rng)
        arguments = scorer.encoding.random_move(solution, other, rng)
        scorer.encoding.move_on(moved, *arguments)
        after = scorer.minimised(moved)
        if after >= PENALTY:  # the delta is not asked for what breaks constraints
            continue
        said, change = scorer.delta(solution.copy(), *arguments), after - score
        if abs(change - said) > 1e-6 * max(1.0, abs(score), abs(after)):
            told, real = scorer.sign * said, scorer.sign * change
            hint = f"says {told:g} of the move {arguments}, the scores say {real:g}"
            yield str(fault(scorer.problem, "delta", scorer.name, hint))
            return
