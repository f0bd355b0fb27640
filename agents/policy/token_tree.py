"""The tokens of many walks as one tree below a shared prompt.

A prompt and its tree are fed to the model as one sequence: every node sees the prompt, its own ancestors
and itself, and stands at the position it would have in its own walk. Walks with a common beginning share
its nodes. The same tree serves sampling and beam search (grown step by step, with a key/value cache) and
the update (all at once).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.prompt import Tokens
from dga2d.agents.policy.walks import History, log_prior, require_feasible
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END

ROOT = -1
"""The last token of the prompt, as a node."""


class TokenTree:
    """Nodes 0, 1, …, parents before children; node r is row ``prompt_length + r`` of the sequence."""

    def __init__(self, prompt_length: int) -> None:
        self.prompt_length = prompt_length
        self.tokens: list[int] = []
        self._paths: list[tuple[int, ...]] = []
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, parent: int, token: int) -> int:
        """Return the node of `token` after `parent`, made if it is not there."""
        node = self._children.get((parent, token))
        if node is None:
            node = len(self.tokens)
            self._children[parent, token] = node
            self.tokens.append(token)
            above = self._paths[parent] if parent != ROOT else ()
            self._paths.append((*above, node))
        return node

    def positions(self, start: int) -> NDArray[np.int64]:
        """Return the positions of the nodes from `start` on: prompt length + depth − 1."""
        return np.array([self.prompt_length + len(p) - 1 for p in self._paths[start:]], np.int64)

    def visible(self, start: int) -> NDArray[np.bool_]:
        """Return bool `(len − start, prompt_length + len)`: which rows the nodes from `start` on see."""
        mask = np.zeros((len(self) - start, self.prompt_length + len(self)), np.bool_)
        mask[:, : self.prompt_length] = True
        for row, path in enumerate(self._paths[start:]):
            mask[row, self.prompt_length + np.array(path)] = True
        return mask


@dataclass(frozen=True)
class Branch:
    """A node of an alias trie with more than one continuation: a token-level decision."""

    node: int
    tokens: Tokens
    """Sorted token ids of the continuations."""


@dataclass(frozen=True)
class ActionTrie:
    """The trie of the feasible aliases after one history.

    ``log π(O | h) = Σ log p(token | branch)`` over `choices` of O; nodes with a single continuation are
    certain and do not appear.
    """

    actions: tuple[OperatorId, ...]
    branches: tuple[Branch, ...]
    choices: tuple[tuple[tuple[int, int], ...], ...]
    """Per action: (index into `branches`, token) along its alias."""


def grow_trie(
    tree: TokenTree, node: int, actions: Sequence[OperatorId], aliases: Mapping[OperatorId, Tokens]
) -> ActionTrie:
    """Build the trie of `actions` after `node`; inner trie nodes join the tree, leaves do not."""
    continuations: dict[int, set[int]] = {}
    steps: list[list[tuple[int, int]]] = []
    for action in actions:
        at = node
        path = []
        for depth, token in enumerate(aliases[action]):
            continuations.setdefault(at, set()).add(token)
            path.append((at, token))
            if depth + 1 < len(aliases[action]):
                at = tree.add(at, token)
        steps.append(path)
    branches = tuple(Branch(n, tuple(sorted(ts))) for n, ts in continuations.items() if len(ts) > 1)
    index = {branch.node: i for i, branch in enumerate(branches)}
    choices = tuple(tuple((index[n], t) for n, t in path if n in index) for path in steps)
    return ActionTrie(tuple(actions), branches, choices)


def append_action(tree: TokenTree, node: int, alias: Tokens) -> int:
    """Write `alias` after `node`; return its last node."""
    for token in alias:
        node = tree.add(node, token)
    return node


@dataclass(frozen=True)
class PromptTokens:
    """A context in tokens: the shared prompt and the alias of every operator and of ``END``."""

    prompt: tuple[int, ...]
    aliases: Mapping[OperatorId, Tokens]


@dataclass(frozen=True)
class WalkBatch:
    """A trie per distinct history, and the decisions of every walk.

    Tables handed to its methods hold one tensor per trie.
    """

    prompt: Tokens
    temperature: float
    """τ of the context."""
    tree: TokenTree
    tries: tuple[ActionTrie, ...]
    priors: tuple[tuple[float, ...], ...]
    """Per trie, as `log_prior` gives them."""
    decisions: tuple[tuple[tuple[int, int], ...], ...]
    """Per walk and step (END included): (index into `tries`, index into its actions)."""

    @classmethod
    def of(cls, context: PolicyContext, prompted: PromptTokens, walks: Sequence[History]) -> WalkBatch:
        """Merge `walks`.

        Raises
        ------
        InfeasibleWalkError
            A walk leaves the feasible sets of the context's graph.
        """
        tree = TokenTree(len(prompted.prompt))
        nodes: dict[History, int] = {(): ROOT}
        places: dict[History, int] = {}
        tries: list[ActionTrie] = []
        priors = []
        decisions = []
        for walk in walks:
            taken = []
            for length, feasible in enumerate(require_feasible(context, walk)):
                history = walk[:length]
                if history not in nodes:
                    alias = prompted.aliases[history[-1]]
                    nodes[history] = append_action(tree, nodes[history[:-1]], alias)
                if history not in places:
                    places[history] = len(tries)
                    tries.append(grow_trie(tree, nodes[history], feasible, prompted.aliases))
                    priors.append(log_prior(context, history, feasible))
                chosen = walk[length] if length < len(walk) else END
                taken.append((places[history], feasible.index(chosen)))
            decisions.append(tuple(taken))
        temperature = context.temperature
        return cls(prompted.prompt, temperature, tree, tuple(tries), tuple(priors), tuple(decisions))

    def read_tokens(self) -> list[int]:
        """Return the tokens of the prompt and of the tree, with repetitions."""
        return [*self.prompt, *self.tree.tokens]

    def scored_tokens(self) -> list[int]:
        """Return the tokens whose logits decide something, with repetitions."""
        return [token for trie in self.tries for branch in trie.branches for token in branch.tokens]

    def walk_log_probabilities(self, tables: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return float64 `(walks,)` from the log-probabilities of the actions of every trie."""
        return torch.stack([torch.stack([tables[t][a] for t, a in taken]).sum() for taken in self.decisions])

    def mean_over_decisions(self, values: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the mean over all steps of all walks of a scalar per trie."""
        return torch.stack([values[t] for taken in self.decisions for t, _ in taken]).mean()
