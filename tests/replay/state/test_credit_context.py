"""Credit of zero, first, second and full order: contexts, updates, aggregation, deletion."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.scoring import best_implementations, selection_probabilities, update_credits
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.settings import CreditContext
from dga2d.replay.state.credit import CreditTable, Transition, context_after
from dga2d.replay.state.graph import END, START

ORDERS: tuple[CreditContext, ...] = get_args(CreditContext)
A, B = OperatorId("a"), OperatorId("b")
A1, A2, B1, B2 = (ImplementationId(name) for name in ("a.1", "a.2", "b.1", "b.2"))
POOLS = {A: (A1, A2), B: (B1, B2)}


def learned(order: CreditContext, *experience: tuple[tuple[ImplementationId, ...], float]) -> CreditTable:
    """A table after one generation per walk, at rate 1/2."""
    table = CreditTable(order=order)
    for walk, reward in experience:
        table = table.update(update_credits(table, [walk], [reward], 0.5))
    return table


@pytest.mark.parametrize(
    ("order", "sources"),
    [
        ("zero", ("*", "*", "*")),
        ("first", ("START", "a.1", "b.1")),
        ("second", ("START", "START>a.1", "a.1>b.1")),
        ("full", ("START", "START>a.1", "START>a.1>b.1")),
    ],
)
def test_the_source_holds_as_much_history_as_the_order_says(
    order: CreditContext, sources: tuple[str, ...]
) -> None:
    assert tuple(context_after((A1, B1)[:i], order) for i in range(3)) == sources


@given(st.lists(st.lists(st.sampled_from([A1, A2, B1]), max_size=5), max_size=12))
def test_each_order_refines_the_one_before(histories: list[list[ImplementationId]]) -> None:
    for coarse, fine in pairwise(ORDERS):
        image = {
            (context_after(h, fine), context_after(h, coarse)) for h in histories
        }  # a function from fine contexts to coarse ones
        assert len({finer for finer, _ in image}) == len(image)


def test_only_the_contexts_of_an_order_are_told_apart() -> None:
    """B1 is good after A1 and bad after A2: zero order averages the two, every other order knows."""
    experience = (((A1, B1), 1.0), ((A2, B1), -1.0))
    zero = learned("zero", *experience)
    assert zero.credit(zero.source_after([A1]), B1) == zero.credit(zero.source_after([A2]), B1) == -0.25
    for order in ORDERS[1:]:
        table = learned(order, *experience)
        assert table.credit(table.source_after([A1]), B1) == 0.5
        assert table.credit(table.source_after([A2]), B1) == -0.5
    first, second = learned("first", *experience), learned("second", *experience)
    assert first.credit(first.source_after([B2, A1]), B1) == 0.5
    assert second.credit(second.source_after([B2, A1]), B1) == 0.0


def test_selection_follows_the_context_of_the_table() -> None:
    for order in ORDERS:
        table = learned(order, ((A1, B1), 1.0))
        likely, unlikely = selection_probabilities(table, [A1], (B1, B2), 0.7)
        assert likely > unlikely
        steps = best_implementations((A, B), POOLS, table)
        assert [step.implementation for step in steps] == [A1, B1]


@pytest.mark.parametrize("order", ORDERS)
def test_aggregates_count_transitions_by_their_last_two_implementations(order: CreditContext) -> None:
    table = learned(order, ((A1, B1, A2), 1.0))
    edges = {edge: table.edge_credit(edge, POOLS, 0.0) for edge in ((START, A), (A, B), (B, A), (B, END))}
    assert edges[B, END] == 0.0
    assert edges[A, B] == edges[B, A] == 0.5
    assert table.implementation_credit(B1, 0.0) == 0.5
    assert table.implementation_credit(B2, 0.0) == 0.0
    assert table.edge_credit((A, A), POOLS, 0.0) == (0.5 if order == "zero" else 0.0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_deleted_implementation_takes_every_context_it_is_part_of_with_it(order: CreditContext) -> None:
    table = learned(order, ((A1, B1, B2), 1.0)).without(A1)
    assert table.order == order
    left = set(table.records)
    expected = {
        "zero": {Transition(ImplementationId("*"), B1), Transition(ImplementationId("*"), B2)},
        "first": {Transition(B1, B2)},
        "second": set(),
        "full": set(),
    }
    assert left == expected[order]
