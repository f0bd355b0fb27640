"""BPP-DRL: a pointer network that says in which order boxes are handed to the packing rule.

An LSTM reads the boxes, another points at them one by one. The reward is what the domain's own decoder fills
of the container with that order.

References
----------
H. Hu, X. Zhang, X. Yan, L. Wang, Y. Xu, "Solving a New 3D Bin Packing Problem with Deep Reinforcement
Learning Method", arXiv 1708.05930, 2017: section 4.
I. Bello, H. Pham, Q. V. Le, M. Norouzi, S. Bengio, "Neural Combinatorial Optimization with Reinforcement
Learning", arXiv 1611.09940, 2016: the pointer network and its training.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Generator, Tensor, nn

from dga2d.domains.clp3d.decoder import make_decoder
from dga2d.domains.clp3d.reader import BoxType, ContainerData, container_data, operator_environment
from dga2d.domains.core.contract import Decoder, Instance, State
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.method import LearnedMethod, TrainingSettings, stream
from dga2d.runtime.learned.networks import draw

FEATURES: Final = 8
CLIPPING: Final = 10.0
"""Logits lie within ± this (Bello and others, appendix)."""
CONTAINER: Final = (587, 233, 220)
"""Of Bischoff and Ratcliff's problems; those of the training have its shape."""
SHORTEST, LONGEST = (30, 25, 20), (120, 100, 80)
FEWEST_TYPES, MOST_TYPES = 3, 12
VALIDATION_INSTANCES: Final = 32
SAMPLES_AT_ONCE: Final = 32
SAMPLES: Final = 512
MOST_BOXES: Final = 5000


class BppSettings(TrainingSettings):
    """Settings of BPP-DRL; `size` is the number of boxes."""

    heads: int = Field(default=1, ge=1)
    """Without meaning here: the network has no attention with heads."""
    layers: int = Field(default=1, ge=1)
    """Of the encoder."""
    batch: int = Field(default=8, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0.0)
    rollouts: int = Field(default=8, ge=2)
    """Orders sampled of each instance; their mean is the baseline."""


class PointerNetwork(nn.Module):
    """Encoder and decoder LSTM with a pointer."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        width = settings.width
        self.embed = nn.Linear(FEATURES, width)
        self.encoder = nn.LSTM(width, width, settings.layers, batch_first=True)
        self.decoder = nn.LSTMCell(width, width)
        self.first = nn.Parameter(torch.randn(width) / math.sqrt(width))
        self.reference = nn.Linear(width, width)
        self.query = nn.Linear(width, width, bias=False)
        self.pointer = nn.Linear(width, 1, bias=False)

    def forward(self, boxes: Tensor, paths: int, rng: Generator | None) -> tuple[Tensor, Tensor]:
        """Point at all boxes, one after the other, `paths` times for each instance.

        Parameters
        ----------
        boxes
            float `(batch, n, FEATURES)`.
        rng
            Draws the boxes; ``None`` takes the most probable.

        Returns
        -------
        orders
            int64 `(batch, paths, n)`.
        log_probabilities
            float `(batch, paths)`.
        """
        batch, n, _ = boxes.shape
        embedded = self.embed(boxes)
        encoded, (hidden, cell) = self.encoder(embedded)
        keys = self.reference(encoded).repeat_interleave(paths, 0)
        inputs = embedded.repeat_interleave(paths, 0)
        state = hidden[-1].repeat_interleave(paths, 0), cell[-1].repeat_interleave(paths, 0)
        given = self.first.expand(batch * paths, -1)
        rows = torch.arange(batch * paths, device=boxes.device)
        barred = torch.zeros(batch * paths, n, device=boxes.device)
        orders, log_probability = [], torch.zeros(batch * paths, device=boxes.device)
        for _ in range(n):
            state = self.decoder(given, state)
            scores = self.pointer(torch.tanh(keys + self.query(state[0]).unsqueeze(1))).squeeze(-1)
            logs = torch.log_softmax(CLIPPING * torch.tanh(scores) + barred, dim=-1)
            chosen = draw(logs, rng)
            log_probability = log_probability + logs.gather(1, chosen[:, None]).squeeze(1)
            barred = barred.scatter(1, chosen[:, None], -math.inf)
            given = inputs[rows, chosen]
            orders.append(chosen)
        return torch.stack(orders, 1).view(batch, paths, n), log_probability.view(batch, paths)


def box_features(environment: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return what the network sees of each box, float32 `(n, FEATURES)`: its sides by the container's mean
    side, longest first; its volume as a share of all, by their mean; which sides may stand upright; how many
    boxes are like it, as a share."""
    sizes = np.asarray(environment["item_sizes"], dtype=np.float64)
    allowed = np.asarray(environment["orientation_allowed"], dtype=np.float64)
    side = float(np.prod(np.asarray(environment["bin_size"], dtype=np.float64))) ** (1.0 / 3.0)
    volumes = sizes.prod(axis=1)
    rank = np.argsort(-sizes, axis=1, kind="stable")
    # Columns of orientations: the last side of each permutation stands upright.
    upright = np.stack([allowed[:, [3, 5]].max(1), allowed[:, [1, 4]].max(1), allowed[:, [0, 2]].max(1)], 1)
    kinds = np.concatenate([sizes, allowed], axis=1)
    _, kind, counts = np.unique(kinds, axis=0, return_inverse=True, return_counts=True)
    share = counts[kind.reshape(-1)] / len(sizes)
    made = np.concatenate(
        [
            np.take_along_axis(sizes, rank, axis=1) / side,
            (volumes / volumes.mean())[:, None],
            np.take_along_axis(upright, rank, axis=1),
            share[:, None],
        ],
        axis=1,
    )
    return made.astype(np.float32)


