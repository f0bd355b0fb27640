"""ReSched: a transformer that dispatches operations to machines from four features of what is left to do.

A state is the rest of the problem: of each operation its shortest time and, for the next of each job, when it
could begin; of each machine when it is free; of each pair the time there. Operations attend to those behind
them in their job, machines to the operations they could take. Each step draws a pair of an operation and a
machine, which starts as soon as both are free.

References
----------
X. Xiao, C. Zhang, W. Song, Z. Cao, "ReSched: Rethinking Flexible Job Shop Scheduling from a Transformer-based
Architecture with Simplified States", ICLR 2026 (arXiv 2603.07020), and the authors' programs.
W. Song, X. Chen, Q. Li, Z. Cao, "Flexible Job-Shop Scheduling via Graph Neural Network and Deep Reinforcement
Learning", IEEE Transactions on Industrial Informatics 19, 2023: the training instances (SD1).
"""

from __future__ import annotations

import math
import time
from typing import Final, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Generator, Tensor, nn

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.fjsp.card import MACHINE_ALLOCATION
from dga2d.domains.fjsp.reader import FlexibleShopData, processing_matrix
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.method import LearnedMethod, TrainingSettings, stream
from dga2d.runtime.learned.networks import draw, merge_heads, split_heads

DISCOUNT: Final = 0.99
BARRED: Final = -1e9
"""Logit of what may not be chosen; finite, so that rows without any choice are no NaN."""
VALIDATION_INSTANCES: Final = 32
SAMPLES: Final = 100
SAMPLES_AT_ONCE: Final = 20
LARGEST_TABLE: Final = 200_000
"""Jobs × operations × machines of an instance."""


class ReschedSettings(TrainingSettings):
    """Settings of ReSched; `size` is the number of jobs."""

    width: int = Field(default=32, ge=8)
    layers: int = Field(default=2, ge=1)
    batch: int = Field(default=4, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0.0)
    machines: int = Field(default=5, ge=1)
    """Of the training instances; a job has 0.8 to 1.2 times as many operations."""
    rollouts: int = Field(default=8, ge=2)
    """Schedules sampled of each instance; their mean is the baseline."""


class Shops(NamedTuple):
    """Flexible job shops of the same padded shape."""

    times: Tensor
    """float `(batch, jobs, operations, machines)`, 0 where a machine is not eligible"""
    is_eligible: Tensor
    """bool, the same shape; false for operations that a job does not have"""

    @property
    def shortest(self) -> Tensor:
        """Shortest time of each operation, `(batch, jobs, operations)`; 0 of those that are none."""
        times = self.times.masked_fill(~self.is_eligible, math.inf).amin(dim=3)
        return times.masked_fill(~self.is_eligible.any(dim=3), 0.0)

    @property
    def counts(self) -> Tensor:
        """Operations of each job, int64 `(batch, jobs)`."""
        return self.is_eligible.any(dim=3).sum(dim=2)

    def repeat(self, times: int) -> Shops:
        """Return the shops with each repeated `times` times in a row."""
        return Shops(*(part.repeat_interleave(times, dim=0) for part in self))


class Moment(NamedTuple):
    """How far the schedules of a batch have come."""

    next_operation: Tensor
    """int64 `(batch, jobs)`"""
    job_free: Tensor
    """float `(batch, jobs)`"""
    machine_free: Tensor
    """float `(batch, machines)`"""


