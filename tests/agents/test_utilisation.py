"""How busy evaluators and models were, and what a run waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.evaluations import utilisation
from dga2d.runtime.terminal.phase import calls_in_flight, phase, waits_for

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


def test_overlapping_work_is_averaged_and_pauses_do_not_count() -> None:
    evaluations, calls = [(0.0, 4.0), (2.0, 4.0), (100.0, 101.0)], [(3.0, 9.0)]
    found = utilisation(evaluations, calls)
    assert found is not None
    assert found == (10.0, 0.7, 0.6, 5.0)
    assert found.sentence == (
        "0.7 evaluations and 0.6 model calls under way at a time; "
        "no evaluation while the model was waited for: 50 % of 0.2 minutes"
    )
    assert utilisation([], []) is None


def test_a_run_says_what_it_waits_for(simulation: Simulation) -> None:
    told: dict[int, set[str]] = {0: set(), 2: set()}
    for lag, found in told.items():
        state = RunState()
        for event in simulation.changed(generations=4, edit_lag=lag).run()[1].events:
            state = fold(state, event)
            assert calls_in_flight(state) >= 0
            assert (waits_for(state) == "") == (state.generation is None or state.status != "running")
            assert "0 of 0" not in phase(state)
            found.add(waits_for(state))
        assert {"the policy", "6 evaluations", "evaluations"} < found
    assert "1 answer" in told[0]
    assert not any(words.startswith("1 answer asked") for words in told[0])
