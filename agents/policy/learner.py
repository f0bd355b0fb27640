"""What an update trains, and how: adapters or all parameters, one AdamW step at a time.

References
----------
DGA2D paper, Appendix D.1 (credit-weighted loss) and the hyperparameters of Appendix E.1 (AdamW, 1e-4,
gradient norm at most 1).

E. J. Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, ICLR 2022: W x + (α/r) B A x with
B = 0 at the start; here α = 2r on all attention and feed-forward projections.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from dga2d.agents.policy.contract import PolicySettings
from dga2d.agents.policy.errors import PolicyDivergedError
from dga2d.agents.policy.network import Network
from dga2d.replay.streams import stream

MOMENTS = ("exp_avg", "exp_avg_sq", "step")


class Learner:
    """Optimiser of a network; embedding and output rows are trained where they are used.

    With `lora_rank` only adapters are trained, which must be in the model already.
    """

    def __init__(self, network: Network, settings: PolicySettings) -> None:
        self._network = network
        self._settings = settings
        self._rows: dict[str, TrainableRows] = {}
        for name, parameter in network.model.named_parameters():
            if settings.lora_rank:
                parameter.requires_grad_(is_adapter(name))
            elif parameter is network.embedding or parameter is network.head:
                self._rows[name] = TrainableRows(parameter)
        self._optimizer = self._new_optimizer()

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Return embedding rows of `ids`, differentiable where they are trained."""
        return self._look_up(self._network.embedding, ids)

    def head_rows(self, ids: torch.Tensor) -> torch.Tensor:
        """Return output rows of `ids`, differentiable where they are trained."""
        return self._look_up(self._network.head, ids)

    def prepare(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Announce the vocabulary of the coming step: tokens read and tokens scored."""
        for rows in self._rows.values():
            if rows.weight is self._network.embedding:
                rows.require(inputs, self._optimizer)
            if rows.weight is self._network.head:
                rows.require(outputs, self._optimizer)

    def step(self, loss: torch.Tensor) -> float:
        """Differentiate `loss`, clip and step; return the gradient norm before clipping.

        Raises
        ------
        PolicyDivergedError
            Loss or gradient norm is not finite; parameters and moments are as before.
        """
        if not math.isfinite(float(loss.detach())):
            raise PolicyDivergedError("the loss", float(loss.detach()))
        trained = [parameter for _, parameter in self._trained_parameters()]
        if loss.requires_grad:
            torch.autograd.backward(loss)
        norm = float(nn.utils.clip_grad_norm_(trained, self._settings.max_gradient_norm))
        if not math.isfinite(norm):
            self._optimizer.zero_grad()
            raise PolicyDivergedError("the gradient norm", norm)
        self._optimizer.step()
        self._optimizer.zero_grad()
        for rows in self._rows.values():
            rows.commit()
        return norm

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the optimiser's state: moments and step per trained parameter, ids of used rows."""
        found = {f"{name}/ids": torch.tensor(rows.ids) for name, rows in self._rows.items()}
        for name, parameter in self._trained_parameters():
            for key, value in self._optimizer.state.get(parameter, {}).items():
                found[f"{name}/{key}"] = value
        return found

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Continue from :meth:`tensors`, after the network's parameters were restored.

        Raises
        ------
        KeyError
            A parameter has some but not all of its moments, or the ids of used rows are missing.
        """
        for name, rows in self._rows.items():
            rows.restore(tensors[f"{name}/ids"].tolist())
        self._optimizer = self._new_optimizer()
        for name, parameter in self._trained_parameters():
            if f"{name}/step" in tensors:
                self._optimizer.state[parameter] = {
                    key: tensors[f"{name}/{key}"].clone().to(parameter.device) for key in MOMENTS
                }

    def _look_up(self, weight: nn.Parameter, ids: torch.Tensor) -> torch.Tensor:
        for rows in self._rows.values():
            if rows.weight is weight:
                return rows.look_up(ids)
        return nn.functional.embedding(ids, weight)

    def _trained_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        for name, parameter in self._network.model.named_parameters():
            if name in self._rows:
                yield name, self._rows[name].parameter
            elif parameter.requires_grad:
                yield name, parameter

    def _new_optimizer(self) -> torch.optim.AdamW:
        decayed: list[nn.Parameter] = []
        plain: list[nn.Parameter] = []
        for name, parameter in self._trained_parameters():
            (plain if name in self._rows or parameter.ndim < 2 else decayed).append(parameter)
        groups = [
            {"params": decayed, "weight_decay": self._settings.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=self._settings.learning_rate, fused=True)


class TrainableRows:
    """The used rows of `weight` `(vocabulary, width)` as a parameter of their own.

    `weight` is frozen and stays what the model reads; :meth:`commit` writes trained rows back to it.
    """

    def __init__(self, weight: nn.Parameter) -> None:
        self.weight = weight.requires_grad_(False)
        self.ids: list[int] = []
        """Vocabulary indices in order of first use."""
        self._index: dict[int, int] = {}
        self.parameter = nn.Parameter(weight.new_empty((0, weight.shape[1])))

    def require(self, ids: Sequence[int], optimizer: torch.optim.Optimizer) -> None:
        """Make `ids` trainable; new rows join the optimiser with zero moments."""
        fresh = [i for i in dict.fromkeys(ids) if i not in self._index]
        if not fresh:
            return
        former = self.parameter
        self.restore([*self.ids, *fresh])
        _exchange(optimizer, former, self.parameter)

    def restore(self, ids: Sequence[int]) -> None:
        """Make exactly `ids` trainable, as `weight` holds them now; the optimiser must be told."""
        self.ids = list(ids)
        self._index = {v: k for k, v in enumerate(self.ids)}
        self.parameter = nn.Parameter(self.weight[self.ids].clone())

    def look_up(self, ids: torch.Tensor) -> torch.Tensor:
        """Return differentiable rows of the vocabulary indices `ids`, all of them required before."""
        places = [self._index[i] for i in ids.tolist()]
        return nn.functional.embedding(torch.tensor(places, device=self.weight.device), self.parameter)

    @torch.no_grad()
    def commit(self) -> None:
        """Write the trained rows into `weight`."""
        self.weight[self.ids] = self.parameter


def _exchange(optimizer: torch.optim.Optimizer, former: nn.Parameter, current: nn.Parameter) -> None:
    """Put `current`, which continues `former` with more rows, in its place."""
    for group in optimizer.param_groups:
        group["params"] = [current if p is former else p for p in group["params"]]
    state = optimizer.state.pop(former, None)
    if state is None:
        return
    for key in ("exp_avg", "exp_avg_sq"):
        grown = torch.zeros_like(current)
        grown[: former.shape[0]] = state[key]
        state[key] = grown
    optimizer.state[current] = state


SCALE = 2.0
_PREFIX = "low_rank_"


def is_adapter(parameter: str) -> bool:
    """Return whether a model's parameter of this name belongs to an adapter."""
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
    """Open the network as it was before any update."""
    adapted = [layer for layer in model.modules() if isinstance(layer, AdaptedLinear)]
    for layer in adapted:
        layer.is_active = False
    try:
        yield Network(model)
    finally:
        for layer in adapted:
            layer.is_active = True
