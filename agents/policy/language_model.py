"""A causal language model as pipeline policy."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dga2d.agents.policy import checkpoint
from dga2d.agents.policy.contract import DecodedWalk, PolicyContext, PolicySettings, SampledWalk, UpdateReport
from dga2d.agents.policy.errors import PolicyCheckpointError, PolicyContextError
from dga2d.agents.policy.learner import Learner, is_adapter, without_adapters
from dga2d.agents.policy.network import CachedStates, Network, action_log_probabilities, torch_threads
from dga2d.agents.policy.prompt import AliasPool, render_prompt
from dga2d.agents.policy.token_tree import ROOT, ActionTrie, PromptTokens, WalkBatch, append_action, grow_trie
from dga2d.agents.policy.walks import (
    ActionDistribution,
    History,
    beam_search,
    log_prior,
    require_route,
    sample_walks,
)
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END


class _ModelReader:
    """Action distributions read from the model, one batched step per length of history."""

    def __init__(self, network: Network, context: PolicyContext, prompted: PromptTokens) -> None:
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
                [log_prior(self._context, h, t.actions) for h, t in zip(histories, tries, strict=True)],
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


class LanguageModelPolicy:
    """π_θ given by a causal language model, its tokenizer and a pool of aliases.

    The model must be free of dropout, so that the update sees the probabilities that were sampled from.
    """

    def __init__(
        self, name: str, model: Any, tokenizer: Any, aliases: AliasPool, settings: PolicySettings
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._pool = aliases
        self._settings = settings
        self._network = Network(model)
        self._initial = _initial_network(model, settings)
        self._learner = Learner(self._network, settings)
        parameters = dict(model.named_parameters())
        self._saved = {n: p for n, p in parameters.items() if not settings.lora_rank or is_adapter(n)}
        """What updates can change: all parameters, or the adapters."""
        self._base = checkpoint.tensor_digests({n: p for n, p in parameters.items() if n not in self._saved})

    @property
    def name(self) -> str:
        return self._name

    @property
    def network(self) -> Network:
        """The model, for diagnosis."""
        return self._network

    def sample(self, context: PolicyContext, draws: Sequence[np.random.Generator]) -> tuple[SampledWalk, ...]:
        with torch_threads(self._settings.threads):
            return sample_walks(_ModelReader(self._network, context, self._tokenize(context)), draws)

    def decode(self, context: PolicyContext, width: int) -> tuple[DecodedWalk, ...]:
        with torch_threads(self._settings.threads):
            return beam_search(_ModelReader(self._network, context, self._tokenize(context)), width)

    @torch.no_grad()
    def log_probabilities(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]]
    ) -> tuple[float, ...]:
        """Return log π_θ(P | D_t) of each walk, read in one pass as in the update.

        Raises
        ------
        InfeasibleWalkError
            A walk leaves the feasible sets of the context's graph.
        """
        batch = WalkBatch.of(context, self._tokenize(context), walks)
        with torch_threads(self._settings.threads):
            tables = _read(self._network, self._network, batch)
        return tuple(batch.walk_log_probabilities(tables).tolist())

    def update(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]], rewards: Sequence[float]
    ) -> UpdateReport:
        if len(walks) != len(rewards) or not walks:
            raise ValueError(f"expected one reward per walk, got {len(walks)} walks, {len(rewards)} rewards")
        if not all(math.isfinite(reward) for reward in rewards):
            raise ValueError(f"expected finite rewards, got {list(rewards)}")
        batch = WalkBatch.of(context, self._tokenize(context), walks)
        with torch_threads(self._settings.threads):
            tables = self._tables(batch)
            credits = torch.tensor(rewards, dtype=torch.float64, device=self._network.device)
            loss = -(batch.walk_log_probabilities(tables) @ credits) / len(walks)
            entropy = batch.mean_over_decisions([-(p.exp() * p).sum() for p in tables])
            if self._settings.entropy_bonus:
                loss = loss - self._settings.entropy_bonus * entropy
            divergence = self._divergence(batch, [table.detach() for table in tables])
            norm = self._learner.step(loss)
            figures = float(loss.detach()), norm, float(entropy.detach())
            return UpdateReport(*figures, self.digest(), divergence)

    def digest(self) -> str:
        return checkpoint.combined_digest(self._base | checkpoint.tensor_digests(self._saved))

    def save(self, directory: Path) -> None:
        """Write all parameters, or the adapters and the digest of their base; see the protocol."""
        checkpoint.save(directory, self._label(), self._saved, self._learner.tensors())

    def load_state(self, directory: Path) -> None:
        optimizer = checkpoint.load(directory, self._label(), self._saved)
        try:
            self._learner.restore(optimizer)
        except KeyError as error:
            raise PolicyCheckpointError(directory, f"optimiser state lacks {error.args[0]}") from error

    def _label(self) -> str:
        return checkpoint.label(self._name, checkpoint.combined_digest(self._base) if self._base else None)

    def _tokenize(self, context: PolicyContext) -> PromptTokens:
        require_route(context)
        prompt = tuple(self._tokenizer.encode(render_prompt(context, self._pool)))
        assigned = self._pool.assign(context.graph.operators)
        aliases = {operator: self._pool.tokens[index] for operator, index in assigned.items()}
        longest = len(prompt) + (context.max_length + 1) * len(aliases[END])
        limit = getattr(self._network.model.config, "max_position_embeddings", longest)
        if longest > limit:
            raise PolicyContextError(f"prompt and walk take {longest} tokens, the policy model holds {limit}")
        return PromptTokens(prompt, aliases)

    def _tables(self, batch: WalkBatch) -> list[torch.Tensor]:
        """Return log-probabilities per distinct history, differentiable in the trained parameters."""
        self._learner.prepare(batch.read_tokens(), batch.scored_tokens())
        self._network.model.train(self._settings.gradient_checkpointing)  # without effect in evaluation mode
        tables = _read(self._network, self._learner, batch)
        self._network.model.eval()
        return tables

    def _divergence(self, batch: WalkBatch, found: Sequence[torch.Tensor]) -> float | None:
        if self._initial is None:
            return None
        with self._initial() as network, torch.no_grad():
            initial = _read(network, network, batch)
        divergences = [(p.exp() * (p - q)).sum() for p, q in zip(found, initial, strict=True)]
        return float(batch.mean_over_decisions(divergences))


def _read(network: Network, rows: Network | Learner, batch: WalkBatch) -> list[torch.Tensor]:
    """Return log-probabilities per distinct history; `rows` gives those of the vocabulary."""
    hidden = network.hidden_states(batch.prompt, batch.tree, rows.embed)
    return action_log_probabilities(
        network, hidden, batch.tries, batch.temperature, rows.head_rows, batch.priors
    )


def _initial_network(
    model: Any, settings: PolicySettings
) -> Callable[[], AbstractContextManager[Network]] | None:
    """Return what opens π_θ0: the model without adapters, or a frozen copy; ``None`` if not tracked."""
    if settings.lora_rank:
        return lambda: without_adapters(model)
    if not settings.track_kl:
        return None
    frozen = Network(copy.deepcopy(model).requires_grad_(False))
    return lambda: nullcontext(frozen)
