"""Forward passes of a causal language model over a prompt and the token tree below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from transformers import DynamicCache

from dga2d.agents.policy.token_tree import ROOT, ActionTrie, TokenTree

FEW_ROWS = 8
"""Up to so many tokens at a time a linear layer costs what it takes to read its weights once."""
RowSource = Callable[[torch.Tensor], torch.Tensor]
"""Vocabulary indices `(n,)` → rows `(n, width)`."""


class Network:
    """A decoder-only model in evaluation mode, seen as hidden states plus a linear head."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.decoder: nn.Module = model.base_model
        self.embedding: nn.Parameter = model.get_input_embeddings().weight
        head = model.get_output_embeddings()
        self.head: nn.Parameter = head.weight
        self.head_bias: torch.Tensor | None = getattr(head, "bias", None)
        self.device = self.embedding.device

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Return rows `(n, width)` of the input embedding for the tokens `ids`, int64 `(n,)`."""
        return nn.functional.embedding(ids, self.embedding)

    def head_rows(self, ids: torch.Tensor) -> torch.Tensor:
        """Return rows `(n, width)` of the linear head for the tokens `ids`, int64 `(n,)`."""
        return nn.functional.embedding(ids, self.head)

    def hidden_states(self, prompt: Sequence[int], tree: TokenTree, embed: RowSource) -> torch.Tensor:
        """Return the last hidden states `(1 + len(tree), width)` of the prompt's end and of every node.

        One pass over prompt and tree packed into a single sequence, differentiable throughout.
        """
        length = len(prompt)
        inputs = embed(self.ids([*prompt, *tree.tokens]))
        visible = torch.ones((length + len(tree), length + len(tree)), dtype=torch.bool).tril_()
        visible[length:] = torch.from_numpy(tree.visible(0))
        positions = torch.cat([torch.arange(length), torch.from_numpy(tree.positions(0))])
        states = self._decode(inputs, positions, visible, None)
        return states[length - 1 :]

    def logits(self, hidden: torch.Tensor, ids: torch.Tensor, head_rows: RowSource) -> torch.Tensor:
        """Return float64 logits `(n, len(ids))` of the tokens `ids` after states `hidden` `(n, width)`."""
        found = hidden.float() @ head_rows(ids).float().T
        if self.head_bias is not None:
            found = found + self.head_bias[ids].float()
        return found.double()

    def ids(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return tokens as int64 `(n,)` on the model's device."""
        return torch.tensor(tokens, dtype=torch.int64, device=self.device)

    def _decode(
        self,
        inputs: torch.Tensor,
        positions: torch.Tensor,
        visible: torch.Tensor | None,
        cache: DynamicCache | None,
    ) -> torch.Tensor:
        mask = None
        if visible is not None:
            mask = torch.zeros(visible.shape, dtype=inputs.dtype)
            mask = mask.masked_fill_(~visible, torch.finfo(inputs.dtype).min)[None, None].to(self.device)
        output = self.decoder(
            inputs_embeds=inputs[None],
            position_ids=positions[None].to(self.device),
            attention_mask=mask,
            past_key_values=cache,
            use_cache=cache is not None,
        )
        states: torch.Tensor = output.last_hidden_state[0]
        return states


class FewRowsLinear(TorchFunctionMode):
    """Computes linear layers of a few rows as W·xᵀ.

    torch multiplies x·Wᵀ with a kernel that packs the weights first; on a processor that takes two to three
    times as long as reading them, which is all that the product with a few rows has to do.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is nn.functional.linear and not kwargs:
            inputs, weight, *bias = args
            rows = inputs.numel() // inputs.shape[-1]
            if 1 < rows <= FEW_ROWS and inputs.device.type == "cpu":
                found = (weight @ inputs.reshape(rows, -1).T).T.reshape(*inputs.shape[:-1], -1)
                return found + bias[0] if bias and bias[0] is not None else found
        return func(*args, **(kwargs or {}))


class CachedStates:
    """Hidden states of a growing tree; the prompt is read once and shared by all nodes."""

    @torch.no_grad()
    def __init__(self, network: Network, prompt: Sequence[int]) -> None:
        self._network = network
        self._cache = DynamicCache(config=network.model.config)
        self.tree = TokenTree(len(prompt))
        inputs = network.embed(network.ids(prompt))
        states = network._decode(inputs, torch.arange(len(prompt)), None, self._cache)
        self.hidden = states[-1:]
        """`(1 + nodes read, width)`: row 0 is the prompt's end, row 1 + r is node r."""

    @torch.no_grad()
    def read(self) -> None:
        """Read the nodes added to the tree since the last call."""
        start = len(self.hidden) - 1
        if start == len(self.tree):
            return
        inputs = self._network.embed(self._network.ids(self.tree.tokens[start:]))
        visible = torch.from_numpy(self.tree.visible(start))
        positions = torch.from_numpy(self.tree.positions(start))
        with FewRowsLinear():
            states = self._network._decode(inputs, positions, visible, self._cache)
        self.hidden = torch.cat([self.hidden, states])


def action_log_probabilities(
    network: Network,
    hidden: torch.Tensor,
    tries: Sequence[ActionTrie],
    temperature: float,
    head_rows: RowSource,
    priors: Sequence[Sequence[float]],
) -> list[torch.Tensor]:
    """Return float64 ``log π(O | h)`` over the feasible actions of each trie, differentiable.

    `hidden` is `(1 + nodes, width)`, row 0 the prompt's end. The probability of an operator is the product
    over its alias of token probabilities under softmax(logits / τ), masked to the trie (Appendix D.1), times
    its prior, given by its logarithm in `priors` where there is one.
    """
    branches = [branch for trie in tries for branch in trie.branches]
    if not branches:
        return [hidden.new_zeros(len(trie.actions), dtype=torch.float64) for trie in tries]
    vocabulary = sorted({token for branch in branches for token in branch.tokens})
    column = {token: c for c, token in enumerate(vocabulary)}
    rows = network.ids([branch.node - ROOT for branch in branches])
    logits = network.logits(hidden[rows], network.ids(vocabulary), head_rows) / temperature
    allowed = torch.zeros(logits.shape, dtype=torch.bool)
    for r, branch in enumerate(branches):
        allowed[r, [column[token] for token in branch.tokens]] = True
    table = logits.masked_fill(~allowed.to(logits.device), -torch.inf).log_softmax(dim=1)
    places, targets, total, first = [], [], 0, 0
    for trie in tries:
        for choices in trie.choices:
            places += [(first + b) * len(vocabulary) + column[token] for b, token in choices]
            targets += [total] * len(choices)
            total += 1
        first += len(trie.branches)
    terms = table.flatten()[network.ids(places)]
    flat = terms.new_zeros(total).index_add(0, network.ids(targets), terms)
    found = torch.split(flat, [len(trie.actions) for trie in tries])
    return [
        (values + values.new_tensor(prior)).log_softmax(dim=0) if prior else values
        for values, prior in zip(found, priors, strict=True)
    ]


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use `count` threads (0: as many as it does) and restore its setting afterwards.

    The number is set in any case: until then MKL takes fewer threads where the machine is busy, which changes
    the order of its sums and with it the last bits of parameters.
    """
    former = torch.get_num_threads()
    torch.set_num_threads(count or former)
    try:
        yield
    finally:
        torch.set_num_threads(former)
