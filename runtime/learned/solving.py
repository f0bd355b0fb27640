"""Solving with a learned solver, outside the sandbox: the network is ours, its weights are numbers."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import torch
from anyio import to_thread

from dga2d.domains.core.contract import Instance, State
from dga2d.runtime.errors import UsageError, require_package
from dga2d.runtime.learned.method import (
    LearnedMethod,
    TrainingSettings,
    device_in_words,
    device_named,
    stream,
)
from dga2d.runtime.learned.names import DOMAINS, PACKAGES, Weights
from dga2d.runtime.learned.weights import digest_of, load_network


class LearnedSolver(NamedTuple):
    """A network that is ready to solve."""

    method: LearnedMethod[Any]
    network: torch.nn.Module
    settings: TrainingSettings
    device: torch.device
    weights: str
    """First digits of the SHA-256 of the weights' file."""

    @property
    def title(self) -> str:
        """What it is, on what it was trained, and what it runs on."""
        return (
            f"{self.method.name}, weights {self.weights}, trained on size {self.settings.size}, "
            f"on {device_in_words(self.device)}"
        )

    def solve(self, instance: Instance, time_limit_s: float, seed: int) -> tuple[State, float]:
        """Return a solution, not verified yet, and the seconds that inference took.

        Raises
        ------
        UsageError
            The method cannot take the instance, or the device has too little memory for it.
        """
        rng = stream(self.device, "solve", self.method.name, seed)
        start = time.perf_counter()
        try:
            state = self.method.solve(self.network, self.settings, instance, rng, time_limit_s)
        except torch.OutOfMemoryError as error:
            raise UsageError(f"{instance.key}: {self.device} has too little memory for it") from error
        return state, time.perf_counter() - start


async def open_solver(name: str, domain: str, learned: Weights) -> LearnedSolver:
    """Load the network of a weights file.

    Raises
    ------
    UsageError
        A package is missing, the method solves another domain, there is no such device, or the file is
        missing or not one of this method's.
    """
    for package in PACKAGES:
        require_package(package, "learned", f"--method {name}")
    if DOMAINS[name] != domain:
        raise UsageError(f"--method {name} solves {DOMAINS[name]}, not {domain}")
    weights, device = learned
    if weights is None:
        raise UsageError(f"--method {name} needs --weights FILE; `dga2d train {name}` writes one")
    place = device_named(device)
    network, contents = await to_thread.run_sync(partial(load_network, weights, name, place))
    digest = digest_of(weights.read_bytes())[:12]
    return LearnedSolver(contents.method, network, contents.settings, place, digest)