class OperationBlock(nn.Module):
    """Attention of operations to those behind them in their job, with rotary places counted from its end."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.combine = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(MaskedNorm(width) for _ in range(2))

    def forward(self, operations: Tensor, rotation: tuple[Tensor, Tensor], is_left: Tensor) -> Tensor:
        """Return embeddings `(batch, jobs, operations, width)`; `is_left` are those still to be done."""
        batch, jobs, length, width = operations.shape
        flat = operations.view(batch * jobs, length, width)
        query, key, value = (split_heads(x, self.heads) for x in self.query_key_value(flat).chunk(3, dim=-1))
        scores = _rotate(query, rotation) @ _rotate(key, rotation).transpose(-2, -1)
        steps = torch.arange(length, device=flat.device)
        is_seen = (steps[None, :] >= steps[:, None]) & is_left.view(batch * jobs, 1, 1, length)
        scores = (scores / math.sqrt(query.shape[-1])).masked_fill(~is_seen, BARRED)
        mixed = self.combine(merge_heads(torch.softmax(scores, dim=-1) @ value)).view_as(operations)
        operations = self.norms[0](operations + mixed, is_left)
        changed: Tensor = self.norms[1](operations + self.feed_forward(operations), is_left)
        return changed


class MachineBlock(nn.Module):
    """Attention of machines to themselves and the operations they could take, with the times in queries, keys
    and values.

    A time t is embedded as t w + b, so that products with it fall apart into a few numbers per pair, and no
    embedding of a pair is ever made.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.combine = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(MaskedNorm(width) for _ in range(2))

    def forward(
        self, machines: Tensor, operations: Tensor, times: Tensor, is_possible: Tensor, edge: nn.Linear
    ) -> Tensor:
        """Return embeddings `(batch, machines, width)`.

        `operations` is `(batch, k, width)`, `times` and `is_possible` are `(batch, machines, k)`; `edge`
        embeds a time.
        """
        heads, size = self.heads, machines.shape[-1] // self.heads
        slope, base = edge.weight.view(heads, 1, size), edge.bias.view(heads, 1, size)
        query = split_heads(self.query(machines), heads)
        key, value = (split_heads(x, heads) for x in self.key_value(operations).chunk(2, dim=-1))
        t = times.unsqueeze(1)
        # (q + t w + b) · (k + t w + b)
        scores = query @ key.transpose(-2, -1)
        scores = scores + (query * base).sum(-1, keepdim=True) + (key * base).sum(-1).unsqueeze(2)
        per_time = (query * slope).sum(-1, keepdim=True) + (key * slope).sum(-1).unsqueeze(2)
        both = 2.0 * (slope * base).sum(-1)[None, :, :, None]
        scores = scores + t * (per_time + both) + t * t * (slope * slope).sum(-1)[None, :, :, None]
        scores = scores + (base * base).sum(-1)[None, :, :, None]
        scores = scores.masked_fill(~is_possible.unsqueeze(1), BARRED)
        own = (query * query).sum(-1, keepdim=True)
        weights = torch.softmax(torch.cat([scores, own], dim=-1) / math.sqrt(size), dim=-1)
        to_others, to_self = weights[..., :-1], weights[..., -1:]
        mixed = to_others @ value + to_self * query
        mixed = mixed + (to_others * t).sum(-1, keepdim=True) * slope + to_others.sum(-1, keepdim=True) * base
        machines = self.norms[0](machines + self.combine(merge_heads(mixed)))
        changed: Tensor = self.norms[1](machines + self.feed_forward(machines))
        return changed


