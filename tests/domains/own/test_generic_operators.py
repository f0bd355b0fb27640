"""The operators of every encoding: described, allowed, valid, repeatable, never worse where they improve."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.own.problems import EVERY, Knapsack, Ordering

import dga2d
from dga2d.domains.budget import Budget
from dga2d.domains.claims import DESCRIPTION_CLAIMS, conduct_faults, examine
from dga2d.domains.core.contract import Implementation, State
from dga2d.domains.execution import Execution, execute, load_implementation, preparing
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.scoring import INVALID_SCORE

WORK = 400


def carried_out(domain: OwnDomain, steps: list[Implementation], cache: Path, work: int = WORK) -> Execution:
    """What a pipeline gives on the smoke instance."""
    environment = domain.environment(domain.smoke_instance())
    runs = [load_implementation(step, cache) for step in steps]
    rng = np.random.default_rng(5)
    decoder = domain.decoder(domain.environment(domain.smoke_instance()))
    return execute(runs, environment, decoder, Budget(work, "work", len(runs)), rng)


def plain(state: State) -> list[list[float]]:
    return [state.sequence.tolist(), *(value.tolist() for value in state.metadata.values())]


@pytest.mark.parametrize("kind", EVERY)
def test_an_encoding_describes_its_operators(kind: type[dga2d.Problem]) -> None:
    for claim in DESCRIPTION_CLAIMS:
        assert examine(claim.check, OwnDomain(kind(), "tiny")).contradictions == ()


@pytest.mark.parametrize(
    "kind", [*EVERY[::3], *(pytest.param(k, marks=pytest.mark.slow) for k in EVERY if k not in EVERY[::3])]
)
def test_operators_give_valid_solutions_twice_alike_and_worsen_none(
    kind: type[dga2d.Problem], tmp_path: Path
) -> None:
    domain = OwnDomain(kind(), "tiny")
    instance = domain.smoke_instance()
    start = domain.safe_baseline()[0].implementation
    for operator in domain.operators():
        (text,) = operator.implementations
        steps = [text] if operator.is_initialiser else [start, text]
        first, again = (carried_out(domain, steps, tmp_path) for _ in range(2))
        assert plain(first.state) == plain(again.state), operator.id
        assert first.trace[-1].work == again.trace[-1].work > 0
        assert first.trace[-1].score_after < INVALID_SCORE, operator.id
        verdict = domain.verify(instance, first.state)
        assert verdict.is_feasible or "broken by" in str(verdict.violation), operator.id
        before = first.trace[-1].score_before
        if operator.category not in ("perturbation", "initialisation"):
            assert before is not None
            assert first.trace[-1].score_after <= before, operator.id


@pytest.mark.parametrize("kind", EVERY)
def test_operators_stop_in_time_and_leave_their_input_alone(
    kind: type[dga2d.Problem], tmp_path: Path
) -> None:
    domain = OwnDomain(kind(), "tiny")
    decoder = domain.decoder(domain.environment(domain.smoke_instance()))
    start = domain.safe_baseline()[0].implementation
    state = carried_out(domain, [start], tmp_path).state
    found = {}
    for operator in domain.operators():
        (text,) = operator.implementations
        given = {
            **domain.environment(domain.smoke_instance()),
            **decoder.hooks,  # type: ignore[attr-defined]
            **decoder.helpers,  # type: ignore[attr-defined]
            "prepared": preparing(domain.environment(domain.smoke_instance())),
            "rng": np.random.default_rng(3),
            "budget": Budget(0.01, "s", 1),
        }
        begin = State() if operator.is_initialiser else state.copy()
        run = load_implementation(text, tmp_path)
        faults, _ = conduct_faults(run, given, begin, decoder, INVALID_SCORE)
        found[operator.id] = faults
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_the_baseline_finds_the_best_of_small_problems(tmp_path: Path) -> None:
    domain = OwnDomain(Knapsack(), "tiny")
    steps = [step.implementation for step in domain.safe_baseline()]
    instance = domain.smoke_instance()
    fields = instance.data["scorer"].instance
    choices = [np.array([bits >> i & 1 for i in range(9)]) for bits in range(2**9)]
    valid = [c for c in choices if (c * fields.weights).sum() <= fields.capacity]
    best = max(int((c * fields.values).sum()) for c in valid)
    assert domain.verify(instance, carried_out(domain, steps, tmp_path, 3000).state).objective == best


def test_a_delta_is_asked_instead_of_a_score(tmp_path: Path) -> None:
    asked = []

    class WithDelta(Ordering):
        """The same, with a delta."""

        def delta(self, instance, order, *move):  # type: ignore[no-untyped-def]
            asked.append(move)
            i, j = move
            changed = order.copy()
            changed[i], changed[j] = changed[j], changed[i]
            return self.score(instance, changed) - self.score(instance, order)

    plainly, cleverly = (OwnDomain(kind(), "tiny") for kind in (Ordering, WithDelta))
    answers = []
    for domain in (plainly, cleverly):
        steps = [step.implementation for step in domain.safe_baseline()]
        answers.append(carried_out(domain, steps, tmp_path).score)
    assert answers[0] == pytest.approx(answers[1])
    assert asked
