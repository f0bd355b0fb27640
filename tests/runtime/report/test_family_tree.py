"""Family trees: every descendant under what it was written from, with what became of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dga2d.runtime.report.lineage import FamilyNode, ReportedEdit, family_trees


def edit(seq: int, name: str, parent: str, replaced: str = "", code: str = "x = 1") -> ReportedEdit:
    return ReportedEdit(seq, seq, f"{name} added", seq, "climb", name, replaced, parent, code)


def shape(node: FamilyNode) -> Any:
    return {node.name: [shape(child) for child in node.children]}


def state(
    pools: dict[str, tuple[str, ...]],
    best: str,
    configured: dict[str, str] | None = None,
    replaced: dict[str, str] | None = None,
) -> Any:
    program = SimpleNamespace(steps=(SimpleNamespace(implementation=best),))
    names = {name: operator for operator, pool in pools.items() for name in pool}
    parents = configured or {}
    return SimpleNamespace(
        pools=pools,
        operator_of=names,
        checkpoint=program,
        best=program,
        configured=parents,
        successors=replaced or {},
        unconfigured=lambda name: parents.get(name, name),
    )


def test_descendants_hang_under_their_parents_with_their_fates() -> None:
    edits = [
        edit(1, "a1", "a"),
        edit(2, "b1", "b"),
        edit(3, "a2", "a1", replaced="a1"),
        edit(4, "b2", "b1"),
        edit(5, "b1", "", code=""),  # deleted
    ]
    trees = family_trees(state({"climb": ("a", "a2"), "kick": ("b", "b2")}, "b2"), edits)
    assert [shape(tree) for tree in trees] == [{"b": [{"b1": [{"b2": []}]}]}, {"a": [{"a1": [{"a2": []}]}]}]
    b1 = trees[0].children[0]
    assert (b1.fate, b1.is_best, b1.children[0].fate) == ("deleted in generation 5", True, "in its pool")
    a1 = trees[1].children[0]
    assert (a1.fate, a1.is_best, trees[1].told) == ("replaced in generation 3", False, "from the library")


def test_a_run_without_new_code_has_no_trees() -> None:
    assert family_trees(state({"climb": ("a",)}, "a"), []) == ()


def test_other_constants_are_no_branch_and_no_end_of_a_tree() -> None:
    edits = [edit(1, "a1", "a"), edit(2, "a2", "a1.tuned")]
    configured = {"a1.tuned": "a1", "a2.tuned": "a2"}
    (tree,) = family_trees(state({"climb": ("a", "a1", "a2")}, "a2.tuned", configured), edits)
    assert shape(tree) == {"a": [{"a1": [{"a2": []}]}]}
    assert tree.is_best


def test_a_faster_kernel_begins_a_tree_anew_and_says_so() -> None:
    edits = [edit(1, "a1", "a"), edit(3, "a3", "a1.fast")]
    trees = family_trees(state({"climb": ("a", "a1.fast", "a3")}, "a3", None, {"a1": "a1.fast"}), edits)
    assert [shape(tree) for tree in trees] == [{"a1.fast": [{"a3": []}]}, {"a": [{"a1": []}]}]
    assert trees[0].told == "a1 with a faster kernel"
    assert trees[1].children[0].fate == "became a1.fast by a faster kernel"
