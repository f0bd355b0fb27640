"""UCT with widening, and dominance with dissimilarity, on cases worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.methods.dry_run import program_id
from tests.agents.methods.test_survival import program

from dga2d.agents.methods.mcts_ahd import Memory, add_child, descend, path_to, uct
from dga2d.agents.methods.meoh import dominance_dissimilarity, front, likeness, softmax
from dga2d.events.payloads import TreeNode

if TYPE_CHECKING:
    from dga2d.events import ImplementationId

    Tree = dict[ImplementationId, TreeNode]

A, B, C, D = (program_id(number) for number in (1, 2, 3, 4))


def grow(*children: tuple[ImplementationId, ImplementationId | None, float]) -> Tree:
    tree: Tree = {}
    for new, parent, score in children:
        tree.update(add_child(tree, new, parent, score))
    return tree


def test_an_ancestor_is_worth_its_best_child_even_if_that_is_worse() -> None:
    tree = grow((A, None, -1.0), (B, A, -3.0))
    assert (tree[A].value, tree[A].visits) == (-3.0, 2)
    tree = grow((A, None, -1.0), (B, A, -3.0), (C, B, -2.0), (D, A, -4.0))
    assert {name: (node.value, node.visits) for name, node in tree.items()} == {
        A: (-2.0, 4),  # the better of B, worth C, and D
        B: (-2.0, 2),
        C: (-2.0, 1),
        D: (-4.0, 1),
    }
    assert path_to(tree, C) == [C, B, A]


def test_uct_is_worth_within_the_range_and_exploration_by_visits() -> None:
    tree = grow((A, None, -1.0), (B, None, -3.0), (C, A, -2.0))
    # A: (-2 + 3) / 2 of the range -3 to -1, two visits; three visits of the root
    assert uct(tree, A, 3, 0.1, -3.0, -1.0) == pytest.approx(0.5 + 0.1 * math.sqrt(math.log(4) / 2))
    assert uct(tree, B, 3, 0.1, -3.0, -1.0) == pytest.approx(0.1 * math.sqrt(math.log(4)))
    assert uct(tree, B, 3, 0.0, -3.0, -3.0) == 0.0  # no range


def descended(tree: Tree, cursor: str, weight: float, scores: list[float]) -> Memory:
    programs = {program_id(n): program(n, 0.0) for n in range(1, 30)}
    return descend(tree, cursor, weight, scores, programs)


def test_the_best_child_is_expanded_and_s1_needs_a_path() -> None:
    tree = grow((A, None, -3.0), (B, None, -1.0))
    found = descended(tree, "", 0.0, [-3.0, -1.0])
    assert found.cursor == ""
    assert found.queue == [[B, step] for step in ("e2", "m1", "m1", "m2", "m2")]
    tree = grow((A, None, -3.0), (B, None, -1.0), (C, B, -1.0))
    found = descended(tree, "", 0.0, [-3.0, -1.0, -1.0])
    assert found.queue == [[C, step] for step in ("e2", "m1", "m1", "m2", "m2", "s1")]


def test_a_node_with_few_children_for_its_visits_gets_one_more() -> None:
    # 9 nodes below one child of the root: floor(sqrt(10)) = 3 is more than its 1 child, and than the root's 1
    tree = grow((A, None, -1.0), *((program_id(n), program_id(n - 1), -1.0) for n in range(2, 11)))
    found = descended(tree, "", 0.0, [-1.0])
    assert found == Memory([["", "e1"]], A)
    found = descended(tree, A, 0.0, [-1.0])
    assert found == Memory([[A, "e2"]], B)  # and the descent goes on at B


def test_the_descent_ends_at_depth_ten() -> None:
    tree = grow((A, None, -1.0), *((program_id(n), program_id(n - 1), -1.0) for n in range(2, 13)))
    found = descended(tree, program_id(10), 0.0, [-1.0])
    assert {node for node, _ in found.queue} == {program_id(10)}


ADD, NEST, CALL = "x = a + b", "x = a + b + c", "f(y)"


def test_likeness_is_the_part_of_the_trees_within_one_that_the_other_has() -> None:
    # Module, Assign, Name, Store, BinOp, Name, Load, Add, Name, Load are 10 trees of ADD; NEST has another
    # module and assignment
    assert likeness(ADD, ADD) == 1.0
    assert likeness(ADD, "y = c + d") == 1.0  # names do not count
    assert likeness(ADD, NEST) == pytest.approx(8 / 10)
    assert likeness(NEST, ADD) == pytest.approx(8 / 14)


def test_being_dominated_by_something_alike_is_punished() -> None:
    programs = [program(1, -1.0), program(2, -2.0), program(3, -2.0)]  # efforts are equal
    values = dominance_dissimilarity(programs, [ADD, ADD, CALL])
    # 2 is dominated by 1, all alike; 3 by 1 and by 2, of which it is equal and the younger
    assert values == pytest.approx([0.0, -1.0, -2 * likeness(ADD, CALL)])
    assert likeness(ADD, CALL) < 1.0


def test_of_equal_ones_the_older_dominates_and_stays() -> None:
    programs = [program(1, -1.0), program(2, -1.0)]
    assert dominance_dissimilarity(programs, [ADD, ADD]) == [0.0, -1.0]
    assert front(programs) == [programs[0]]


def test_the_front_holds_what_no_other_dominates() -> None:
    programs = [replace(program(1, -2.0), effort=0.5), program(2, -1.0), program(3, -3.0)]
    assert [p.number for p in front(programs)] == [2, 1]


def test_chances_go_with_the_exponentials_of_the_values() -> None:
    assert softmax([0.0, math.log(3)]) == pytest.approx([0.25, 0.75])
    assert sum(softmax([-1000.0, 0.0])) == pytest.approx(1.0)