def training_container(size: int, rng: np.random.Generator) -> ContainerData:
    """Return an instance: boxes of few types with Bischoff and Ratcliff's sides, in a container of the shape
    of theirs that has just the boxes' volume."""
    n_types = int(rng.integers(FEWEST_TYPES, min(MOST_TYPES, size) + 1)) if size > FEWEST_TYPES else size
    kinds = [_sides(rng) for _ in range(n_types)]
    counts = np.bincount(rng.integers(0, n_types, size - n_types), minlength=n_types) + 1
    volume = sum(int(count) * math.prod(sides) for count, sides in zip(counts, kinds, strict=True))
    stretch = (volume / math.prod(CONTAINER)) ** (1.0 / 3.0)
    container = [max(round(stretch * side), 1) for side in CONTAINER]
    types = [BoxType(sides, _upright(sides), int(count)) for count, sides in zip(counts, kinds, strict=True)]
    return container_data(container, types)


def _sides(rng: np.random.Generator) -> tuple[int, int, int]:
    longest, middle, shortest = sorted(map(int, rng.integers(SHORTEST, np.add(LONGEST, 1))), reverse=True)
    return longest, middle, shortest


def _upright(sides: tuple[int, ...]) -> tuple[int, int, int]:
    """Let a side stand upright that is less than twice the shorter of the others, as in the problems BR."""
    a, b, c = sides
    return int(a < 2 * min(b, c)), int(b < 2 * min(a, c)), int(c < 2 * min(a, b))


def fill_rates(decoder: Decoder, orders: Tensor) -> list[float]:
    """Return the percentage of the container that each order `(paths, n)` fills."""
    return [100.0 - decoder(State(order)) for order in orders.cpu().numpy().astype(np.int32)]


class BppDrl(LearnedMethod[BppSettings]):
    """Implements `LearnedMethod`; see the module."""

    name = "bpp-drl"
    domain = "clp3d"
    settings = BppSettings
    network = PointerNetwork
    default_size = 24
    data = "containers and boxes of 3 to 12 types, after Bischoff and Ratcliff 1995, made anew for every step"
    cost = "100 minus the fill rate in percent; in validation of the most probable order"
    published = "bins of 8, 10 and 12 boxes (Hu and others 2017); how long they train was not looked up"

    def loss(
        self, network: nn.Module, settings: BppSettings, rng: Generator, step: int
    ) -> tuple[Tensor, float]:
        """Return REINFORCE's loss on the volume that is left empty, and its mean."""
        environments = _environments(settings.size, settings.batch, rng.initial_seed())
        boxes = torch.from_numpy(np.stack([box_features(e) for e in environments])).to(rng.device)
        orders, log_probability = network(boxes, settings.rollouts, rng)
        empty = 100.0 - torch.tensor(
            [fill_rates(make_decoder(e), of_one) for e, of_one in zip(environments, orders, strict=True)],
            device=rng.device,
        )
        advantage = empty - empty.mean(dim=1, keepdim=True)
        spread = advantage.std().clamp(min=1e-6)
        return (advantage / spread * log_probability).mean(), float(empty.mean())

    def validate(self, network: nn.Module, settings: BppSettings) -> float:
        seed = stream("cpu", "validation", self.name, settings.size).initial_seed()
        environments = _environments(settings.size, VALIDATION_INSTANCES, seed)
        boxes = torch.from_numpy(np.stack([box_features(e) for e in environments]))
        orders, _ = network(boxes.to(next(network.parameters()).device), 1, None)
        found = [
            fill_rates(make_decoder(e), of_one)[0] for e, of_one in zip(environments, orders, strict=True)
        ]
        return 100.0 - sum(found) / len(found)

    @torch.no_grad()
    def solve(
        self,
        network: nn.Module,
        settings: BppSettings,
        instance: Instance,
        rng: Generator,
        time_limit_s: float,
    ) -> State:
        """Return the best of the most probable order and, while time is left, of 512 samples."""
        environment = operator_environment(ContainerData(**instance.data))
        n = environment["num_activities"]
        if not 0 < n <= MOST_BOXES:
            raise UsageError(f"{instance.key}: {n} boxes; BPP-DRL takes 1 to {MOST_BOXES} here")
        decoder = make_decoder(environment)
        end = time.monotonic() + time_limit_s
        boxes = torch.from_numpy(box_features(environment))[None].to(rng.device)
        best, best_fill, sampled = np.arange(n, dtype=np.int32), -1.0, 0
        while sampled <= SAMPLES:
            orders, _ = network(boxes, SAMPLES_AT_ONCE if sampled else 1, rng if sampled else None)
            rates = fill_rates(decoder, orders[0])
            if max(rates) > best_fill:
                best_fill = max(rates)
                best = orders[0][rates.index(best_fill)].cpu().numpy().astype(np.int32)
            sampled += len(rates)
            if time.monotonic() > end:
                break
        return State(best)


def _environments(size: int, count: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [operator_environment(training_container(size, rng)) for _ in range(count)]
