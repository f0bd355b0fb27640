"""SDDS: a discrete diffusion that ends in independent sets, learned from the energy alone.

A graph network looks at a graph with a 0/1 mark on each vertex and says for each what the mark was a step
earlier; from coin tosses, a few such steps lead to sets of low energy. Training needs no solutions: it
minimises the reverse Kullback-Leibler divergence between the learned way out of the noise and the fixed way
into it, while the temperature falls to 0. The last distribution is rounded by conditional expectations.

References
----------
S. Sanokowski, W. Berghammer, M. Ennemoser, H. P. Wang, S. Hochreiter, S. Lehner, "Scalable Discrete Diffusion
Samplers: Combinatorial Optimization and Statistical Physics", ICLR 2025: reverse KL with policy gradients.
S. Sanokowski, S. Hochreiter, S. Lehner, "A Diffusion Model Framework for Unsupervised Neural Combinatorial
Optimization", ICML 2024: Bernoulli noise, annealing, energies, conditional expectation; and their programs.
P. Raghavan, "Probabilistic construction of deterministic algorithms", Journal of Computer and System Sciences
37, 1988: conditional expectations.
"""

from __future__ import annotations

import math
import random
import time
from typing import Final, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Generator, Tensor, nn

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.mis.model_rb import model_rb
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.method import LearnedMethod, TrainingSettings, stream

PENALTY: Final = 1.2
"""Energy of an edge within the set; a vertex has −1."""
CLIQUE: Final = 5
"""Vertices of a clique of the training graphs."""
FINER: Final = 3
"""Diffusion steps when solving, as a multiple of those in training."""
SAMPLES_AT_ONCE: Final = 8
SAMPLES: Final = 64
VALIDATION_GRAPHS: Final = 16
VALIDATION_SAMPLES: Final = 4
MOST_VERTICES: Final = 5000


class SddsSettings(TrainingSettings):
    """Settings of SDDS; `size` is the number of vertices, a multiple of 5."""

    width: int = Field(default=32, ge=8)
    heads: int = Field(default=1, ge=1)
    """Without meaning here: the network has no attention."""
    layers: int = Field(default=4, ge=1)
    batch: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=2e-3, gt=0.0)
    rollouts: int = Field(default=6, ge=2)
    """Paths sampled of each graph; their mean is the baseline."""
    diffusion_steps: int = Field(default=6, ge=1)
    temperature: float = Field(default=0.4, ge=0.0)
    """At the beginning."""
    annealing: int = Field(default=100, ge=1)
    """Steps of training until it is 0."""


class Reverse(NamedTuple):
    """A path from noise to marks."""

    probabilities: Tensor
    """Of a 1 after the last step, float `(graphs, paths, n)`"""
    returns: Tensor
    """What is minimised, without what is differentiated exactly: of each path, `(graphs, paths)`"""
    loss: Tensor


