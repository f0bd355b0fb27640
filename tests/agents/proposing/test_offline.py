from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.agents.proposing.answers import NO_VARIATION, normalised_ast_digest, parse_implementation
from dga2d.agents.proposing.composition import Habits, iterate
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import addable_edges, parse_edges, parse_graph
from dga2d.agents.proposing.graphs import default_graph
from dga2d.agents.proposing.models import CompletionRequest, LanguageModel
from dga2d.agents.proposing.offline import OfflineModel, offline_answer
from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import (
    ConnectTask,
    EdgeCredit,
    HBounds,
    ImplementTask,
    InitializeTask,
    OperatorContract,
    PoolEntry,
    Task,
)
from dga2d.agents.proposing.variation import constant_ways, library_ways, rewrite
from dga2d.domains.core.contract import Card, Implementation, OperatorName
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.graph import OperatorGraph

CARD = Card("Ordering", "o", "e", "d", {"n": "int"}, "c")
KINDS = [
    ("initialisation", "none", "complete"),
    ("local_search", "complete", "complete"),
    ("perturbation", "complete", "complete"),
    ("intensification", "complete", "complete"),
    ("recombination", "complete", "complete"),
    ("local_search", "partial", "complete"),
    ("construction", "partial", "partial"),
]


@st.composite
def libraries(draw: st.DrawFn) -> tuple[OperatorContract, ...]:
    """1 to 16 operators, the first of which builds a complete solution."""
    drawn = draw(st.lists(st.sampled_from([*KINDS, ("initialisation", "none", "partial")]), max_size=15))
    kinds: list[Any] = [KINDS[0], *drawn]
    return tuple(OperatorContract(OperatorId(f"op_{i:02}"), "t", "s", *kind) for i, kind in enumerate(kinds))


@st.composite
def initialize_tasks(draw: st.DrawFn) -> InitializeTask:
    library = draw(libraries())
    improvers = [op.id for op in library if op.requires == op.provides == "complete"]
    tail = draw(st.lists(st.sampled_from(improvers), max_size=3, unique=True)) if improvers else []
    limit = draw(st.integers(1 + len(tail), 20))
    baseline = (OperatorId("op_00"), *tail) if draw(st.booleans()) else ()
    return InitializeTask(CARD, library, HBounds(limit), baseline, draw(st.integers(1 + len(tail), 9)))


