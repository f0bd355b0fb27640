"""Code with other constants, whose units cost something else: measured on its own, or counted as its text."""

from __future__ import annotations

import pytest
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import CountingEvaluator
from tests.agents.simulation import Simulation

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Implementation, Instance
from dga2d.events import ImplementationId
from dga2d.events import payloads as p
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState


def rate(step: Implementation) -> float:
    """Units per processor second: 10,000 to 160,000, by the text with its constants."""
    return 10_000.0 * (1 + int(step.digest[:1], 16))


class ByText(CountingEvaluator):
    """Rates depend on the whole text, its constants included."""

    def rate(self, step: Implementation, instance: Instance) -> float:
        return rate(step)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[EvaluationRequest]:
    return ByText.takes_over(monkeypatch)


def raced(simulation: Simulation, *, own: bool) -> tuple[Simulation, RunState, MemoryLog]:
    changed = simulation.changed(
        work=1000, race_contenders=6, configurations=True, gate_instances=2, generations=4
    ).changed(calibrate_constants=own)
    state, log = changed.run()
    assert state.configured, "no race brought a configuration"
    return changed, state, log


def seconds(request: EvaluationRequest) -> list[float]:
    """Return what a charged unit takes, by position."""
    return [1.0 / scale / rate(step) for step, scale in zip(request.steps, request.scales, strict=True)]


def test_equal_work_is_equal_time_whatever_the_constants(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    _, state, _ = raced(simulation, own=True)
    evaluations = [one for one in requests if one.key.startswith("evaluation/") and one.unit == "work"]
    configured = {name for one in evaluations for name in (step.id for step in one.steps)} & {
        *state.configured
    }
    assert configured
    first = seconds(evaluations[0])[0]
    for one in evaluations:
        assert seconds(one) == pytest.approx([first] * len(one.steps), rel=0.01)


def test_every_configuration_is_measured_once_before_it_is_evaluated(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    changed, state, log = raced(simulation, own=True)
    seen: set[str] = set()
    for event in log.events:
        if isinstance(event.payload, p.WorkRateMeasured):
            assert event.payload.subject not in seen
            seen.add(event.payload.subject)
        if isinstance(event.payload, p.EvaluationRecorded) and event.payload.split == "race":
            before = fold_all(log.events[: event.seq - 1]).generation
            assert before is not None
            assert before.race is not None
            steps = before.race.contenders[event.payload.candidate % len(before.race.contenders)].pipeline
            assert {step.implementation for step in steps} <= seen
    assert seen & {*state.configured}
    assert changed.made_again(log) > 0


def test_otherwise_a_configuration_counts_as_its_text(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    changed, state, log = raced(simulation, own=False)
    measured = {e.payload.subject for e in log.events if isinstance(e.payload, p.WorkRateMeasured)}
    assert not measured & {*state.configured}
    for one in requests:
        if one.key.startswith("evaluation/") and one.unit == "work":
            for step, scale in zip(one.steps, one.scales, strict=True):
                text = state.unconfigured(ImplementationId(step.id))
                assert text in measured
                assert scale == pytest.approx(state.work_rates.scale(text, 10), rel=0.01)
    assert changed.made_again(log) > 0
