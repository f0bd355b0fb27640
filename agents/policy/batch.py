"""Walks to learn from, as one token tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from dga2d.agents.policy.aliases import Tokens
from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.token_tree import ROOT, ActionTrie, TokenTree, append_action, grow_trie
from dga2d.agents.policy.walks import History, require_feasible
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END


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

    tree: TokenTree
    tries: tuple[ActionTrie, ...]
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
                chosen = walk[length] if length < len(walk) else END
                taken.append((places[history], feasible.index(chosen)))
            decisions.append(tuple(taken))
        return cls(tree, tuple(tries), tuple(decisions))

    def scored_tokens(self) -> list[int]:
        """Tokens whose logits decide something, with repetitions."""
        return [token for trie in self.tries for branch in trie.branches for token in branch.tokens]

    def walk_log_probabilities(self, tables: Sequence[torch.Tensor]) -> torch.Tensor:
        """Float64 `(walks,)` from the log-probabilities of the actions of every trie."""
        return torch.stack([torch.stack([tables[t][a] for t, a in taken]).sum() for taken in self.decisions])

    def mean_over_decisions(self, values: Sequence[torch.Tensor]) -> float:
        """Mean over all steps of all walks of a scalar per trie."""
        met = [float(values[t]) for taken in self.decisions for t, _ in taken]
        return sum(met) / len(met)
