"""The operators of a small made-up problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dga2d.domains.core.contract import Card, Implementation, Operator, OperatorName, SolutionKind
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step

CARD = Card("Imaginary", "cost", "a permutation", "a sum", {"n": "places"}, "each place once")
SOURCE = """NAME = "{name}"
ROUNDS = 5  # tunable: int 1..40
NOISE = 0.5  # tunable: float 0.0..1.0


def run(env_data, state, calc_makespan_fn):
    return state
"""


def made_up_operator(name: str, category: str, requires: SolutionKind, n: int = 1) -> Operator:
    """An operator with `n` implementations that change nothing."""
    operator = OperatorName(name)
    texts = [SOURCE.format(name=f"{name}{i}") for i in range(n)]
    return Operator(
        operator,
        name.title(),
        f"What {name} does.",
        category,
        requires,
        "complete",
        "basic",
        "O(1)",
        "made up",
        tuple(Implementation(operator, text, "library:test") for text in texts),
    )


OPERATORS = (
    made_up_operator("build", "initialisation", "none", 2),
    made_up_operator("climb", "local_search", "complete", 2),
    made_up_operator("intensify", "intensification", "complete"),
    made_up_operator("kick", "perturbation", "complete"),
    made_up_operator("start", "initialisation", "none"),
)


def first_step(operator: Operator) -> Step:
    """An operator's first implementation as a step of a pipeline."""
    first = ImplementationId(operator.implementations[0].id)
    return Step(operator=OperatorId(operator.id), implementation=first)


def with_marked_functions(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """The operators with a marked function in every implementation, each another one."""

    def marked(number: int, operator: Operator) -> Operator:
        texts = tuple(
            replace(
                c, source=f"{c.source}\n\n# exchangeable: pace\ndef pace(n):\n    return n + {number}{i}\n"
            )
            for i, c in enumerate(operator.implementations)
        )
        return replace(operator, implementations=texts)

    return tuple(marked(number, operator) for number, operator in enumerate(operators, start=1))
