"""What a bank offers comes before calls, goes through all that an answer goes through, and is in the log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.made_up_library import SOURCE
from tests.agents.test_wasted_calls import states_before

from dga2d.events import OperatorId, blob_digest, canonical_bytes
from dga2d.events.payloads import (
    BankEntry,
    LLMCallReserved,
    OperatorAdded,
    OperatorProposed,
    OperatorRejected,
)
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import OPERATOR_SLOT
from dga2d.runtime.bank.choosing import BankOfRun
from dga2d.runtime.inspection.call_views import bank_view, offers_view

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

ROLES = {"build": ("initialisation", "none"), "climb": ("local_search", "complete")}
VERDICTS = ("ImplementationAdded", "ImplementationReplaced", "ImplementationRejected")


def code(name: str) -> str:
    """Code that differs from the library's and from that of other names."""
    return SOURCE.format(name=name).replace("    return state", f"    {name} = state\n    return {name}")


def entry(operator: str, source: str, domain: str = "imaginary", gain: float | None = 0.1) -> BankEntry:
    category, requires = ROLES.get(operator, ("perturbation", "complete"))
    return BankEntry(
        source=blob_digest(source.encode()),
        domain=domain,
        operator=OperatorId(operator),
        category=category,
        requires=requires,
        provides="complete",
        run="earlier",
        model="somebody",
        how="gate",
        gain=gain,
        spread=None,
        pairs=1,
    )


def bank(*rows: tuple[str, str]) -> BankOfRun:
    """A bank of operators and sources."""
    return BankOfRun(tuple(entry(*row) for row in rows), tuple(text.encode() for _, text in rows))


ROWS = [(operator, code(f"{operator}_{i}")) for operator in ("build", "climb", "kick") for i in range(2)]


@pytest.mark.parametrize("gate", [pytest.param(0, marks=pytest.mark.slow), 3])
def test_entries_are_offered_before_a_model_is_asked_and_cost_no_call(
    simulation: Simulation, gate: int
) -> None:
    small = simulation.changed(gate_instances=gate, incumbent_edits=3, generations=4, pool_limit=4)
    plain, _ = small.run()
    state, log = replace(small, bank=bank(*ROWS)).run()
    assert state.status == plain.status == "completed"
    assert state.ledger.used < plain.ledger.used
    assert {offer.operator for offer in state.offers} <= {"build", "start", "climb", "kick"}
    assert any(offer.verdict == "accepted" for offer in state.offers)
    assert all(offer.verdict is not None for offer in state.offers)
    asked: dict[str, int] = {}
    for event in log.events:
        payload: Any = event.payload
        if event.type == "LLMCallReserved" and payload.purpose == "implement":
            asked.setdefault(payload.subject, event.seq)
        elif event.type in (*VERDICTS, "ImplementationProposed") and payload.offer is not None:
            assert payload.call is None
            assert f"implement/{payload.generation}/{payload.slot}" not in asked
    assert replace(small, bank=bank(*ROWS)).made_again(log) > 0
    view = bank_view(state)
    assert (view["entries"], view["offered"]) == (len(ROWS), len(state.offers))
    assert view["accepted"] == sum(row["verdict"] == "accepted" for row in offers_view(state))


