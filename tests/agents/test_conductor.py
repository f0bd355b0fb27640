"""Subsets of instances, ends of runs, and when a validation is due."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map
from tests.agents.kernel_library import FAST, HOLDING, KERNELS, KernelEvaluator
from tests.agents.outside_world import Answers

from dga2d.agents.conductor import GENERATION, draw_batch, end_reason, validation_is_due
from dga2d.agents.proposing.errors import CallLostError
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.spreading import spread, spread_copies
from dga2d.events import PAYLOAD_TYPES, InstanceKey, RecordedEvent, encode_payload, instance_and_copy
from dga2d.events.payloads import EvaluationRecorded, GenerationCompleted, ProcessUse
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

KEYS = tuple(InstanceKey(f"g/{i:02}") for i in range(10))


@pytest.mark.parametrize(
    ("size", "expected"), [(1, [5]), (2, [2, 7]), (5, [1, 3, 5, 7, 9]), (10, range(10)), (99, range(10))]
)
def test_instances_are_spread_evenly(size: int, expected: list[int]) -> None:
    assert spread(KEYS, size) == tuple(KEYS[i] for i in expected)
    assert spread(KEYS, None) == KEYS


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_spread_has_its_size_in_order_and_nothing_twice(n: int, size: int) -> None:
    keys = [InstanceKey(f"{i:03}") for i in range(n)]
    chosen = spread(keys, size)
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) == min(size, n)
    places = [keys.index(key) for key in chosen]
    gaps = [b - a for a, b in pairwise(places)]
    assert not gaps or max(gaps) - min(gaps) <= 1


@given(st.integers(1, 20), st.integers(1, 90))
def test_all_instances_come_before_any_comes_again(n: int, size: int) -> None:
    keys = [InstanceKey(f"{i:03}") for i in range(n)]
    met = [instance_and_copy(key) for key in spread_copies(keys, size)]
    assert len(set(met)) == len(met) == size
    assert [copy for _, copy in met] == [1 + i // n for i in range(size)]


@given(st.integers(1, 40), st.integers(0, 2**63 - 1))
def test_a_batch_is_drawn_without_replacement_and_sorted(size: int, seed: int) -> None:
    keys = [f"{i:03}" for i in range(40)]
    batch = draw_batch(keys, size, seed)
    assert len(set(batch)) == size
    assert list(batch) == sorted(batch)
    assert batch == draw_batch(keys, size, seed)


def test_batches_of_different_seeds_differ() -> None:
    assert len({draw_batch(KEYS, 3, seed) for seed in range(20)}) > 10


@pytest.mark.parametrize(
    ("interval", "generations", "due"),
    [(5, 12, [5, 10, 12]), (0, 4, [4]), (1, 3, [1, 2, 3]), (7, 3, [3])],
)
def test_validations_are_due_every_interval_and_at_the_end(
    simulation: Simulation, interval: int, generations: int, due: list[int]
) -> None:
    _, log = simulation.run()
    begun = fold_all(log.events[:2])
    settings = RunSettings(validation_interval=interval, generations=generations)
    state = replace(begun, settings=settings)
    assert [t for t in range(1, generations + 1) if validation_is_due(state, t)] == due


def test_a_run_ends_at_its_last_generation_or_with_its_calls(simulation: Simulation) -> None:
    state, _ = simulation.run()
    assert end_reason(state) == "all 3 generations done"
    more = replace(state, settings=state.settings.model_copy(update={"generations": 9}))
    assert end_reason(more) is None
    spent = replace(more, ledger=replace(more.ledger, limit=more.ledger.used))
    assert end_reason(spent) == f"all {more.ledger.used} model calls spent"
    without = replace(spent, settings=spent.settings.model_copy(update={"evolution": False}))
    assert end_reason(without) is None


BROKEN = ["```python\nimport os\n```"] * 3


def test_a_run_ends_when_answers_with_code_are_all_rejected(simulation: Simulation) -> None:
    """Edges go on being accepted meanwhile: a broken operator of the domain fails every trial of new code."""
    hopeless = replace(simulation, model=Answers({"ImplementTask": BROKEN})).changed(generations=30)
    state, log = hopeless.changed(rejection_limit=7).run()
    rejections = state.ledger.rejections
    assert state.status == "completed"
    assert state.reason == rejections.sentence
    assert rejections[::2] == (9, 9)  # to the end of the generation
    assert state.reason.startswith("the last 9 answers with code were all rejected, most often (9): ")
    assert rejections.commonest.startswith("signature: ")
    assert state.completed == 3
    assert state.history[3].validation is not None, "the last generation is validated"
    assert hopeless.made_again(log)
    assert hopeless.changed(rejection_limit=0, generations=4).run()[0].reason == "all 4 generations done"


def test_an_accepted_answer_begins_the_count_anew(simulation: Simulation) -> None:
    state, _ = simulation.run()
    calls = [call for call in state.ledger.calls.values() if call.purpose == "implement"]
    reasons = ("trial: line 3", "parse: no", "trial: line 44", None)
    judged = {
        n: replace(calls[0], number=n, judged_seq=n, verdict="rejected" if r else "accepted", diagnostic=r)
        for n, r in enumerate((reasons[1], reasons[3], *reasons[:3]), start=1)
    }
    ledger = replace(state.ledger, calls=Map(judged))
    assert ledger.rejections == (3, "trial: line 44", 2)
    assert replace(ledger, calls=Map()).rejections == (0, "", 0)


Link = tuple[str, str, str]
"""Type, writer, and type of the cause."""
REPEATS = {"ImplementationRejected", "EdgeRejected", "EdgeReplaced", "EdgesKept", "LLMCallAbandoned"}
REPEATS |= {"RaceRoundScored", "OperatorRejected", "OperatorProposed", "ImplementationProposed"}
REPEATS |= {"KernelRejected"}
"""What asks for another call, the next slot or another round, and so stands below what it causes."""


def kind(event: RecordedEvent) -> str:
    payload = event.payload
    return f"{event.type} ({payload.split})" if isinstance(payload, EvaluationRecorded) else event.type


def links(log: MemoryLog) -> set[Link]:
    """What followed what in the generations of a log."""
    inside = [e for e in log.events if e.generation is not None or e.type == "GenerationStarted"]
    return {(kind(e), e.agent, kind(log.events[(e.caused_by or 0) - 1])) for e in inside}


@pytest.fixture(scope="module")
def witnessed(simulation: Simulation) -> set[Link]:
    """Links of runs in which everything happens: all edits, refusals, lost calls, stops, failures."""
    many = simulation.changed(edits_per_generation=5, llm_calls=500, generations=1)
    nonsense = ["?", "```python\nimport os\n```"]
    bad = {"ImplementTask": nonsense, "ConnectTask": nonsense}
    runs = [
        many,
        replace(many, model=Answers(bad)),
        replace(many, model=Losing(), fails=lambda request: request.key.startswith("composed/")),
        simulation.changed(edge_edit="delta", validation_interval=1, generations=2),
        replace(simulation.changed(attempts_per_edit=1, generations=1), model=Losing()),
        simulation.changed(structure="fixed", generations=1),
        simulation.changed(pool_limit=1, generations=2),
        simulation.changed(llm_calls=3, generations=2),
        replace(simulation.changed(gate_instances=2, incumbent_edits=2, generations=2), model=Losing()),
        simulation.changed(race_contenders=4, race_instances=2, generations=2),
        simulation.changed(race_contenders=4, race_instances=2, generations=2, validation_interval=0),
        replace(simulation.changed(edit_lag=1, edits_per_generation=2, generations=4), model=Losing()),
    ]
    asking = simulation.changed(new_operators=1, gate_instances=2, generations=2, operator_limit=5)
    runs += [
        asking.changed(generations=9),
        replace(asking, model=Losing()),
        replace(asking.changed(attempts_per_edit=1), model=Losing()),
        replace(asking, model=Answers({"OperatorTask": nonsense})),
    ]
    holding = replace(simulation.changed(kernels="evolved", generations=2), operators=HOLDING)
    holding = replace(holding, kernels=KERNELS, evaluator=KernelEvaluator)
    faster = {"KernelTask": [f"```python\n{FAST}```\n"]}
    runs += [
        replace(holding, model=Answers(faster)),
        replace(holding, model=Answers({"KernelTask": nonsense})),
        replace(holding, model=Losing()),
        replace(holding.changed(attempts_per_edit=1), model=Losing()),
        replace(holding, model=Answers({"KernelTask": [faster["KernelTask"][0].replace("[i]", "[0]")]})),
        replace(holding, operators=simulation.operators),
        replace(holding.changed(llm_calls=200, new_operators=1, gate_instances=2, operator_limit=5)),
    ]
    logs = [run.run()[1] for run in runs]
    asked = [e.seq for e in logs[0].events if e.type == "LLMCallReserved"]
    logs += [many.run(logs[0].until(seq))[1] for seq in (asked[1], asked[2], asked[-1])]
    plain = simulation.changed(evolution=False, generations=2, checkpoint_rule="pooled")
    _, log = plain.run()
    closed = next(e.seq for e in log.events if e.type == "GenerationCompleted")
    logs += [log, plain.run(log.until(closed))[1]]
    return set().union(*map(links, logs))


@dataclass
class Losing(Answers):
    """Loses the first call of every slot."""

    given: dict[str, list[str]] = field(default_factory=dict)

    async def complete(self, request: CompletionRequest) -> Completion:
        if request.task.attempt == 0:
            raise CallLostError("lost")
        return await super().complete(request)


def test_the_table_of_a_generation_is_what_happens(witnessed: set[Link]) -> None:
    table = {(row.event, row.writer, cause) for row in GENERATION for cause in row.after}
    assert not witnessed - table
    unseen = {(event, writer) for event, writer, _ in table - witnessed} - {link[:2] for link in witnessed}
    by_the_store_or_with_files = {"LLMCallRefused", "PolicyCheckpointed"}  # see test_call_endings and others
    assert {event for event, _ in unseen} <= by_the_store_or_with_files


def test_the_table_of_a_generation_reads_from_top_to_bottom() -> None:
    rows = [(row.event, row.writer) for row in GENERATION]
    assert len(set(rows)) == len(rows)
    above: set[str] = {"RunStarted", "GraphInitialized", "GenerationCompleted", "RunResumed", "RunForked"}
    for row in GENERATION:
        assert row.writer in PAYLOAD_TYPES[row.event.partition(" ")[0]].owners
        assert set(row.after) <= above | REPEATS
        above.add(row.event)


def test_what_the_process_used_is_observed_and_changes_no_decision(simulation: Simulation) -> None:
    used = ProcessUse(cpu_s=1.5, peak_bytes=7)
    state, log = replace(simulation, meter=lambda: used).run()
    closed = [e.payload for e in log.events if isinstance(e.payload, GenerationCompleted)]
    assert [payload.used for payload in closed] == [used] * state.completed
    assert [payload.state_digest for payload in closed] == [
        e.payload.state_digest
        for e in simulation.run()[1].events
        if isinstance(e.payload, GenerationCompleted)
    ]
    simulation.made_again(log)
    assert b"used" not in encode_payload(closed[0].model_copy(update={"used": None}))
