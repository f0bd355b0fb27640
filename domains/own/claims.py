"""What a problem in one file must keep: its functions repeat themselves, touch nothing, and fit together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.claims.examination import Contradictions
from dga2d.domains.claims.outputs import count_axes
from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import NotOfferedError
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.scoring import PENALTY, ProblemFaultError, Scorer, fault

N_SOLUTIONS = 5
"""Random solutions of each instance that are tried."""
N_MOVES = 20
"""Random moves of each solution that a `delta` is compared on."""
N_DRAWN = 100
"""Random solutions among which one is sought that a picture can be drawn of."""


def functions_claim(domain: OwnDomain, refs: Sequence[InstanceRef]) -> Contradictions:
    """`score` and `check` give the same twice, change no argument, and `delta` says what the score does."""
    tried = 0
    for ref in refs:
        instance = domain.load(ref)
        scorer: Scorer = instance.data["scorer"]
        decoder, kept = domain.decoder(domain.environment(instance)), scorer.environment()
        rng = np.random.default_rng(1)
        for _ in range(N_SOLUTIONS):
            solution = scorer.encoding.random(rng)
            state = scorer.encoding.state(solution)
            first, again, decoded = (
                scorer.minimised(solution.copy()),
                scorer.minimised(solution.copy()),
                decoder(state),
            )
            if first != again or first != decoded:
                said = ", ".join(f"{value:g}" for value in (first, again, decoded))
                yield str(
                    fault(domain.problem, "score", ref.key, f"says {said} of one solution; it must be pure")
                )
            if scorer.has_delta and first < PENALTY:
                yield from _deltas(scorer, solution, first, rng)
            tried += 1
        changed = [key for key, value in scorer.environment().items() if not np.array_equal(value, kept[key])]
        if changed:
            hint = f"changes {', '.join(changed)} of its instance; work on copies"
            yield str(fault(domain.problem, "score", ref.key, hint))
    return f"{tried} random solutions of {len(refs)} instances"


def own_picture_claim(domain: OwnDomain) -> Contradictions:
    """A picture of a random solution of the smallest instance can be drawn; a problem may have none."""
    instance = domain.smoke_instance()
    scorer: Scorer = instance.data["scorer"]
    rng = np.random.default_rng(1)
    states = (scorer.encoding.state(scorer.encoding.random(rng)) for _ in range(N_DRAWN))
    state = next((state for state in states if domain.verify(instance, state).is_feasible), None)
    if state is None:
        return f"not tried: none of {N_DRAWN} random solutions is valid"
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
        said = scorer.sign * float(scorer.problem.delta(scorer.instance, solution.copy(), *arguments))
        scorer.encoding.move_on(moved, *arguments)
        after = scorer.minimised(moved)
        change = after - score
        if after < PENALTY and abs(change - said) > 1e-6 * max(1.0, abs(score), abs(after)):
            told, real = scorer.sign * said, scorer.sign * change
            hint = f"says {told:g} of the move {arguments}, the scores say {real:g}"
            yield str(fault(scorer.problem, "delta", scorer.name, hint))
            return
