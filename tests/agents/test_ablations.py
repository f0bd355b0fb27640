"""Whole runs under every structure and every credit context of the paper's ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from dga2d.events.payloads import CreditsUpdated, EdgeReplaced, EdgesKept, GraphInitialized
from dga2d.replay.settings import CreditContext, Structure
from dga2d.replay.state.credit import SEPARATOR
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.graph import structure_violation
from dga2d.replay.theory import generation_theory

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

LONG = {"generations": 6, "edits_per_generation": 2, "max_length": 6}


def sources(log: MemoryLog) -> set[str]:
    """Sources of all transitions that were ever credited."""
    updates = [e.payload for e in log.events if isinstance(e.payload, CreditsUpdated)]
    return {transition.source for update in updates for transition in update.transitions}


@pytest.mark.parametrize("structure", get_args(Structure))
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_graph_of_a_run_is_of_its_structure(
    simulation: Simulation, structure: Structure, seed: int
) -> None:
    from dataclasses import replace

    state, log = replace(simulation, seed=seed).changed(**LONG, structure=structure).run()
    assert state.status == "completed"
    graphs = [closed.graph for closed in state.history.values()]
    assert all(structure_violation(graph.edges, structure) is None for graph in graphs)
    replaced = sum(isinstance(e.payload, EdgeReplaced) for e in log.events)
    if structure == "fixed":
        assert replaced == 0
        assert {g.count_pipelines(6) for g in graphs} == {1}
        kept = [e.payload for e in log.events if isinstance(e.payload, EdgesKept)]
        assert len(kept) == 6 * 2
        assert not any(call.purpose == "connect" for call in state.ledger.calls.values())
    rates = [row.growth_rate for row in generation_theory(state)]
    assert structure == "dg" or not any(rates)


def test_a_cut_of_the_first_graph_is_in_the_log(simulation: Simulation) -> None:
    lines = {}
    for structure in get_args(Structure):
        _, log = simulation.changed(structure=structure).run()
        (first,) = (e.payload for e in log.events if isinstance(e.payload, GraphInitialized))
        lines[structure] = first.clamped
    assert lines["dg"] == ()
    assert all(lines[s][-1].startswith(f"structure {s}: ") for s in ("dag", "linear", "fixed"))


@pytest.mark.parametrize(
    ("order", "longest"),
    [
        ("zero", 1),
        ("second", 2),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("first", 1), ("full", 6))),
    ],
)
def test_credits_hold_as_much_history_as_the_context_says(
    simulation: Simulation, order: CreditContext, longest: int
) -> None:
    state, log = simulation.changed(**LONG, credit_context=order).run()
    assert state.status == "completed"
    found = sources(log)
    assert (found == {"*"}) == (order == "zero")
    assert max(source.count(SEPARATOR) + 1 for source in found) <= longest
    if order in ("second", "full"):
        assert any(SEPARATOR in source for source in found)
    for row in generation_theory(state):
        assert row.largest_credit <= row.credit_bound + 1e-12
        assert list(row.cells.values()) == sorted(row.cells.values())


@pytest.mark.parametrize(
    ("structure", "order"),
    [
        ("dag", "zero"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("dag", "full"), ("linear", "zero"), ("linear", "full"))
        ),
    ],
)
def test_an_ablated_run_goes_on_from_any_event(
    simulation: Simulation, structure: Structure, order: CreditContext
) -> None:
    small = simulation.changed(structure=structure, credit_context=order, generations=2)
    whole, log = small.run()
    for seq in range(3, len(log.events), 23):
        again, _ = small.run(log.until(seq))
        calls = fold_all(log.events[:seq]).ledger.calls.values()
        if not any(call.status == "reserved" for call in calls):
            assert state_digest(again) == state_digest(whole), f"stopped after event {seq}"
