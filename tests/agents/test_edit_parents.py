"""What new code is to improve on: the incumbent's implementation, or the best that descends from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from immutables import Map

from dga2d.agents.agent import open_basis
from dga2d.agents.pool_edits import best_descendant
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState, TriedCode

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

SURE, UNSURE, WORSE = (0.02, 0.03, 0.025), (0.09, -0.05, 0.001), (-0.01, -0.02, -0.01)


@pytest.fixture(scope="module")
def before_edits(simulation: Simulation) -> RunState:
    """A state in which code is asked for an operator of the incumbent."""
    changed = simulation.changed(
        gate_instances=3, incumbent_edits=1, generations=3, llm_calls=200, edit_parent="descendant"
    )
    log = changed.run()[1]
    asked = [event for event in log.events if event.type == "ImplementationProposed"]
    return fold_all(log.events[: asked[-1].seq - 1])


def with_family(
    state: RunState, operator: OperatorId, family: Sequence[tuple[str, str, Sequence[float | None]]]
) -> RunState:
    """The state with a pool of these children (name, parent, gains) beside what is there."""
    basis = open_basis(state)[1]
    names = tuple(ImplementationId(name) for name, *_ in family)
    tried = tuple(
        TriedCode(1, slot, ImplementationId(name), ImplementationId(parent), "", tuple(gains), True)
        for slot, (name, parent, gains) in enumerate(family)
    )
    pools = Map({**basis.pools, operator: (*basis.pools[operator], *names)})
    generation = state.generation
    assert generation is not None
    changed = replace(generation, basis=replace(basis, pools=pools))
    return replace(state, generation=changed, pools=pools, tried=state.tried.set(operator, tried))


def test_the_chain_of_sure_gains_is_followed_to_its_end(before_edits: RunState) -> None:
    step = incumbent(before_edits)[-1]
    ancestor, operator = str(step.implementation), step.operator
    family = [
        ("child", ancestor, SURE),
        ("unsure", ancestor, UNSURE),
        ("worse", ancestor, WORSE),
        ("failed", ancestor, (0.5, None, 0.5)),
        ("single", ancestor, (0.9,)),
        ("grandchild", "child", SURE),
        ("of another", "stranger", SURE),
    ]
    state = with_family(before_edits, operator, family)
    assert best_descendant(state, operator, step.implementation) == "grandchild"
    without = with_family(before_edits, operator, family[1:5])
    assert best_descendant(without, operator, step.implementation) == ancestor


def test_what_left_its_pool_is_no_parent(before_edits: RunState) -> None:
    step = incumbent(before_edits)[-1]
    state = with_family(before_edits, step.operator, [("child", str(step.implementation), SURE)])
    left = with_family(before_edits, step.operator, [])
    gone = replace(left, tried=state.tried)
    assert best_descendant(gone, step.operator, step.implementation) == step.implementation


def test_a_ring_of_parents_ends(before_edits: RunState) -> None:
    step = incumbent(before_edits)[-1]
    ancestor = str(step.implementation)
    state = with_family(before_edits, step.operator, [("child", ancestor, SURE), (ancestor, "child", SURE)])
    assert best_descendant(state, step.operator, step.implementation) == "child"


def test_a_run_with_descendants_decides_the_same_again(simulation: Simulation) -> None:
    changed = simulation.changed(
        gate_instances=3, incumbent_edits=2, generations=4, llm_calls=200, edit_parent="descendant"
    )
    log = changed.run()[1]
    assert changed.made_again(log) > 20
