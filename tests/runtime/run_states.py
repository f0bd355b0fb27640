"""States of runs at various points, and events, for tests of what shows them."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from dga2d.events import (
    GENESIS_HASH,
    Draft,
    ImplementationId,
    InstanceKey,
    OperatorId,
    RecordedEvent,
    RunId,
    blob_digest,
    encode_payload,
)
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.ledger import Call, Ledger
from dga2d.replay.state.outcomes import Outcome, Outcomes
from dga2d.replay.state.run_state import GenerationSummary, RunState, ScoredProgram

STEPS = (p.Step(operator=OperatorId("nearest"), implementation=ImplementationId("nearest.1")),)
HOSTILE = "[red]x[/red] \x1b[2J\x1b]0;owned\x07 \r\n \u202e [link=http://e.example]y[/link]"


def header(domain: str = "tsp") -> p.RunStarted:
    entries = tuple(p.InstanceEntry(key=InstanceKey(f"g/{i}"), reference=1.0) for i in range(2))
    return p.RunStarted(
        domain=domain,
        sense="min",
        seed=7,
        settings={},
        code_version="0",
        library=(),
        baseline=STEPS,
        splits=p.SplitManifest(train=entries, validation=(), test=entries, digest="d"),
        batch=tuple(entry.key for entry in entries),
        policy="uniform",
        llm="offline",
        sandbox={},
        data_dir=None,
    )


def graph() -> OperatorGraph:
    nodes = (OperatorId("nearest"),)
    edges = frozenset({(OperatorId("START"), nodes[0]), (nodes[0], OperatorId("END"))})
    return OperatorGraph(operators=nodes, edges=edges, initialisers=frozenset(nodes))


def closed(number: int, best: float, failures: int = 0) -> GenerationSummary:
    update = p.PolicyUpdated(
        generation=number, loss=0, gradient_norm=0, entropy=0, kl_to_initial=None, parameters_digest=""
    )
    return GenerationSummary(
        number=number,
        candidates=4,
        failures=failures,
        mean=-0.25,
        best=best,
        best_so_far=best,
        validation=None,
        calls=number,
        state_digest="",
        graph=graph(),
        walks=(),
        credits=CreditTable(),
        policy=update,
    )


def call(number: int) -> Call:
    return Call(number, "implement", "implementation_evolver", 1, "s", 1, "m", 5, blob_digest(b""))


BEGUN = RunState(seq=1, status="running", started=header(), settings=RunSettings(generations=10))
RUNNING = replace(
    BEGUN,
    graph=graph(),
    completed=2,
    history=Map({1: closed(1, -0.2), 2: closed(2, -0.1, failures=1)}),
    generation=GenerationState(
        number=3,
        seq=9,
        size=4,
        outcomes=Outcomes.of({(0, InstanceKey("g/0")): Outcome(1.0, None)}),
        pipelines=Map(),
    ),
    best=ScoredProgram(2, 0, -0.0123, STEPS),
    checkpoint=ScoredProgram(2, 0, -0.05, STEPS),
    ledger=Ledger(
        limit=500,
        calls=Map({number: call(number) for number in range(1, 22)}),
        token_limit=2_000_000,
        charged_tokens=1_700_000,
        microusd_limit=5_000_000,
        charged_microusd=120_000,
    ),
)


def evaluation() -> p.EvaluationRecorded:
    """The first training evaluation of a run."""
    return p.EvaluationRecorded(
        split="train",
        generation=1,
        candidate=0,
        instance=InstanceKey("g/0"),
        objective=1.0,
        failure=None,
        diagnostic="",
        elapsed_s=0.0,
        work=0,
        trace=(),
        solution=None,
    )


def event(payload: p.Payload, generation: int | None = None) -> RecordedEvent:
    draft = Draft("conductor", payload, generation)
    return RecordedEvent(
        run_id=RunId("run"),
        seq=1,
        event_id="",
        type=type(payload).__name__,
        version=type(payload).version,
        agent=draft.agent,
        generation=generation,
        caused_by=None,
        recorded_at=0,
        payload_bytes=encode_payload(payload),
        prev_hash=GENESIS_HASH,
        hash=GENESIS_HASH,
    )