class SddsNetwork(nn.Module):
    """Message passing on a graph with marks: encode, process, decode."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        width = settings.width
        self.encode = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width))
        self.messages = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(settings.layers)
        )
        self.updates = nn.ModuleList(
            nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
            for _ in range(settings.layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(settings.layers))
        self.decode = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, scaled: Tensor, marks: Tensor, noise: Tensor, moment: float) -> Tensor:
        """Return the logit of a 1 a step earlier, float `(graphs, paths, n)`.

        Parameters
        ----------
        scaled
            Adjacency divided by the root of the mean degree, float `(graphs, n, n)`.
        marks, noise
            Marks now, and random numbers that tell equal vertices apart: float `(graphs, paths, n)`.
        moment
            1 at the noise, towards 0 at the marks.
        """
        time_sine, time_cosine = math.sin(math.pi * moment), math.cos(math.pi * moment)
        ones = torch.ones_like(marks)
        nodes = self.encode(torch.stack([2 * marks - 1, noise, time_sine * ones, time_cosine * ones], dim=-1))
        for message, update, norm in zip(self.messages, self.updates, self.norms, strict=True):
            gathered = scaled.unsqueeze(1) @ message(nodes)
            nodes = norm(nodes + update(torch.cat([nodes, gathered], dim=-1)))
        logits: Tensor = self.decode(nodes).squeeze(-1)
        return logits


def scaled_adjacency(adjacency: Tensor) -> Tensor:
    """Return adjacency matrices `(graphs, n, n)` divided by the roots of their mean degrees."""
    degree = adjacency.sum(dim=(1, 2)) / adjacency.shape[1]
    return adjacency / degree.clamp(min=1.0).sqrt()[:, None, None]


def expected_energy(adjacency: Tensor, probabilities: Tensor) -> Tensor:
    """Return the mean energy `(graphs, paths)` of marks that are drawn vertex by vertex."""
    pairs = ((probabilities @ adjacency) * probabilities).sum(dim=-1) / 2.0
    return PENALTY * pairs - probabilities.sum(dim=-1)


def flip_probability(step: int, steps: int) -> float:
    """Return the probability that step `step` of the noise, 1 … `steps`, tosses a mark over."""
    return 1.0 / (steps - step + 2)


def diffuse(
    network: nn.Module, adjacency: Tensor, paths: int, steps: int, temperature: float, rng: Generator
) -> Reverse:
    """Go from noise to marks on each graph, `paths` times, and return the loss of doing so.

    Of each step, entropy and the noise's log-likelihood are averaged over the step's own distribution
    exactly, as is the energy over the last one; what comes after a step reaches it by the policy gradient,
    less the mean of the graph's paths.
    """
    graphs, n, _ = adjacency.shape
    scaled = scaled_adjacency(adjacency)
    shape, device = (graphs, paths, n), adjacency.device
    marks = torch.randint(0, 2, shape, generator=rng, device=device).to(adjacency.dtype)
    noise = torch.rand(shape, generator=rng, device=device) * 2 - 1
    exact, chosen = [], []
    for step in range(steps, 0, -1):
        logits = network(scaled, marks, noise, step / steps)
        p = torch.sigmoid(logits)
        flip = flip_probability(step, steps)
        was_same = p * marks + (1 - p) * (1 - marks)
        likelihood = was_same * math.log(1.0 - flip) + (1 - was_same) * math.log(flip)
        entropy = nn.functional.binary_cross_entropy_with_logits(logits, p, reduction="none")
        cost = -temperature * (entropy + likelihood).sum(dim=-1)
        if step == 1:
            exact.append(cost + expected_energy(adjacency, p))
            break
        marks = (torch.rand(shape, generator=rng, device=device) < p).to(adjacency.dtype)
        exact.append(cost)
        chosen.append(
            -nn.functional.binary_cross_entropy_with_logits(logits, marks, reduction="none").sum(dim=-1)
        )
    loss = torch.stack(exact).sum(dim=0)
    ahead = torch.zeros_like(exact[0])
    for cost, log_probability in zip(reversed(exact[1:]), reversed(chosen), strict=True):
        ahead = ahead + cost.detach()
        loss = loss + (ahead - ahead.mean(dim=1, keepdim=True)) * log_probability
    return Reverse(p, ahead + exact[0].detach(), loss.mean() / n)


@torch.no_grad()
def round_by_expectation(adjacency: Tensor, probabilities: Tensor) -> Tensor:
    """Return independent sets by conditional expectations, int64 0/1 `(graphs, paths, n)`.

    The likeliest vertices come first; each gets the mark under which the mean energy is lower. As an edge
    costs more than a vertex gains, no two neighbours are marked.
    """
    p = probabilities.clone()
    graphs, paths, n = p.shape
    order = p.argsort(dim=-1, descending=True, stable=True)
    field = p @ adjacency
    graph = torch.arange(graphs, device=p.device)[:, None].expand(graphs, paths)
    for place in range(n):
        vertex = order[:, :, place]
        at = vertex.unsqueeze(-1)
        mark = (PENALTY * field.gather(-1, at) < 1.0).to(p.dtype)
        field = field + adjacency[graph, vertex] * (mark - p.gather(-1, at))
        p = p.scatter(-1, at, mark)
    return p.round().long()


def training_graphs(settings: SddsSettings, count: int, rng: Generator) -> Tensor:
    """Return adjacency matrices of Model RB, float `(count, size, size)`: cliques of 5, joined at random."""
    seeds = torch.randint(0, 2**62, (count,), generator=rng, device=rng.device).tolist()
    cliques = settings.size // CLIQUE
    made = [model_rb(cliques, CLIQUE, random.Random(seed)).adjacency for seed in seeds]
    return torch.from_numpy(np.stack(made)).to(rng.device, torch.float32)


class Sdds(LearnedMethod[SddsSettings]):
    """Implements `LearnedMethod`; see the module."""

    name = "sdds"
    domain = "mis"
    settings = SddsSettings
    network = SddsNetwork
    default_size = 40
    data = "Model RB graphs with cliques of 5 vertices (alpha = 0.8, p = 0.25), made anew for every step"
    cost = (
        "mean energy, −1 per vertex and 1.2 per edge in the set; in validation minus the size of the best set"
    )
    published = (
        "RB_iid_100: 2,000 epochs of annealing, batch 20 with 10 paths each, 8 layers, on a GPU (the example "
        "in the authors' program)"
    )

    def loss(
        self, network: nn.Module, settings: SddsSettings, rng: Generator, step: int
    ) -> tuple[Tensor, float]:
        """Return the temperature times the divergence, per vertex, and the mean energy."""
        adjacency = training_graphs(settings, settings.batch, rng)
        temperature = settings.temperature * max(0.0, 1.0 - step / settings.annealing)
        path = diffuse(network, adjacency, settings.rollouts, settings.diffusion_steps, temperature, rng)
        return path.loss, float(expected_energy(adjacency, path.probabilities.detach()).mean())

    def validate(self, network: nn.Module, settings: SddsSettings) -> float:
        device = next(network.parameters()).device
        graphs = training_graphs(
            settings, VALIDATION_GRAPHS, stream("cpu", "validation", self.name, settings.size)
        )
        adjacency, rng = graphs.to(device), stream(device, "validation", self.name, "paths")
        steps = FINER * settings.diffusion_steps
        path = diffuse(network, adjacency, VALIDATION_SAMPLES, steps, 0.0, rng)
        sizes = round_by_expectation(adjacency, path.probabilities).sum(dim=-1).amax(dim=1)
        return -float(sizes.to(torch.float32).mean())

    @torch.no_grad()
    def solve(
        self,
        network: nn.Module,
        settings: SddsSettings,
        instance: Instance,
        rng: Generator,
        time_limit_s: float,
    ) -> State:
        """Return the largest of the sets of 64 paths, of fewer where time is short."""
        end = time.monotonic() + time_limit_s
        given = instance.data["adjacency"]
        n = len(given)
        if n > MOST_VERTICES:
            raise UsageError(f"{instance.key}: {n} vertices; SDDS takes {MOST_VERTICES} at most here")
        adjacency = torch.from_numpy(np.array(given, dtype=np.float32)).to(rng.device)[None]
        best = torch.zeros(n, dtype=torch.long)
        for _ in range(0, SAMPLES if n else 0, SAMPLES_AT_ONCE):
            path = diffuse(network, adjacency, SAMPLES_AT_ONCE, FINER * settings.diffusion_steps, 0.0, rng)
            sets = round_by_expectation(adjacency, path.probabilities)[0]
            largest = sets[int(sets.sum(dim=1).argmax())].cpu()
            if int(largest.sum()) > int(best.sum()):
                best = largest
            if time.monotonic() > end:
                break
        return State(best.numpy().astype(np.int32))
