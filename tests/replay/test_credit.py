"""Transition credits and their aggregation against hand-computed cases and a reference of dicts and loops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from dga2d.agents.edge_evolver import removable_edge
from dga2d.agents.pool_edits import PoolEdit, pool_edit
from dga2d.agents.scoring import update_credits
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord, standard_error
from dga2d.replay.state.generation_state import EvolutionBasis
from dga2d.replay.state.graph import END, START, OperatorGraph

EPSILON = 1e-8
RATE = 0.1
OPERATORS = ("a", "b", "c")
IDS = tuple(ImplementationId(f"{o}.{i}") for o in OPERATORS for i in range(3))
POOLS = {OperatorId(o): tuple(c for c in IDS if c.startswith(o)) for o in OPERATORS}

walks = st.lists(st.sampled_from(IDS), min_size=1, max_size=6)
rewards = st.floats(-3, 3)
generations = st.lists(st.lists(st.tuples(walks, rewards), min_size=1, max_size=4), max_size=4)


class Reference:
    """The same in dictionaries and loops, straight from Eqs. 8–14."""

    def __init__(self) -> None:
        self.q: dict[tuple[str, str], float] = {}
        self.n: dict[tuple[str, str], int] = {}

    def learn(self, walk: list[ImplementationId], reward: float) -> None:
        before = "START"
        for c in walk:
            e = (before, str(c))
            self.q[e] = (1 - RATE) * self.q.get(e, 0.0) + RATE * reward
            self.n[e] = self.n.get(e, 0) + 1
            before = str(c)

    def forget(self, c: str) -> None:
        for e in list(self.q):
            if e[0] == c or e[1] == c:
                del self.q[e], self.n[e]

    def mean(self, edges: list[tuple[str, str]]) -> float:
        if not edges:
            return 0.0
        return sum(self.n[e] * self.q[e] for e in edges) / (sum(self.n[e] for e in edges) + EPSILON)

    def of_implementation(self, c: str) -> float:
        return self.mean([e for e in self.q if e[0] == c or e[1] == c])

    def of_operator(self, pool: tuple[str, ...]) -> float:
        return sum(self.of_implementation(c) for c in pool) / len(pool) if pool else 0.0

    def of_edge(self, edge: tuple[str, str]) -> float:
        sources = ["START"] if edge[0] == "START" else [c for c in IDS if c.split(".")[0] == edge[0]]
        targets = [c for c in IDS if c.split(".")[0] == edge[1]]
        return self.mean([e for e in self.q if e[0] in sources and e[1] in targets])


def learned(generations: list[list[tuple[list[ImplementationId], float]]]) -> tuple[CreditTable, Reference]:
    table, reference = CreditTable(), Reference()
    for candidates in generations:
        table = table.update(
            update_credits(table, [w for w, _ in candidates], [r for _, r in candidates], RATE)
        )
        for walk, reward in candidates:
            reference.learn(walk, reward)
    return table, reference


@given(generations)
def test_credits_and_counts_are_those_of_the_reference(
    generations: list[list[tuple[list[ImplementationId], float]]],
) -> None:
    table, reference = learned(generations)
    assert {(t.source, t.target): r.credit for t, r in table.records.items()} == pytest.approx(reference.q)
    assert {(t.source, t.target): r.activations for t, r in table.records.items()} == reference.n


@given(generations)
def test_aggregates_are_those_of_the_reference(
    generations: list[list[tuple[list[ImplementationId], float]]],
) -> None:
    table, reference = learned(generations)
    for c in IDS:
        assert table.implementation_credit(c, EPSILON) == pytest.approx(
            reference.of_implementation(c), abs=1e-12
        )
    for pool in POOLS.values():
        assert table.operator_credit(pool, EPSILON) == pytest.approx(reference.of_operator(pool), abs=1e-12)
    for source in (START, *POOLS):
        for target in POOLS:
            edge = (OperatorId(source), target)
            expected = reference.of_edge((source, target))
            assert table.edge_credit(edge, POOLS, EPSILON) == pytest.approx(expected, abs=1e-12)


@given(generations, st.sampled_from(IDS))
def test_a_deleted_implementation_takes_all_its_transitions_along(
    generations: list[list[tuple[list[ImplementationId], float]]], gone: ImplementationId
) -> None:
    table, reference = learned(generations)
    reference.forget(gone)
    left = table.without(gone)
    assert {(t.source, t.target): r.credit for t, r in left.records.items()} == pytest.approx(reference.q)
    assert left.implementation_credit(gone, EPSILON) == 0.0


@given(generations)
def test_aggregates_do_not_depend_on_the_order_in_which_a_table_was_filled(
    generations: list[list[tuple[list[ImplementationId], float]]],
) -> None:
    table, _ = learned(generations)
    again = CreditTable(Map(dict(reversed(table.ordered))))
    assert [again.implementation_credit(c, EPSILON) for c in IDS] == [
        table.implementation_credit(c, EPSILON) for c in IDS
    ]


def test_a_transition_is_updated_once_for_each_activation_in_a_candidate() -> None:
    a, b = IDS[0], IDS[3]
    records = dict(update_credits(CreditTable(), [[a, b, a, b]], [1.0], 0.1))
    assert records == {
        Transition(ImplementationId(START), a): TransitionRecord(0.1, 1),
        Transition(a, b): TransitionRecord(0.9 * 0.1 + 0.1 * 1.0, 2),
        Transition(b, a): TransitionRecord(0.1, 1),
    }


def test_candidates_update_one_after_the_other() -> None:
    a = IDS[0]
    records = dict(update_credits(CreditTable(), [[a], [a]], [1.0, -1.0], 0.5))
    assert records == {Transition(ImplementationId(START), a): TransitionRecord(0.5 * 0.5 - 0.5, 2)}


def test_an_implementation_may_follow_itself_and_counts_that_transition_once() -> None:
    a = IDS[0]
    table = CreditTable(Map({Transition(a, a): TransitionRecord(0.4, 3)}))
    assert table.implementation_credit(a, EPSILON) == pytest.approx(3 * 0.4 / (3 + EPSILON), rel=1e-15)


def table_of(*records: tuple[str, str, float, int]) -> CreditTable:
    return CreditTable(
        Map(
            {
                Transition(ImplementationId(u), ImplementationId(c)): TransitionRecord(q, n)
                for u, c, q, n in records
            }
        )
    )


def test_credits_are_weighted_by_activations_and_operators_average_their_pool() -> None:
    table = table_of(("START", "a.0", -0.3, 1), ("a.0", "b.0", 0.6, 3), ("b.0", "a.1", 0.2, 1))
    assert table.implementation_credit(ImplementationId("a.0"), 0.0) == pytest.approx((-0.3 + 1.8) / 4)
    assert table.operator_credit(POOLS[OperatorId("a")], 0.0) == pytest.approx((1.5 / 4 + 0.2 + 0.0) / 3)
    assert table.edge_credit((OperatorId("a"), OperatorId("b")), POOLS, 0.0) == pytest.approx(0.6)
    assert table.edge_credit((START, OperatorId("a")), POOLS, 0.0) == pytest.approx(-0.3)


def test_what_was_never_activated_has_credit_zero() -> None:
    table = table_of(("START", "a.0", 1.0, 1))
    assert table.credit(ImplementationId("a.0"), ImplementationId("a.1")) == 0.0
    assert table.implementation_credit(ImplementationId("c.0"), EPSILON) == 0.0
    assert table.operator_credit((), EPSILON) == 0.0
    assert table.edge_credit((OperatorId("b"), OperatorId("c")), {}, EPSILON) == 0.0
    assert table.edge_credit((OperatorId("a"), END), POOLS, EPSILON) == 0.0


def basis(
    table: CreditTable, edges: Iterable[Edge] = (), *, sizes: Mapping[str, int] | None = None
) -> EvolutionBasis:
    n_of = {o: (sizes or {}).get(o, 2) for o in OPERATORS}
    operators = tuple(OperatorId(o) for o in OPERATORS)
    graph = OperatorGraph(operators, frozenset(), frozenset(edges))
    members = {OperatorId(o): tuple(ImplementationId(f"{o}.{i}") for i in range(n)) for o, n in n_of.items()}
    return EvolutionBasis(1, graph, Map(members), table, 100, 1)


LOW_B = (("START", "b.0", -1.0, 1), ("b.0", "b.1", -0.5, 1), ("START", "a.0", 0.5, 1))


@pytest.mark.parametrize(
    ("records", "sizes", "slot", "expected"),
    [
        pytest.param(LOW_B, {"b": 2}, 0, ("add", "b", "b.0"), id="negative credit and room: add"),
        pytest.param(LOW_B, {"b": 3}, 0, ("replace", "b", "b.0"), id="negative credit, pool full: replace"),
        pytest.param(
            LOW_B, {"b": 1}, 0, ("add", "b", "b.0"), id="a single implementation is kept and joined"
        ),
        pytest.param(LOW_B, {"c": 2}, 1, ("delete", "c", "c.0"), id="second slot: credit 0, delete a tie"),
        pytest.param(LOW_B, {"c": 1}, 1, ("keep", "c", "c.0"), id="credit 0, last implementation: keep"),
        pytest.param((), {}, 0, ("delete", "a", "a.0"), id="all equal: the smallest ids"),
        pytest.param((("START", "a.0", 0.3, 1),), {}, 2, ("delete", "a", "a.1"), id="the worst goes, not 0"),
    ],
)
def test_the_edit_of_a_pool_follows_algorithm_2(
    records: tuple[tuple[str, str, float, int], ...],
    sizes: dict[str, int],
    slot: int,
    expected: tuple[str, str, str],
) -> None:
    found = pool_edit(basis(table_of(*records), sizes=sizes), slot, 3, EPSILON)
    assert found is not None
    assert found[:3] == expected


def test_the_standard_error_of_a_credit_follows_from_its_activations() -> None:
    assert standard_error([TransitionRecord(0.4, 1)], 0.1) == pytest.approx(0.1)  # α · 1
    assert standard_error([TransitionRecord(0.0, 10**6)], 0.1) == pytest.approx((0.1 / 1.9) ** 0.5)
    two = standard_error([TransitionRecord(0.4, 1), TransitionRecord(-0.4, 1)], 0.1)
    assert two == pytest.approx(0.1 / 2**0.5)
    assert standard_error([], 0.1) is None


def test_credits_are_inherited_under_another_name() -> None:
    table = table_of(("START", "a.0", -0.1, 1), ("a.0", "b.0", -0.9, 2), ("b.0", "a.0", 0.5, 3))
    renamed = table.replace_implementation(ImplementationId("a.0"), ImplementationId("a.9"))
    assert renamed == table_of(("START", "a.9", -0.1, 1), ("a.9", "b.0", -0.9, 2), ("b.0", "a.9", 0.5, 3))


def test_there_is_no_edit_beyond_the_last_operator() -> None:
    assert pool_edit(basis(CreditTable()), 3, 3, EPSILON) is None


@given(generations, st.integers(0, 2))
def test_the_edit_is_that_of_the_reference(
    generations: list[list[tuple[list[ImplementationId], float]]], slot: int
) -> None:
    table, reference = learned(generations)
    found = pool_edit(basis(table, sizes={"a": 3, "b": 3, "c": 3}), slot, 3, EPSILON)
    assert isinstance(found, PoolEdit)
    credits = {o: reference.of_operator(POOLS[OperatorId(o)]) for o in OPERATORS}
    ranked = sorted(credits.values())
    assert credits[found.operator] == pytest.approx(ranked[slot], abs=1e-12)
    worst = min(reference.of_implementation(c) for c in POOLS[found.operator])
    assert reference.of_implementation(found.worst) == pytest.approx(worst, abs=1e-12)
    if abs(credits[found.operator]) > 1e-12:
        assert found.kind == ("delete" if credits[found.operator] > 0 else "replace")


A, B, C = (OperatorId(o) for o in OPERATORS)


def test_the_lowest_edge_is_found_and_edges_into_end_are_never_removed() -> None:
    table = table_of(("START", "a.0", -0.1, 1), ("a.0", "b.0", -0.9, 1), ("b.0", "c.0", 0.4, 1))
    edges: set[Edge] = {(START, A), (A, B), (B, C), (C, END), (B, END)}
    there = basis(table, edges)
    found = [removable_edge(there, slot, EPSILON) for slot in range(4)]
    assert [edge[0] for edge in found if edge] == [(A, B), (START, A), (B, C)]
    assert [edge[1] for edge in found if edge] == pytest.approx([-0.9, -0.1, 0.4])
    assert found[3] is None


def test_equal_edges_are_told_apart_by_their_names() -> None:
    edges: set[Edge] = {(START, A), (A, B), (A, C), (C, END)}
    assert removable_edge(basis(CreditTable(), edges), 0, EPSILON) == ((START, A), 0.0)
    assert removable_edge(basis(CreditTable(), edges), 1, EPSILON) == ((A, B), 0.0)


def test_credits_stay_within_the_largest_reward() -> None:
    table = CreditTable()
    for _ in range(200):
        table = table.update(update_credits(table, [[IDS[0]]], [math.sqrt(3)], RATE))
    assert 0.99 * math.sqrt(3) < table.credit(ImplementationId(START), IDS[0]) <= math.sqrt(3)
