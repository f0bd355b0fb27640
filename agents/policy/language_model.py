"""A causal language model as pipeline policy."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dga2d.agents.policy import checkpoint
from dga2d.agents.policy.aliases import AliasPool, Tokens
from dga2d.agents.policy.contract import (
    DecodedWalk,
    PolicyContext,
    PolicySettings,
    SampledWalk,
    UpdateReport,
)
from dga2d.agents.policy.errors import PolicyContextError, PolicyDivergedError
from dga2d.agents.policy.network import CachedStates, Network, action_log_probabilities, torch_threads
from dga2d.agents.policy.prompt import render_prompt
from dga2d.agents.policy.rows import TrainableRows
from dga2d.agents.policy.token_tree import ROOT, ActionTrie, TokenTree, append_action, grow_trie
from dga2d.agents.policy.walks import (
    ActionDistribution,
    History,
    beam_search,
    require_feasible,
    require_route,
    sample_walks,
)
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END


@dataclass(frozen=True)
class _Prompted:
    """A context in tokens."""

    prompt: tuple[int, ...]
    aliases: Mapping[OperatorId, Tokens]


class _ModelReader:
    """Action distributions read from the model, one batched step per length of history."""

    def __init__(self, network: Network, context: PolicyContext, prompted: _Prompted) -> None:
        self._network = network
        self._context = context
        self._aliases = prompted.aliases
        self._states = CachedStates(network, prompted.prompt)
        self._nodes: dict[History, int] = {(): ROOT}

    def distributions(self, histories: Sequence[History]) -> list[ActionDistribution]:
        tries = [self._trie(history) for history in histories]
        self._states.read()
        with torch.no_grad():
            found = action_log_probabilities(
                self._network,
                self._states.hidden,
                tries,
                self._context.temperature,
                self._network.head_rows,
            )
        return [
            ActionDistribution(trie.actions, tuple(values.exp().tolist()), tuple(values.tolist()))
            for trie, values in zip(tries, found, strict=True)
        ]

    def _trie(self, history: History) -> ActionTrie:
        tree = self._states.tree
        if history not in self._nodes:
            alias = self._aliases[history[-1]]
            self._nodes[history] = append_action(tree, self._nodes[history[:-1]], alias)
        actions = self._context.graph.feasible_actions(history, self._context.max_length)
        return grow_trie(tree, self._nodes[history], actions, self._aliases)


@dataclass(frozen=True)
class _Batch:
    """Walks as one token tree: a trie per distinct history, and the decisions of every walk."""

    tree: TokenTree
    tries: tuple[ActionTrie, ...]
    decisions: tuple[tuple[tuple[int, int], ...], ...]
    """Per walk and step: (index into `tries`, index into its actions)."""


class LanguageModelPolicy:
    """π_θ given by a causal language model, its tokenizer and a pool of aliases.

    The model must be in evaluation mode and free of dropout, so that the update sees the probabilities
    that were sampled from.
    """

    def __init__(
        self, name: str, model: Any, tokenizer: Any, aliases: AliasPool, settings: PolicySettings
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._pool = aliases
        self._settings = settings
        self._network = Network(model)
        self._initial = Network(copy.deepcopy(model)) if settings.track_kl else None
        self._rows = self._trainable_rows()
        self._optimizer = self._new_optimizer()

    @property
    def name(self) -> str:
        return self._name

    @property
    def network(self) -> Network:
        """The model, for diagnosis and tests."""
        return self._network

    def sample(
        self, context: PolicyContext, draws: Sequence[np.random.Generator]
    ) -> tuple[SampledWalk, ...]:
        with torch_threads(self._settings.threads):
            return sample_walks(self._reader(context), draws)

    def decode(self, context: PolicyContext, width: int) -> tuple[DecodedWalk, ...]:
        with torch_threads(self._settings.threads):
            return beam_search(self._reader(context), width)

    def log_probabilities(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]]
    ) -> tuple[float, ...]:
        """log π_θ(P | D_t) of each walk, computed as in the update."""
        prompted = self._prompted(context)
        batch = _batch(context, prompted, walks)
        with torch_threads(self._settings.threads), torch.no_grad():
            tables = self._tables(self._network, context, prompted, batch, trained=False)
        return tuple(float(v) for v in _walk_log_probabilities(batch, tables))

    def update(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]], rewards: Sequence[float]
    ) -> UpdateReport:
        if len(walks) != len(rewards) or not walks:
            raise ValueError(f"expected one reward per walk, got {len(walks)} walks, {len(rewards)} rewards")
        if not all(math.isfinite(reward) for reward in rewards):
            raise ValueError(f"expected finite rewards, got {list(rewards)}")
        prompted = self._prompted(context)
        batch = _batch(context, prompted, walks)
        with torch_threads(self._settings.threads):
            self._require_rows(prompted)
            tables = self._tables(self._network, context, prompted, batch, trained=True)
            loss = -(_walk_log_probabilities(batch, tables) @ self._network.reals(rewards)) / len(walks)
            entropy = _mean_over_decisions(batch, [_entropy(table.detach()) for table in tables])
            divergence = self._divergence(context, prompted, batch, tables)
            norm = self._step(loss)
            return UpdateReport(float(loss.detach()), norm, entropy, self.digest(), divergence)

    def digest(self) -> str:
        return checkpoint.parameters_digest(self._network.model)

    def save(self, directory: Path) -> None:
        checkpoint.save(directory, self._name, self._network.model, self._rows, self._named_trained())

    def load_state(self, directory: Path) -> None:
        raise NotImplementedError
