"""Low-rank adapters beside the linear layers of a decoder.

References
----------
E. J. Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, ICLR 2022: W x + (α/r) B A x with
B = 0 at the start; here α = 2r on all attention and feed-forward projections.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from dga2d.agents.policy.network import Network
from dga2d.replay.streams import stream

SCALE = 2.0
_PREFIX = "low_rank_"


def is_adapter(parameter: str) -> bool:
    """Whether a model's parameter of this name belongs to an adapter."""
    return parameter.rpartition(".")[2].startswith(_PREFIX)


class AdaptedLinear(nn.Module):
    """A frozen linear layer plus a trained low-rank term, which is kept in float32."""

    def __init__(self, base: nn.Linear, rank: int, start: torch.Tensor) -> None:
        super().__init__()
        self.base = base
        device = base.weight.device
        self.low_rank_a = nn.Parameter(start.to(device))
        self.low_rank_b = nn.Parameter(torch.zeros((base.out_features, rank), device=device))
        self.is_active = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.base(x)
        if not self.is_active:
            return y
        term = nn.functional.linear(nn.functional.linear(x.float(), self.low_rank_a), self.low_rank_b)
        return y + (SCALE * term).to(y.dtype)


def add_adapters(model: Any, rank: int, seed: int) -> None:
    """Put an adapter on every linear layer of the decoder, in the order of their names.

    A starts from N(0, 1/width), drawn from the run's stream; B starts at zero, so nothing changes yet.
    """
    decoder: nn.Module = model.base_model
    linear = sorted((name, layer) for name, layer in decoder.named_modules() if isinstance(layer, nn.Linear))
    for index, (name, layer) in enumerate(linear):
        draw = stream(seed, "policy", 1, index)
        start = draw.standard_normal((rank, layer.in_features), dtype="float32") / layer.in_features**0.5
        parent, _, attribute = name.rpartition(".")
        adapted = AdaptedLinear(layer, rank, torch.from_numpy(start.astype("float32")))
        setattr(decoder.get_submodule(parent), attribute, adapted)


@contextmanager
def without_adapters(model: Any) -> Iterator[Network]:
    """The network as it was before any update."""
    adapted = [layer for layer in model.modules() if isinstance(layer, AdaptedLinear)]
    for layer in adapted:
        layer.is_active = False
    try:
        yield Network(model)
    finally:
        for layer in adapted:
            layer.is_active = True