@given(initialize_tasks(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_an_offline_graph_is_always_valid_and_keeps_the_baseline(task: InitializeTask, seed: int) -> None:
    proposal = parse_graph(offline_answer(task, np.random.default_rng(seed)), task)
    assert set(task.baseline) <= set(proposal.operators)
    chain = ("START", *task.baseline, "END")
    if task.baseline:
        assert set(pairwise(chain)) <= set(proposal.edges)


@given(initialize_tasks())
def test_the_default_graph_is_compatible_limited_and_has_a_route(task: InitializeTask) -> None:
    limit = task.bounds.operator_limit_max
    graph = default_graph(task.operators, limit, task.baseline)
    assert len(graph.operators) <= limit
    assert set(task.baseline) <= set(graph.operators)
    if task.baseline:
        assert graph.has_route(task.max_length)
    assert all(source != target for source, target in graph.edges)


def connect_task(task: InitializeTask, seed: int, mode: Any) -> ConnectTask:
    proposal = parse_graph(offline_answer(task, np.random.default_rng(seed)), task)
    rng = np.random.default_rng(seed)
    credits = tuple(EdgeCredit(edge, float(rng.normal())) for edge in proposal.edges)
    inner = [entry for entry in credits if entry.edge[1] != "END"]
    worst = min(inner, key=lambda entry: entry.credit)
    chosen = tuple(op for op in task.operators if op.id in proposal.operators)
    return ConnectTask(CARD, chosen, credits, worst.edge, mode, task.max_length)


@given(initialize_tasks(), st.integers(0, 2**32), st.sampled_from(["replace", "delta"]))
@settings(max_examples=40)
def test_an_offline_edge_edit_is_valid_wherever_one_exists(
    first: InitializeTask, seed: int, mode: str
) -> None:
    task = connect_task(first, seed, mode)
    text = offline_answer(task, np.random.default_rng(seed))
    if mode == "replace" and not addable_edges(task):
        with pytest.raises(ProposalError) as refusal:
            parse_edges(text, task, task.graph)
        assert refusal.value.stage == "no_variation"
    else:
        removed, added = parse_edges(text, task, task.graph)
        assert task.graph.edit(removed, added).has_route(task.max_length)


def test_later_attempts_at_an_edge_are_all_different_until_none_is_left(
    operators: tuple[OperatorContract, ...],
) -> None:
    first = InitializeTask(CARD, operators, HBounds(7), (OperatorId("build"), OperatorId("tabu")), 6)
    task = connect_task(first, 5, "replace")
    possible = addable_edges(task)
    answers = [
        offline_answer(replace(task, attempt=attempt), np.random.default_rng(3))
        for attempt in range(len(possible) + 1)
    ]
    added = {parse_edges(text, task, task.graph)[1][0] for text in answers[:-1]}
    assert added == set(possible)
    assert answers[-1].startswith("NO_VARIATION:")


def test_edges_that_make_algorithmic_sense_are_proposed_more_often(
    operators: tuple[OperatorContract, ...],
) -> None:
    chosen = tuple(op for op in operators if op.id in ("build", "descend", "tabu", "shake"))
    edges = [("START", "build"), ("build", "tabu"), ("tabu", "END"), ("tabu", "descend"), ("descend", "END")]
    credits = tuple(EdgeCredit((OperatorId(s), OperatorId(t)), 0.0) for s, t in edges)
    remove = (OperatorId("tabu"), OperatorId("descend"))
    task = ConnectTask(CARD, chosen, credits, remove, "replace", 6)
    counts: dict[Any, int] = {}
    for seed in range(200):
        (edge,) = parse_edges(offline_answer(task, np.random.default_rng(seed)), task, task.graph)[1]
        counts[edge] = counts.get(edge, 0) + 1
    assert counts[("build", "descend")] > 2 * counts.get(("build", "END"), 0)


@pytest.fixture
def task(operators: tuple[OperatorContract, ...], parent_source: str, donor_source: str) -> ImplementTask:
    parent = PoolEntry(ImplementationId("tabu.1"), parent_source, 0.4)
    mate = PoolEntry(
        ImplementationId("tabu.2"), parent_source.replace("PATIENCE = 1_000", "PATIENCE = 40"), -0.3
    )
    other = Implementation(OperatorName("shake"), donor_source, "library:shake.py")
    return ImplementTask(CARD, operators[4], "add", (parent, mate), parent, others=(other,))


def implementations(task: ImplementTask, seed: int, count: int) -> list[str]:
    return [
        parse_implementation(
            offline_answer(replace(task, attempt=attempt), np.random.default_rng(seed)), task
        )
        for attempt in range(count)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_offline_implementations_are_valid_and_all_different(task: ImplementTask, seed: int) -> None:
    sources = implementations(task, seed, 6)
    digests = {normalised_ast_digest(source) for source in (*sources, *(e.source for e in task.pool))}
    assert len(digests) == 8


def test_all_kinds_of_variation_occur(task: ImplementTask) -> None:
    sources = [source for seed in range(8) for source in implementations(task, seed, 5)]
    assert any("Several exchanges." in source for source in sources)
    assert any("Exchange of two" in source and "ROUNDS = 3 " not in source for source in sources)
    parents = task.parent.source
    away = [t.value for s in sources for t in find_tunables(s) if t.name == "PATIENCE"]
    assert any(isinstance(value, int) and value > 1000 for value in away)
    assert all(source.split("def run", 1)[1] == parents.split("def run", 1)[1] for source in sources)


def without_constants(source: str) -> str:
    return rewrite(source, {t.name: int(t.low) for t in find_tunables(source) if t.kind == "int"})


def test_where_races_set_constants_every_proposal_changes_structure(task: ImplementTask) -> None:
    task = replace(task, structure_only=True, perturbations=task.others, intensifiers=task.others)
    sources = [source for seed in range(4) for source in implementations(task, seed, 2)]
    assert without_constants(task.parent.source) not in map(without_constants, sources)
    assert any("improve_once" in source for source in sources)
    assert any("Several exchanges." in source and "improve_once" not in source for source in sources)


def test_nothing_is_proposed_that_would_be_refused_as_a_near_copy(task: ImplementTask) -> None:
    task = replace(task, structure_only=True, near_copy_lines=3, perturbations=task.others)
    text = iterate([task.parent.source], task.others[0].source, Habits(3, 10))
    assert text is not None
    task = replace(task, pool=(*task.pool, PoolEntry(ImplementationId("tabu.3"), text, 0.0)))
    answers = [offline_answer(task, np.random.default_rng(seed)) for seed in range(5)]
    found = [answer for answer in answers if not answer.startswith(NO_VARIATION)]
    assert found
    for answer in found:  # refuses what differs from a member in constants alone
        parse_implementation(answer, task)


def test_random_variation_changes_constants_and_nothing_else(task: ImplementTask) -> None:
    task = replace(task, perturbations=task.others)
    for seed in range(4):
        text = offline_answer(task, np.random.default_rng(seed), constant_ways)
        source = parse_implementation(text, task)
        assert source.split("def kick", 1)[1] == task.parent.source.split("def kick", 1)[1]


PLAIN = "def run(env_data, state, calc_makespan_fn):\n    return state\n"


def test_a_parent_without_anything_to_vary_gives_way_to_the_rest_of_the_pool(
    task: ImplementTask, parent_source: str
) -> None:
    plain = PoolEntry(ImplementationId("tabu.3"), PLAIN, 0.9)
    changed = replace(task, parent=plain, pool=(plain, *task.pool))
    (source,) = implementations(changed, 1, 1)
    assert source.startswith(parent_source[:60])


def test_nothing_to_vary_is_said_and_not_hidden(task: ImplementTask) -> None:
    plain = PoolEntry(ImplementationId("tabu.3"), PLAIN, 0.9)
    stuck = replace(task, parent=plain, pool=(plain,))
    with pytest.raises(ProposalError) as refusal:
        parse_implementation(offline_answer(stuck, np.random.default_rng(0)), stuck)
    assert refusal.value.stage == "no_variation"


def test_a_small_range_is_used_up_and_then_refused(task: ImplementTask) -> None:
    source = "A = 1  # tunable: int 1..3\n\n\n" + PLAIN.replace("return state", "return (state, A)[0]")
    entry = PoolEntry(ImplementationId("tabu.4"), source, 0.0)
    small = replace(task, parent=entry, pool=(entry,), others=())
    texts = [offline_answer(replace(small, attempt=a), np.random.default_rng(0)) for a in range(3)]
    assert len({parse_implementation(text, small) for text in texts[:2]}) == 2
    assert texts[2].startswith("NO_VARIATION:")


@pytest.mark.parametrize("kind", ["initialize", "implement", "connect"])
async def test_the_model_gives_the_same_answer_to_the_same_seed(
    operators: tuple[OperatorContract, ...], task: ImplementTask, kind: str
) -> None:
    first = InitializeTask(CARD, operators, HBounds(6), (OperatorId("build"), OperatorId("tabu")), 6)
    tasks: dict[str, Task] = {
        "initialize": first,
        "implement": task,
        "connect": connect_task(first, 1, "replace"),
    }
    model: LanguageModel = OfflineModel()
    prompt = render(tasks[kind])
    request = CompletionRequest(prompt, tasks[kind], (7, 6, 3, 0))
    one, again = await model.complete(request), await OfflineModel().complete(request)
    assert one == again
    others = {(await model.complete(replace(request, seed=(7, 6, t, 0)))).text for t in range(8)}
    assert len(others) > 1
    assert (one.is_estimated, one.cost_usd) == (True, 0.0)
    assert one.prompt_tokens == len(prompt.text) // 4
    assert one.completion_tokens == len(one.text) // 4


@pytest.mark.slow
def test_answers_do_not_depend_on_the_order_of_hashes() -> None:
    script = """
import hashlib
import numpy as np
from dataclasses import replace
from dga2d.agents.proposing.tasks import ConnectTask, EdgeCredit, HBounds, InitializeTask, OperatorContract
from dga2d.agents.proposing.graph_answers import parse_graph
from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.answers import NO_VARIATION
from dga2d.agents.proposing.composition import Habits, iterate
from dga2d.agents.proposing.offline import offline_answer
from dga2d.domains.core.contract import Card

card = Card("t", "o", "e", "d", {"b": "int", "a": "int"}, "c")
kinds = [("initialisation", "none"), ("local_search", "complete"), ("perturbation", "complete")]
ops = tuple(OperatorContract(f"op_{i}", "t", "s", *kinds[i % 3], "complete") for i in range(12))
first = InitializeTask(card, ops, HBounds(9), ("op_0", "op_1", "op_4"), 6)
text = offline_answer(first, np.random.default_rng(1))
edges = tuple(EdgeCredit(edge, 0.01 * i) for i, edge in enumerate(parse_graph(text, first).edges))
task = ConnectTask(card, ops, edges, edges[5].edge, "delta", 6)
texts = [text, render(first).text, render(task).text]
texts += [offline_answer(replace(task, attempt=a), np.random.default_rng(2)) for a in range(5)]
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""
    digests = {
        subprocess.run(
            [sys.executable, "-P", "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_the_offline_graph_leaves_room_for_edges_to_evolve(operators: tuple[OperatorContract, ...]) -> None:
    chain = (OperatorId("build"), OperatorId("descend"), OperatorId("tabu"))
    task = InitializeTask(CARD, operators, HBounds(7), chain, 8)
    full = default_graph(operators, 7, chain)
    for seed in range(20):
        answer = offline_answer(task, np.random.default_rng(seed))
        graph: OperatorGraph = parse_graph(answer, task).graph(["build", "sketch"])  # type: ignore[list-item]
        assert 2 * len(graph.operators) <= len(graph.edges) < len(full.edges)
        assert json.loads(answer)["H"] == {"operator_limit": 7, "temperature": 0.7}


def test_code_that_the_library_leaves_out_is_known_to_one_kind_alone(
    operators: tuple[OperatorContract, ...], task: ImplementTask
) -> None:
    better = "def run(env_data, state, calc_makespan_fn):\n    return state.copy()\n"
    contract = replace(operators[4], id=OperatorId("better_tabu"))
    start = replace(operators[0], id=OperatorId("better_start"))
    unused = tuple(
        (of, Implementation(OperatorName(of.id), f'"""{of.id}."""\n\n{better}', "library:"))
        for of in (contract, start)
    )
    richer = replace(task, unused=unused)
    known = [offline_answer(richer, np.random.default_rng(seed), library_ways) for seed in range(20)]
    assert any('"""better_tabu."""' in text for text in known)
    assert not any('"""better_start."""' in text for text in known)  # it does another operator's work
    assert offline_answer(richer, np.random.default_rng(1)) == offline_answer(task, np.random.default_rng(1))
