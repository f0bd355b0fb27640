"""The token tree: who sees whom, where it stands, and the tries of feasible aliases."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.policy.token_tree import ROOT, TokenTree, append_action, grow_trie
from dga2d.events import OperatorId

A, B, C = OperatorId("a"), OperatorId("b"), OperatorId("c")


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=8))
def test_a_node_sees_the_prompt_and_its_own_sequence(sequences: list[list[int]]) -> None:
    tree = TokenTree(3)
    ends = [append_action(tree, ROOT, tuple(s)) for s in sequences]
    mask, positions = tree.visible(0), tree.positions(0)
    assert mask[:, :3].all()
    for sequence, end in zip(sequences, ends, strict=True):
        seen = np.flatnonzero(mask[end, 3:])
        assert [tree.tokens[i] for i in seen] == sequence
        assert list(positions[seen]) == list(range(3, 3 + len(sequence)))
    assert len(tree) == len({tuple(s[: i + 1]) for s in sequences for i in range(len(s))})


def test_growing_in_steps_gives_the_rows_of_the_whole() -> None:
    tree = TokenTree(2)
    append_action(tree, ROOT, (5, 6))
    append_action(tree, ROOT, (5, 7, 8))
    whole = tree.visible(0)
    assert np.array_equal(tree.visible(2), whole[2:])
    assert np.array_equal(tree.positions(2), tree.positions(0)[2:])


def test_tokens_without_alternative_decide_nothing() -> None:
    tree = TokenTree(1)
    trie = grow_trie(tree, ROOT, (A, B), {A: (1, 2), B: (1, 3)})
    assert [(b.node, b.tokens) for b in trie.branches] == [(0, (2, 3))]
    assert trie.choices == (((0, 2),), ((0, 3),))
    assert tree.tokens == [1]


def test_every_token_with_an_alternative_decides() -> None:
    tree = TokenTree(1)
    trie = grow_trie(tree, ROOT, (A, B, C), {A: (1, 2), B: (1, 3), C: (4, 5)})
    assert [(b.node, b.tokens) for b in trie.branches] == [(ROOT, (1, 4)), (0, (2, 3))]
    assert trie.choices == (((0, 1), (1, 2)), ((0, 1), (1, 3)), ((0, 4),))


def test_one_feasible_action_is_certain() -> None:
    trie = grow_trie(TokenTree(1), ROOT, (A,), {A: (1, 2)})
    assert (trie.branches, trie.choices) == ((), ((),))
