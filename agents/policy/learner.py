"""One AdamW step at a time on the parameters of a policy network.

References
----------
DGA2D paper, Appendix D.1 (credit-weighted loss) and the hyperparameters of Appendix E.1 (AdamW, 1e-4,
gradient norm at most 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import nn

from dga2d.agents.policy.adapters import is_adapter
from dga2d.agents.policy.contract import PolicySettings
from dga2d.agents.policy.errors import PolicyDivergedError
from dga2d.agents.policy.network import Network
from dga2d.agents.policy.rows import TrainableRows

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
        """Embedding rows of `ids`, differentiable where they are trained."""
        return self._look_up(self._network.embedding, ids)

    def head_rows(self, ids: torch.Tensor) -> torch.Tensor:
        """Output rows of `ids`, differentiable where they are trained."""
        return self._look_up(self._network.head, ids)

    def prepare(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Announce the vocabulary of the coming step: tokens read and tokens scored."""
        for rows in self._rows.values():
            if rows.weight is self._network.embedding:
                rows.require(inputs, self._optimizer)
            if rows.weight is self._network.head:
                rows.require(outputs, self._optimizer)

    def step(self, loss: torch.Tensor) -> float:
        """Differentiate `loss`, clip, step; returns the gradient norm before clipping.

        Raises
        ------
        PolicyDivergedError
            Loss or gradient norm is not finite; parameters and moments are as before.
        """
        if not math.isfinite(float(loss.detach())):
            raise PolicyDivergedError("the loss", float(loss.detach()))
        trained = [parameter for _, parameter in self._trained()]
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
        """Optimiser state for a checkpoint: moments and step per trained parameter, ids of used rows."""
        found = {f"{name}/ids": torch.tensor(rows.ids) for name, rows in self._rows.items()}
        for name, parameter in self._trained():
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
        for name, parameter in self._trained():
            if f"{name}/step" in tensors:
                self._optimizer.state[parameter] = {
                    key: tensors[f"{name}/{key}"].clone().to(parameter.device) for key in MOMENTS
                }

    def _look_up(self, weight: nn.Parameter, ids: torch.Tensor) -> torch.Tensor:
        for rows in self._rows.values():
            if rows.weight is weight:
                return rows.look_up(ids)
        return nn.functional.embedding(ids, weight)

    def _trained(self) -> Iterator[tuple[str, nn.Parameter]]:
        for name, parameter in self._network.model.named_parameters():
            if name in self._rows:
                yield name, self._rows[name].parameter
            elif parameter.requires_grad:
                yield name, parameter

    def _new_optimizer(self) -> torch.optim.AdamW:
        decayed: list[nn.Parameter] = []
        plain: list[nn.Parameter] = []
        for name, parameter in self._trained():
            (plain if name in self._rows or parameter.ndim < 2 else decayed).append(parameter)
        groups = [
            {"params": decayed, "weight_decay": self._settings.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=self._settings.learning_rate, fused=True)
