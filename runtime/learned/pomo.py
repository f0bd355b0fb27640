"""POMO: a transformer that builds tours city by city, from every city at once.

Cities are embedded by a transformer encoder; at each step an attention over the cities left chooses the next
from the first and the last city of the tour. One tour begins in each city; in training the mean length of an
instance's tours is the baseline of each, and when solving the best of all of them, on the eight symmetric
pictures of the square, is taken.

References
----------
Y.-D. Kwon, J. Choo, B. Kim, I. Yoon, Y. Gwon, S. Min, "POMO: Policy Optimization with Multiple Optima for
Reinforcement Learning", NeurIPS 2020: sections 4.1 to 4.3 and Algorithms 1 and 2.
W. Kool, H. van Hoof, M. Welling, "Attention, Learn to Solve Routing Problems!", ICLR 2019: the network.
"""

from __future__ import annotations

import math
import time
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.tsp.reader import length_matrix
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.method import LearnedMethod, TrainingSettings, stream
from dga2d.runtime.learned.networks import attend, draw, merge_heads, split_heads

TANH_CLIPPING: Final = 10.0
"""Logits lie within ± this."""
VALIDATION_INSTANCES: Final = 128
MOST_CITIES: Final = 2000
"""A tour from each city of so many takes some hundred megabytes."""


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with a skip connection and instance normalisation."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.combine = nn.Linear(width, width)
        self.attention_norm = nn.InstanceNorm1d(width, affine=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.feed_forward_norm = nn.InstanceNorm1d(width, affine=True)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return embeddings `(batch, n, width)` of the same shape."""
        query, key, value = (split_heads(x, self.heads) for x in self.query_key_value(nodes).chunk(3, dim=-1))
        mixed = attend(query, key, value)
        nodes = _normalise(self.attention_norm, nodes + self.combine(merge_heads(mixed)))
        return _normalise(self.feed_forward_norm, nodes + self.feed_forward(nodes))


def _normalise(norm: nn.InstanceNorm1d, nodes: Tensor) -> Tensor:
    normal: Tensor = norm(nodes.transpose(1, 2))
    return normal.transpose(1, 2)


class PomoNetwork(nn.Module):
    """Encoder of cities and the decoder of the next city."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.heads
        self.embed = nn.Linear(2, width)
        self.encoder = nn.Sequential(*(EncoderLayer(width, settings.heads) for _ in range(settings.layers)))
        self.query_first = nn.Linear(width, width, bias=False)
        self.query_last = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.combine = nn.Linear(width, width)

    def forward(self, cities: Tensor) -> Decoder:
        """Return the decoder of instances, coordinates in the unit square, float `(batch, n, 2)`."""
        nodes = self.encoder(self.embed(cities))
        key, value = (split_heads(x, self.heads) for x in self.key_value(nodes).chunk(2, dim=-1))
        # What is linear is done once per city, not per step: combine(x) · node = x · pointer + offset.
        return Decoder(
            first_queries=self.query_first(nodes),
            last_queries=self.query_last(nodes),
            key=key,
            value=value,
            pointers=nodes @ self.combine.weight,
            offsets=(nodes @ self.combine.bias).unsqueeze(1),
        )


class Decoder(NamedTuple):
    """Attention over the cities of a batch of instances; see `PomoNetwork.forward`."""

    first_queries: Tensor
    """`(batch, n, width)`"""
    last_queries: Tensor
    """`(batch, n, width)`"""
    key: Tensor
    """`(batch, heads, n, width / heads)`"""
    value: Tensor
    """`(batch, heads, n, width / heads)`"""
    pointers: Tensor
    """`(batch, n, width)`"""
    offsets: Tensor
    """`(batch, 1, n)`"""

    def next_city(self, first: Tensor, last: Tensor, barred: Tensor) -> Tensor:
        """Return log-probabilities of the next city `(batch, k, n)` of `k` tours, which began in the cities
        `first`, are in `last`, both `(batch, k)`, and may not go where `barred` `(batch, k, n)` is −∞.
        """
        query = split_heads(
            _rows(self.first_queries, first) + _rows(self.last_queries, last), self.key.shape[1]
        )
        mixed = merge_heads(attend(query, self.key, self.value, barred.unsqueeze(1)))
        scores = mixed @ self.pointers.transpose(1, 2) + self.offsets
        scores = scores / math.sqrt(self.pointers.shape[-1])
        return torch.log_softmax(TANH_CLIPPING * torch.tanh(scores) + barred, dim=-1)

    @torch.no_grad()
    def build(self, rng: Generator | None) -> Tensor:
        """Return a tour from each city of each instance, int64 `(batch, n, n)`: the next city is drawn, or
        without `rng` the most probable.
        """
        batch, _, n, _ = self.key.shape
        first = last = torch.arange(n, device=self.key.device).expand(batch, n)
        barred = torch.zeros(batch, n, n, device=self.key.device).scatter_(2, last[:, :, None], -math.inf)
        tours = [last]
        for _ in range(n - 1):
            last = draw(self.next_city(first, last, barred), rng)
            barred.scatter_(2, last[:, :, None], -math.inf)
            tours.append(last)
        return torch.stack(tours, dim=2)

    def log_probability(self, tours: Tensor) -> Tensor:
        """Return that of each tour `(batch, k, n)` given its first city: float `(batch, k)`.

        All steps are computed at once, which is several times as fast as to differentiate `build`.
        """
        batch, k, n = tours.shape
        first = tours[:, :, :1].expand(-1, -1, n - 1).reshape(batch, k * (n - 1))
        last, following = (part.reshape(batch, k * (n - 1)) for part in (tours[:, :, :-1], tours[:, :, 1:]))
        # Barred at step t is what stands at or before place t of the tour.
        place = torch.argsort(tours, dim=2)
        steps = torch.arange(n - 1, device=tours.device)[:, None]
        barred = torch.zeros(batch, k, n - 1, n, device=tours.device)
        barred.masked_fill_(place[:, :, None, :] <= steps, -math.inf)
        logs = self.next_city(first, last, barred.view(batch, k * (n - 1), n))
        return logs.gather(2, following[:, :, None]).view(batch, k, n - 1).sum(dim=2)


def _rows(table: Tensor, rows: Tensor) -> Tensor:
    """Return rows `(batch, k)` of `table` `(batch, n, width)`: `(batch, k, width)`."""
    return table.gather(1, rows[:, :, None].expand(-1, -1, table.shape[-1]))


def tour_lengths(cities: Tensor, tours: Tensor) -> Tensor:
    """Return the Euclidean lengths `(batch, k)` of closed tours `(batch, k, n)` of `(batch, n, 2)` cities."""
    batch, k, n = tours.shape
    places = cities.gather(1, tours.reshape(batch, k * n, 1).expand(-1, -1, 2)).view(batch, k, n, 2)
    lengths: Tensor = (places - places.roll(-1, dims=2)).norm(dim=-1).sum(dim=-1)
    return lengths


def eight_pictures(cities: Tensor) -> Tensor:
    """Return the square turned and mirrored in its eight ways: `(8 batch, n, 2)` (POMO, table 1)."""
    x, y = cities[..., :1], cities[..., 1:]
    pictures = [
        torch.cat(pair, dim=-1)
        for a, b in ((x, y), (y, x))
        for pair in ((a, b), (1 - a, b), (a, 1 - b), (1 - a, 1 - b))
    ]
    return torch.cat(pictures)


def training_cities(size: int, batch: int, rng: Generator) -> Tensor:
    """Return points uniform in the unit square, float `(batch, size, 2)`."""
    return torch.rand(batch, size, 2, generator=rng, device=rng.device)


class Pomo(LearnedMethod[TrainingSettings]):
    """Implements `LearnedMethod`; see the module."""

    name = "pomo"
    domain = "tsp"
    settings = TrainingSettings
    network = PomoNetwork
    default_size = 20
    data = "points uniform in the unit square, made anew for every step"
    cost = "length of the tour; in validation the best of one tour from each city, without augmentation"
    published = (
        "TSP-20: 510 epochs of 100,000 instances, batch 64, on a GPU; 128 wide, 8 heads, 6 layers (the "
        "authors' program, TSP/POMO/train_n20.py)"
    )

    def loss(
        self, network: nn.Module, settings: TrainingSettings, rng: Generator, step: int
    ) -> tuple[Tensor, float]:
        """Return REINFORCE's loss with the shared baseline (POMO, equations 2 and 3), and the mean length."""
        cities = training_cities(settings.size, settings.batch, rng)
        decoder: Decoder = network(cities)
        tours = decoder.build(rng)
        lengths = tour_lengths(cities, tours)
        advantage = lengths - lengths.mean(dim=1, keepdim=True)
        return (advantage * decoder.log_probability(tours)).mean(), float(lengths.mean())

    def validate(self, network: nn.Module, settings: TrainingSettings) -> float:
        rng = stream("cpu", "validation", self.name, settings.size)
        cities = training_cities(settings.size, VALIDATION_INSTANCES, rng)
        cities = cities.to(next(network.parameters()).device)
        decoder: Decoder = network(cities)
        return float(tour_lengths(cities, decoder.build(None)).min(dim=1).values.mean())

    @torch.no_grad()
    def solve(
        self,
        network: nn.Module,
        settings: TrainingSettings,
        instance: Instance,
        rng: Generator,
        time_limit_s: float,
    ) -> State:
        """Return the best of the most probable tours from every city on the eight pictures of the square, by
        the instance's own distances (POMO, Algorithm 2)."""
        end = time.monotonic() + time_limit_s
        places = _coordinates(instance)
        n = len(places)
        distances = torch.from_numpy(length_matrix(instance.data)).to(rng.device)
        best, best_length = np.arange(n, dtype=np.int32), math.inf
        pictures = eight_pictures(torch.from_numpy(places).to(rng.device)[None]) if n > 3 else ()
        for number, picture in enumerate(pictures):
            if number and time.monotonic() > end:
                break
            decoder: Decoder = network(picture[None])
            tours = decoder.build(None)[0]
            lengths = distances[tours, tours.roll(-1, dims=1)].sum(dim=1)
            shortest = int(lengths.argmin())
            if int(lengths[shortest]) < best_length:
                best, best_length = tours[shortest].cpu().numpy().astype(np.int32), int(lengths[shortest])
        return State(best)


def _coordinates(instance: Instance) -> NDArray[np.float32]:
    """Return the cities in the unit square, float32 `(n, 2)`, the longer side of their box stretched to 1.

    Raises
    ------
    UsageError
        There are no coordinates, too many cities, or fixed edges.
    """
    data = instance.data
    places = np.asarray(data["coords"], dtype=np.float64)
    if data.get("edge_type", "EUC_2D") == "EXPLICIT" or not len(places):
        raise UsageError(f"{instance.key}: POMO needs coordinates, this instance has distances alone")
    if "fixed" in data:
        raise UsageError(f"{instance.key}: POMO cannot keep the fixed edges of this instance")
    if len(places) > MOST_CITIES:
        raise UsageError(f"{instance.key}: {len(places)} cities; POMO takes {MOST_CITIES} at most here")
    low = places.min(axis=0)
    side = max(float((places.max(axis=0) - low).max()), 1e-12)
    return np.asarray((places - low) / side, dtype=np.float32)
