"""A valid run of any length without problem, policy or model: made-up events, right digests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dga2d.events import BlobDigest, Draft, ImplementationId, InstanceKey, OperatorId, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.run_state import RunState

OPERATORS = tuple(OperatorId(name) for name in ("build", "climb", "kick", "mend"))
SOURCE = b"def run(env_data, state, calc_makespan_fn):\n    return state\n"
WALK = (0, 1, 2, 1)
"""Operators of every pipeline."""


def started(settings: RunSettings) -> Draft:
    """The first event."""
    entries = tuple(p.InstanceEntry(key=InstanceKey(f"g/i{n}"), reference=100.0) for n in range(200))
    digest = blob_digest(SOURCE)
    library = tuple(
        p.LibraryOperator(
            id=name,
            category="made up",
            requires="none" if name == "build" else "complete",
            provides="complete",
            tier="basic",
            implementations=(p.LibraryImplementation(id=ImplementationId(f"{name}.0"), source=digest),),
        )
        for name in OPERATORS
    )
    return Draft(
        "conductor",
        p.RunStarted(
            domain="synthetic",
            sense="min",
            seed=0,
            settings=settings.model_dump(),
            code_version="benchmark",
            library=library,
            baseline=(_step(0),),
            splits=p.SplitManifest(train=entries, validation=entries[:1], test=entries[:1], digest="d"),
            batch=tuple(entry.key for entry in entries[: settings.batch_size]),
            policy="uniform",
            llm="none",
            sandbox={},
            data_dir=None,
        ),
    )


def graph() -> Draft:
    """The second event: every operator leads to every other."""
    inner = [o for o in OPERATORS if o != "build"]
    edges = [
        (START, OPERATORS[0]),
        *((a, b) for a in OPERATORS for b in inner),
        *((o, END) for o in OPERATORS),
    ]
    payload = p.GraphInitialized(
        origin="library",
        operator_limit=15,
        temperature=0.7,
        clamped=(),
        operators=tuple(sorted(OPERATORS)),
        edges=tuple(sorted(edges)),
        pools={o: (ImplementationId(f"{o}.0"),) for o in OPERATORS},
        call=None,
    )
    return Draft("initializer", payload, caused_by=1)


def generation(state: RunState) -> list[Draft]:
    """The events of the next generation but the one that closes it, which needs the state after them."""
    number, seq = state.completed + 1, state.seq
    assert state.graph is not None
    first = Draft(
        "conductor",
        p.GenerationStarted(
            generation=number,
            graph_digest=graph_digest(state.graph),
            pools_digest=pools_digest(state.pools),
        ),
        number,
        seq,
    )
    return [first, *(replace(d, generation=number, caused_by=seq + 1) for d in _body(state, number))]


def closing(state: RunState) -> Draft:
    """The event that closes the open generation."""
    digest = state_digest(state)
    payload = p.GenerationCompleted(generation=state.completed + 1, state_digest=digest)
    return Draft("conductor", payload, state.completed + 1, state.seq)


def _body(state: RunState, number: int) -> Iterator[Draft]:
    n = state.settings.pipelines
    for j in range(n):
        yield Draft("pipeline_sampler", _sampled(state, number, j))
    for j in range(n):
        for key in state.header.batch:
            yield Draft("evaluator_pool", evaluation(number, j, key))
    for j in range(n):
        score = -0.1 - 0.001 * j
        gaps = tuple(0.1 for _ in state.header.batch)
        yield Draft(
            "credit_keeper", p.CandidateScored(generation=number, candidate=j, score=score, gaps=gaps)
        )
    rewards = tuple(0.125 for _ in range(n))
    scored = p.GenerationScored(generation=number, mean=-0.1, deviation=0.01, rewards=rewards)
    yield Draft("credit_keeper", scored)
    yield Draft("credit_keeper", _credits(number))
    yield Draft("pipeline_sampler", _policy_updated(number))
    yield Draft("implementation_evolver", p.ImplementationsKept(generation=number, slot=0, reason="made up"))
    yield Draft("edge_evolver", p.EdgesKept(generation=number, slot=0, reason="made up"))


def _step(operator: int) -> p.Step:
    name = OPERATORS[operator]
    return p.Step(operator=name, implementation=ImplementationId(f"{name}.0"))


def _sampled(state: RunState, number: int, candidate: int) -> p.PipelineSampled:
    assert state.graph is not None
    walk = tuple(OPERATORS[i] for i in WALK)
    decisions = []
    for i, chosen in enumerate((*walk, END)):
        actions = state.graph.feasible_actions(walk[:i], state.settings.max_length)
        even = tuple(1 / len(actions) for _ in actions)
        decisions.append(p.PolicyStep(actions=actions, probabilities=even, chosen=chosen))
    return p.PipelineSampled(
        generation=number,
        candidate=candidate,
        steps=tuple(_step(i) for i in WALK),
        policy_steps=tuple(decisions),
        policy_updates=number - 1,
    )


def evaluation(number: int, candidate: int, key: InstanceKey) -> p.EvaluationRecorded:
    """The most frequent event of every run, some 600 bytes."""
    trace = tuple(
        p.PositionTrace(
            score_before=None if i == 0 else 1234.5678 - i,
            score_after=1233.5678 - i + 1e-9 * number,
            elapsed_s=0.0123456789 * (i + 1),
            work=1000 * (i + 1),
        )
        for i in range(len(WALK))
    )
    return p.EvaluationRecorded(
        split="train",
        generation=number,
        candidate=candidate,
        instance=key,
        objective=1230.5678 + 1e-9 * number,
        failure=None,
        diagnostic="",
        elapsed_s=0.123456789,
        work=10000,
        trace=trace,
        solution=BlobDigest(f"{number:032x}{candidate:032x}"),
    )


def _credits(number: int) -> p.CreditsUpdated:
    names = [START, *(f"{OPERATORS[i]}.0" for i in WALK)]
    pairs = sorted({(names[i], names[i + 1]) for i in range(len(WALK))})
    return p.CreditsUpdated(
        generation=number,
        transitions=tuple(
            p.TransitionCredit(
                source=ImplementationId(a),
                target=ImplementationId(b),
                credit=0.001 * number,
                activations=number,
            )
            for a, b in pairs
        ),
    )


def _policy_updated(number: int) -> p.PolicyUpdated:
    return p.PolicyUpdated(
        generation=number,
        loss=0.1,
        gradient_norm=0.2,
        entropy=0.3,
        kl_to_initial=None,
        parameters_digest=f"{number:064x}",
    )