def test_an_operator_is_offered_what_was_written_for_it_first_and_no_more_than_is_set(
    simulation: Simulation,
) -> None:
    rows = [*(("start", code(f"other_{i}")) for i in range(2)), *ROWS]
    found = [entry(*row) for row in rows]
    for i in range(2):
        found[i] = found[i].model_copy(update={"category": "initialisation", "requires": "none"})
    given = BankOfRun(tuple(found), tuple(text.encode() for _, text in rows))
    small = simulation.changed(incumbent_edits=4, generations=5, bank_offers=3, pool_limit=6)
    state, _ = replace(small, bank=given).run()
    by_operator: dict[str, list[int]] = {}
    for offer in sorted(state.offers, key=lambda o: (o.generation, o.slot, o.entry)):
        by_operator.setdefault(offer.operator, []).append(offer.entry)
    assert max(map(len, by_operator.values())) == 3
    assert set(by_operator["build"][:2]) == {2, 3}  # those of its own name, then one of the same role
    assert set(by_operator["build"][2:]) <= {0, 1}


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("import os\n\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n", "source_rules"),
        ("no python at all (\n", "syntax"),
        (code("hopeless"), "isolated"),
    ],
)
def test_a_hostile_or_broken_entry_is_refused_and_leaves_the_slot_to_others(
    simulation: Simulation, text: str, stage: str
) -> None:
    small = simulation.changed(gate_instances=3, incumbent_edits=2)
    hostile = replace(
        small,
        bank=bank(("build", text), ("climb", text)),
        fails=lambda request: any("hopeless" in step.source for step in request.steps),
    )
    state, log = hostile.run()
    assert state.offers
    assert {offer.verdict for offer in state.offers} == {"rejected"}
    assert all(offer.diagnostic.startswith(f"{stage}: ") for offer in state.offers)
    refused = [e.payload for e in log.events if e.type == "ImplementationRejected"]
    assert all(p.attempt == 0 and not p.is_final for p in refused if p.offer is not None)  # type: ignore[attr-defined]
    assert not any(
        text == log.blobs[state.sources[c]].decode() for pool in state.pools.values() for c in pool
    )
    assert hostile.made_again(log) > 0


def test_offers_do_not_depend_on_timing_and_whoever_resumes_needs_no_bank(simulation: Simulation) -> None:
    small = simulation.changed(gate_instances=3, incumbent_edits=3)
    banked = replace(small, bank=bank(*ROWS))
    whole, log = banked.run()
    assert state_digest(replace(banked, order=1).run()[0]) == state_digest(whole)
    first = next(e.seq for e in log.events if e.type == "ImplementationProposed")
    again, log = small.run(log.until(first))
    assert again.status == "completed"
    assert len(again.offers) > 1
    assert small.made_again(log) > 0


def test_an_offer_the_bank_does_not_hold_is_no_event_of_the_run(simulation: Simulation) -> None:
    banked = replace(simulation.changed(incumbent_edits=2), bank=bank(*ROWS))
    _, log = banked.run()
    events = [
        event
        for event in log.events
        if event.type != "RunStarted" or event.payload.bank is not None  # type: ignore[attr-defined]
    ]
    offered = next(i for i, e in enumerate(events) if getattr(e.payload, "offer", None) is not None)
    _, plain = simulation.changed(incumbent_edits=2).run()
    with pytest.raises(InvariantError):
        fold_all([plain.events[0], *events[1 : offered + 1]])


NEW = [(f"leap_{i}", code(f"leap_{i}")) for i in range(4)]
OFFERED: dict[str, Any] = {"gate_instances": 3, "bank_operators": 3, "generations": 5, "max_length": 6}


def verdicts_on_operators(log: MemoryLog) -> list[Any]:
    """Events that propose an operator, add or refuse it, in the order of the log."""
    kinds = ("OperatorProposed", "OperatorAdded", "OperatorRejected")
    return [event.payload for event in log.events if event.type in kinds]


def test_operators_that_the_library_lacks_are_offered_one_in_a_generation(simulation: Simulation) -> None:
    """They join if the incumbent gains by them; no model is asked."""
    again = [("leap_0", code("leap_0_better"))]
    banked = replace(simulation.changed(**OFFERED), bank=bank(*NEW, *again))
    state, log = banked.run()
    found = verdicts_on_operators(log)
    proposed = [payload for payload in found if isinstance(payload, OperatorProposed)]
    assert [(p.generation, p.operator, p.offer, p.call) for p in proposed] == [
        (1, "leap_0", 0, None),
        (2, "leap_1", 1, None),
        (3, "leap_2", 2, None),
    ]
    for payload in proposed:
        assert payload.operator in [step.operator for step in payload.extended]
    added = [payload for payload in found if isinstance(payload, OperatorAdded)]
    assert added
    assert all(sum(gain or 0.0 for gain in payload.gains) > 0 for payload in added)
    assert {p.operator for p in added} == set(state.operators)
    asked = [e.payload.purpose for e in log.events if isinstance(e.payload, LLMCallReserved)]
    assert "operator" not in asked
    own = [offer for offer in state.offers if offer.slot == OPERATOR_SLOT]
    assert [(o.entry, o.verdict) for o in own] == [
        (p.offer, "accepted" if p.operator in state.operators else "rejected") for p in proposed
    ]
    assert banked.made_again(log) > 0
    assert state_digest(fold_all(log.events)) == state_digest(state)
    assert {row["entry"] for row in offers_view(state)} >= {0, 1, 2}