class MaskedNorm(nn.Module):
    """Instance normalisation over the nodes that count."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, nodes: Tensor, counts: Tensor | None = None) -> Tensor:
        """Return `nodes` `(batch, …, width)` with mean 0 and variance 1 over those where `counts` is true."""
        flat = nodes.flatten(1, -2)
        if counts is None:
            mean, variance = flat.mean(1, keepdim=True), flat.var(1, keepdim=True, unbiased=False)
        else:
            part = counts.flatten(1).unsqueeze(-1).to(flat.dtype)
            number = part.sum(1, keepdim=True).clamp(min=1.0)
            mean = (flat * part).sum(1, keepdim=True) / number
            variance = ((flat - mean) ** 2 * part).sum(1, keepdim=True) / number
        normal = (flat - mean) * torch.rsqrt(variance + 1e-5)
        return (normal * self.scale + self.shift).view_as(nodes)


class ReschedNetwork(nn.Module):
    """Scores of all pairs of a job, which stands for its next operation, and a machine."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        width, heads = settings.width, settings.heads
        self.heads = heads
        self.duration = nn.Linear(1, width)
        self.operation_time = nn.Linear(1, width)
        self.machine_time = nn.Linear(1, width)
        self.operation_blocks = nn.ModuleList(OperationBlock(width, heads) for _ in range(settings.layers))
        self.machine_blocks = nn.ModuleList(MachineBlock(width, heads) for _ in range(settings.layers))
        self.operation_score = nn.Linear(width, width)
        self.machine_score = nn.Linear(width, width, bias=False)
        self.duration_score = nn.Linear(width, width, bias=False)
        self.score = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, shops: Shops, moment: Moment) -> Tensor:
        """Return log-probabilities of the pairs, float `(batch, jobs machines)`."""
        batch, jobs, length, n_machines = shops.times.shape
        counts, shortest = shops.counts, shops.shortest
        steps = torch.arange(length, device=counts.device)
        is_left = (steps >= moment.next_operation.unsqueeze(2)) & (steps < counts.unsqueeze(2))
        is_next = is_left & (steps == moment.next_operation.unsqueeze(2))
        is_possible = shops.is_eligible & is_left.unsqueeze(3)
        scale = shops.times.amax(dim=(1, 2, 3)).clamp(min=1e-6)[:, None]
        job_free, machine_free = _since_now(moment, is_left.any(2), is_possible.any(2).any(1), scale)
        times = shops.times / scale[:, :, None, None]
        operations = self.duration((shortest / scale.unsqueeze(2)).unsqueeze(3))
        begins = self.operation_time(job_free[:, :, None, None])
        operations = operations + begins * is_next.unsqueeze(3)
        machines = self.machine_time(machine_free.unsqueeze(2))
        rotation = _rotation(counts, length, operations.shape[-1] // self.heads)
        by_machine = times.view(batch, jobs * length, n_machines).transpose(1, 2)
        possible_by_machine = is_possible.view(batch, jobs * length, n_machines).transpose(1, 2)
        for own, cross in zip(self.operation_blocks, self.machine_blocks, strict=True):
            before = operations
            operations = own(before, rotation, is_left)
            flat = before.view(batch, jobs * length, -1)
            machines = cross(machines, flat, by_machine, possible_by_machine, self.duration)
        place = moment.next_operation.clamp(max=length - 1)[:, :, None, None]
        following = operations.gather(2, place.expand(-1, -1, 1, operations.shape[-1])).squeeze(2)
        pair_times = times.gather(2, place.expand(-1, -1, 1, n_machines)).squeeze(2)
        can_start = is_possible.gather(2, place.expand(-1, -1, 1, n_machines)).squeeze(2)
        pairs = self.operation_score(following).unsqueeze(2) + self.machine_score(machines).unsqueeze(1)
        pairs = pairs + self.duration_score(self.duration(pair_times.unsqueeze(3)))
        scores = self.score(pairs).squeeze(3).masked_fill(~can_start, BARRED)
        return torch.log_softmax(scores.view(batch, jobs * n_machines), dim=-1)


def _since_now(moment: Moment, is_open: Tensor, is_needed: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Return when jobs and machines are free, counted from the first moment at which something can begin."""
    job_free = moment.job_free.masked_fill(~is_open, math.inf)
    machine_free = moment.machine_free.masked_fill(~is_needed, math.inf)
    now = torch.cat([job_free, machine_free], dim=1).amin(dim=1, keepdim=True)
    now = torch.where(torch.isfinite(now), now, torch.zeros_like(now))
    return (moment.job_free - now) / scale, (moment.machine_free - now) / scale


def _rotation(counts: Tensor, length: int, size: int) -> tuple[Tensor, Tensor]:
    """Return sines and cosines of the places from the end of a job: `(batch jobs, 1, length, size / 2)`."""
    place = counts.reshape(-1, 1) - 1 - torch.arange(length, device=counts.device)
    rates = 10_000.0 ** (-torch.arange(0, size, 2, device=counts.device) / size)
    angles = place.unsqueeze(-1).to(rates.dtype) * rates
    return angles.sin().unsqueeze(1), angles.cos().unsqueeze(1)


def _rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    sine, cosine = rotation
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cosine - odd * sine, odd * cosine + even * sine], dim=-1).flatten(-2)


class Rollout(NamedTuple):
    """Schedules of a batch, step by step."""

    moments: list[Moment]
    """Before each step."""
    actions: Tensor
    """int64 `(batch, steps)`: job · machines + machine; 0 after the last operation of a schedule"""
    is_action: Tensor
    """bool `(batch, steps)`: whether the schedule had an operation left"""
    bounds: Tensor
    """float `(batch, steps + 1)`: before each step, the longest job if all were alone from there on"""

    @property
    def makespans(self) -> Tensor:
        """Length of each schedule, float `(batch,)`."""
        return self.bounds[:, -1]


@torch.no_grad()
def dispatch(network: nn.Module, shops: Shops, rng: Generator | None) -> Rollout:
    """Return a schedule of each shop: pairs are drawn, or without `rng` the most probable."""
    batch, jobs, length, n_machines = shops.times.shape
    counts, shortest = shops.counts, shops.shortest
    behind = shortest.flip(2).cumsum(2).flip(2)
    behind = torch.cat([behind, behind.new_zeros(batch, jobs, 1)], dim=2)
    zeros = shops.times.new_zeros
    moment = Moment(torch.zeros_like(counts), zeros(batch, jobs), zeros(batch, n_machines))
    moments, actions, is_action, rows = [], [], [], torch.arange(batch, device=counts.device)
    bounds = [_bound(moment, behind)]
    for _ in range(int(counts.sum(1).max())):
        is_open = (moment.next_operation < counts).any(1)
        action = torch.where(is_open, draw(network(shops, moment), rng), 0)
        job, machine = action // n_machines, action % n_machines
        operation = moment.next_operation[rows, job].clamp(max=length - 1)
        start = torch.maximum(moment.job_free[rows, job], moment.machine_free[rows, machine])
        end = start + shops.times[rows, job, operation, machine]
        moments.append(moment)
        actions.append(action)
        is_action.append(is_open)
        moment = _after(moment, rows, job, machine, end, is_open)
        bounds.append(_bound(moment, behind))
    return Rollout(moments, torch.stack(actions, 1), torch.stack(is_action, 1), torch.stack(bounds, 1))


def _bound(moment: Moment, behind: Tensor) -> Tensor:
    left = behind.gather(2, moment.next_operation.unsqueeze(2)).squeeze(2)
    return (moment.job_free + left).amax(dim=1)


def _after(
    moment: Moment, rows: Tensor, job: Tensor, machine: Tensor, end: Tensor, is_open: Tensor
) -> Moment:
    following, job_free, machine_free = (part.clone() for part in moment)
    following[rows, job] += is_open.to(following.dtype)
    job_free[rows, job] = torch.where(is_open, end, job_free[rows, job])
    machine_free[rows, machine] = torch.where(is_open, end, machine_free[rows, machine])
    return Moment(following, job_free, machine_free)


def training_shops(settings: ReschedSettings, batch: int, rng: Generator) -> Shops:
    """Return instances of the kind SD1: 0.8 m to 1.2 m operations per job, each on 1 to m machines, with
    times of a mean of 1 to 20, and up to a fifth more or less on each machine.
    """
    jobs, m = settings.size, settings.machines
    least, most = max(1, round(0.8 * m)), max(1, round(1.2 * m))
    device = rng.device
    counts = torch.randint(least, most + 1, (batch, jobs, 1), generator=rng, device=device)
    number = torch.randint(1, m + 1, (batch, jobs, most, 1), generator=rng, device=device)
    order = torch.rand(batch, jobs, most, m, generator=rng, device=device).argsort(3).argsort(3)
    is_there = torch.arange(most, device=device) < counts
    is_eligible = (order < number) & is_there.unsqueeze(3)
    mean = torch.randint(1, 21, (batch, jobs, most, 1), generator=rng, device=device)
    spread = 0.8 + 0.4 * torch.rand(batch, jobs, most, m, generator=rng, device=device)
    times = (mean * spread).round().clamp(min=1.0)
    return Shops(times * is_eligible, is_eligible)


class Resched(LearnedMethod[ReschedSettings]):
    """Implements `LearnedMethod`; see the module."""

    name = "resched"
    domain = "fjsp"
    settings = ReschedSettings
    network = ReschedNetwork
    default_size = 6
    data = "flexible job shops of the kind SD1 (Song and others 2023), made anew for every step"
    cost = "makespan; in validation of the most probable schedule"
    published = (
        "10 jobs, 5 machines: 2,000 epochs of 1,000 instances, batch 50, on a GPU; 128 wide, 8 heads, "
        "2 blocks (the authors' program, REINFORCE/configs/fjsp.py)"
    )

    def loss(
        self, network: nn.Module, settings: ReschedSettings, rng: Generator, step: int
    ) -> tuple[Tensor, float]:
        """Return REINFORCE's loss on the discounted growth of the bound, and the mean makespan."""
        shops = training_shops(settings, settings.batch, rng).repeat(settings.rollouts)
        rollout = dispatch(network, shops, rng)
        batch, steps = rollout.actions.shape
        scale = shops.times.amax(dim=(1, 2, 3))[:, None]
        rewards = -(rollout.bounds[:, 1:] - rollout.bounds[:, :-1]) / scale
        returns = torch.zeros_like(rewards)
        ahead = torch.zeros_like(rewards[:, 0])
        for step in reversed(range(steps)):
            ahead = returns[:, step] = rewards[:, step] + DISCOUNT * ahead
        of_instance = returns.view(settings.batch, settings.rollouts, steps)
        advantage = (of_instance - of_instance.mean(dim=1, keepdim=True)).view(batch, steps)
        # All states at once: several times as fast as to differentiate step by step.
        states = Moment(
            *(torch.stack(parts, 1).flatten(0, 1) for parts in zip(*rollout.moments, strict=True))
        )
        logs = network(shops.repeat(steps), states).view(batch, steps, -1)
        chosen = logs.gather(2, rollout.actions.unsqueeze(2)).squeeze(2)
        loss = -(advantage * chosen * rollout.is_action).sum(dim=1).mean()
        return loss, float(rollout.makespans.mean())

    def validate(self, network: nn.Module, settings: ReschedSettings) -> float:
        rng = stream("cpu", "validation", self.name, settings.size, settings.machines)
        shops = training_shops(settings, VALIDATION_INSTANCES, rng)
        device = next(network.parameters()).device
        return float(dispatch(network, Shops(*(x.to(device) for x in shops)), None).makespans.mean())

    def solve(
        self,
        network: nn.Module,
        settings: ReschedSettings,
        instance: Instance,
        rng: Generator,
        time_limit_s: float,
    ) -> State:
        """Return the best of the most probable schedule and, while time is left, of a hundred samples."""
        end = time.monotonic() + time_limit_s
        shop = instance.data["shop"]
        shops = _shops_of(shop, instance.key, rng.device)
        best, best_actions = math.inf, torch.empty(0)
        sampled = 0
        while sampled <= SAMPLES:
            count = SAMPLES_AT_ONCE if sampled else 1
            rollout = dispatch(network, shops.repeat(count), rng if sampled else None)
            shortest = int(rollout.makespans.argmin())
            if float(rollout.makespans[shortest]) < best:
                best, best_actions = float(rollout.makespans[shortest]), rollout.actions[shortest]
            sampled += count
            if time.monotonic() > end:
                break
        return _state_of(shop, best_actions)


def _shops_of(shop: FlexibleShopData, key: str, device: torch.device) -> Shops:
    table = processing_matrix(shop.n_machines, shop.machines, shop.times)
    if table.size > LARGEST_TABLE:
        jobs, operations, machines = table.shape
        raise UsageError(
            f"{key}: {jobs} jobs × {operations} operations × {machines} machines; ReSched takes a table of "
            f"{LARGEST_TABLE} at most here"
        )
    times = torch.from_numpy(table).to(device, torch.float32)[None]
    is_eligible = torch.isfinite(times)
    return Shops(times.masked_fill(~is_eligible, 0.0), is_eligible)


def _state_of(shop: FlexibleShopData, actions: Tensor) -> State:
    """Return the sequence of jobs and the machines of a schedule."""
    jobs, machines = np.divmod(actions.cpu().numpy(), shop.n_machines)
    allocation = np.zeros(shop.machines.shape[:2], dtype=np.int32)
    seen = np.zeros(len(shop.op_counts), dtype=np.int64)
    for job, machine in zip(jobs.tolist(), machines.tolist(), strict=True):
        allocation[job, seen[job]] = machine
        seen[job] += 1
    return State(jobs.astype(np.int32), {MACHINE_ALLOCATION: allocation})
