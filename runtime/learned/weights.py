"""Files of weights and checkpoints: safetensors, which hold numbers and text and can run nothing; and solving
with a learned solver, outside the sandbox: the network is ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import torch
from anyio import to_thread
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from dga2d.domains.core.contract import Instance, State
from dga2d.runtime.errors import OutputFileError, UsageError, require_package
from dga2d.runtime.learned.method import (
    LearnedMethod,
    TrainingSettings,
    device_in_words,
    device_named,
    learned_method,
    stream,
)
from dga2d.runtime.learned.names import DOMAINS, PACKAGES, Weights

Kind = Literal["weights", "checkpoint"]
FORMAT: Final = "dga2d-learned/1"


class Contents(NamedTuple):
    """What a file holds."""

    method: LearnedMethod[Any]
    settings: TrainingSettings
    notes: dict[str, Any]
    """What else its writer put into it."""
    tensors: dict[str, Tensor]


def write_contents(path: Path, kind: Kind, contents: Contents) -> bytes:
    """Write a file in one move: a reader finds the one before, or this one, whole. Return its bytes.

    Raises
    ------
    OutputFileError
        It cannot be written.
    """
    metadata = {
        "format": FORMAT,
        "kind": kind,
        "method": contents.method.name,
        "settings": contents.settings.model_dump_json(),
        "notes": json.dumps(contents.notes, allow_nan=False),
    }
    data = save({name: tensor.contiguous().cpu() for name, tensor in contents.tensors.items()}, metadata)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutputFileError(path, error.strerror or str(error)) from error
    return data


def read_contents(path: Path, kind: Kind, expected: str | None = None) -> Contents:
    """Return what a file holds; `expected` names the method that it must be of.

    Raises
    ------
    UsageError
        The file is missing, is not one that `write_contents` wrote, is damaged, of the other kind, or of
        another method.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError) as error:
        reason = (
            "there is no such file" if isinstance(error, FileNotFoundError) else "it is no safetensors file"
        )
        raise UsageError(f"{path}: {reason}; `dga2d train` writes {kind}") from error
    if metadata.get("format") != FORMAT or metadata.get("kind") != kind:
        found = metadata.get("kind", "neither weights nor a checkpoint of a learned solver")
        raise UsageError(f"{path}: expected {kind}, this is {found}; `dga2d train` writes {kind}")
    name = metadata.get("method", "")
    if expected is not None and name != expected:
        raise UsageError(f"{path}: these are {kind} of {name}, not of {expected}")
    method = learned_method(name)
    try:
        settings = method.settings.model_validate_json(metadata.get("settings", ""))
        notes = json.loads(metadata.get("notes", ""))
    except (ValidationError, ValueError) as error:
        raise UsageError(f"{path}: its settings cannot be read ({_first_line(error)})") from error
    return Contents(method, settings, notes, tensors)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def untrained_network(method: LearnedMethod[Any], settings: TrainingSettings) -> nn.Module:
    """Return the network that a training with these settings begins with, on the CPU."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream("cpu", "weights", settings.seed).initial_seed())
        return method.network(settings)


def load_network(path: Path, expected: str | None, device: torch.device) -> tuple[nn.Module, Contents]:
    """Return the network of a weights file, ready to solve.

    Raises
    ------
    UsageError
        As `read_contents`, and where the tensors are not those of the network.
    """
    contents = read_contents(path, "weights", expected)
    network = untrained_network(contents.method, contents.settings)
    fill(network, contents.tensors, path)
    return network.to(device).eval().requires_grad_(False), contents


def fill(network: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Set the parameters of a network. Raises UsageError where a file's are others."""
    own = network.state_dict()
    for name in sorted(own.keys() ^ tensors.keys()):
        raise UsageError(f"{path}: tensor {name} is {'missing' if name in own else 'not of this network'}")
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            shape, wanted = tuple(tensor.shape), tuple(own[name].shape)
            raise UsageError(f"{path}: tensor {name} has the shape {shape}, expected {wanted}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise UsageError(f"{path}: tensor {name} holds numbers that are not finite")
    network.load_state_dict(dict(tensors))


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


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