def test_no_operator_is_offered_without_a_gate_or_from_another_domain(simulation: Simulation) -> None:
    without = simulation.changed(**OFFERED | {"gate_instances": 0})
    assert verdicts_on_operators(replace(without, bank=bank(*NEW)).run()[1]) == []
    foreign = [entry(*row, domain="elsewhere") for row in NEW]
    other = BankOfRun(tuple(foreign), tuple(text.encode() for _, text in NEW))
    assert verdicts_on_operators(replace(simulation.changed(**OFFERED), bank=other).run()[1]) == []


def test_a_refused_operator_makes_room_for_the_next_one_and_then_a_model_is_asked(
    simulation: Simulation,
) -> None:
    rows = [("leap_0", "no python at all (\n"), ("leap_1", code("hopeless")), ("leap_2", code("leap_2"))]
    small = simulation.changed(**OFFERED, new_operators=1, prompt_edition=3)
    banked = replace(
        small,
        bank=bank(*rows),
        fails=lambda request: any("hopeless" in step.source for step in request.steps),
    )
    state, log = banked.run()
    found = [payload for payload in verdicts_on_operators(log) if payload.generation == 1]
    refused = [payload for payload in found if isinstance(payload, OperatorRejected) and not payload.is_final]
    assert [(payload.offer, payload.stage) for payload in refused] == [(0, "syntax"), (1, "isolated")]
    assert next(payload.offer for payload in found if isinstance(payload, OperatorProposed)) == 2
    asked = [e.payload.subject for e in log.events if isinstance(e.payload, LLMCallReserved)]
    assert min(subject for subject in asked if subject.startswith("operator/")) == "operator/2/0"
    assert len([offer for offer in state.offers if offer.slot == OPERATOR_SLOT]) == 3
    assert banked.made_again(log) > 0


def test_an_operator_under_another_entrys_name_is_no_event_of_the_run(simulation: Simulation) -> None:
    banked = replace(simulation.changed(**OFFERED), bank=bank(*NEW))
    _, log = banked.run()
    place = next(i for i, event in enumerate(log.events) if event.type == "OperatorProposed")
    before = fold_all(log.events[:place])
    event = log.events[place]
    for offer, reason in ((1, "was written for leap_1"), (9, "has no entry 9")):
        values = event.payload.model_copy(update={"offer": offer}).model_dump(mode="json")
        forged = event._replace(payload_bytes=canonical_bytes(values))
        with pytest.raises(InvariantError, match=reason):
            fold(before, forged)


def test_code_for_an_operator_outside_the_incumbent_has_a_slot(simulation: Simulation) -> None:
    """The first of those that work on the incumbent, for at most as many operators as are set."""
    small = simulation.changed(gate_instances=3, incumbent_edits=2, generations=6, max_length=6)

    def outside(limit: int) -> tuple[int, set[str]]:
        banked = replace(small.changed(bank_operators=limit), bank=bank(*ROWS))
        state, log = banked.run()
        assert banked.made_again(log) > 0
        assert state_digest(fold_all(log.events)) == state_digest(state)
        own = [
            (before, event)
            for before, event in states_before(log, "ImplementationProposed")
            if event.offer is not None and event.slot == 1
        ]
        found = {e.operator for s, e in own if e.operator not in {step.operator for step in incumbent(s)}}
        return len(own), found

    assert outside(0)[1] == set()
    count, found = outside(1)
    assert count >= 1
    assert len(found) == 1
