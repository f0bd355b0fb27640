"""What a learned solver offers to training and solving, which there are, what one is trained with, and how
random numbers are drawn.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Generator, Tensor, nn

from dga2d.domains.core.contract import Instance, State
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.names import DOMAINS


class TrainingSettings(BaseModel):
    """Settings of a training; a method may have more. All of them stand in the weights file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(ge=2)
    """Size of the training instances: cities, jobs, vertices, boxes."""
    width: int = Field(default=64, ge=8)
    """Length of an embedding; a multiple of `heads`."""
    heads: int = Field(default=4, ge=1)
    """Attention heads."""
    layers: int = Field(default=3, ge=1)
    """Layers of the encoder."""
    batch: int = Field(default=64, ge=1)
    """Instances per step."""
    learning_rate: float = Field(default=3e-4, gt=0.0)
    """Of Adam; a tenth of it in the last tenth of a budget in steps."""
    seed: int = Field(default=0, ge=0)
    """Names the random streams of weights, instances and samples."""

    @model_validator(mode="after")
    def _fits_heads(self) -> TrainingSettings:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of {self.heads} heads")
        return self


def stream(device: torch.device | str, *names: int | str) -> torch.Generator:
    """Return the random stream of that name on a device: the same names give the same numbers."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    generator = torch.Generator(device=device)
    generator.manual_seed(int.from_bytes(digest[:8], "big") >> 1)
    return generator


_PLACES: Final = {
    "pomo": "pomo:Pomo",
    "resched": "resched:Resched",
    "sdds": "sdds:Sdds",
    "bpp-drl": "bpp_drl:BppDrl",
}
"""Name → module of this package, and the class in it."""


Settings = TypeVar("Settings", bound=TrainingSettings)


class LearnedMethod(ABC, Generic[Settings]):
    """A network that builds solutions of one domain, how it is trained, and how it is asked.

    Costs are minimised, whichever the direction of the domain's objective.
    """

    name: ClassVar[str]
    domain: ClassVar[str]
    settings: ClassVar[type[TrainingSettings]]
    network: ClassVar[type[nn.Module]]
    """Makes an untrained network of settings; draws its parameters from torch's own stream."""
    default_size: ClassVar[int]
    data: ClassVar[str]
    """What the training instances are, in a line."""
    cost: ClassVar[str]
    """What the cost is, in a line."""
    published: ClassVar[str]
    """The published training budget, with its source."""

    @abstractmethod
    def loss(self, network: nn.Module, settings: Settings, rng: Generator, step: int) -> tuple[Tensor, float]:
        """Return the loss of a batch that is drawn from `rng`, and the mean cost of what was sampled.

        `step` counts from 0: what changes in the course of a training follows from it alone.
        """

    @abstractmethod
    def validate(self, network: nn.Module, settings: Settings) -> float:
        """Return the mean cost on fixed instances of the training's size, by the most probable choices."""

    @abstractmethod
    def solve(
        self, network: nn.Module, settings: Settings, instance: Instance, rng: Generator, time_limit_s: float
    ) -> State:
        """Return a solution, found on the device of `rng`.

        `time_limit_s` ends what may be repeated (samples); what the published inference does once is done.

        Raises
        ------
        UsageError
            The instance is of a kind or size that the method cannot take.
        """


def learned_method(name: str) -> LearnedMethod[Any]:
    """Return the method of that name.

    Raises
    ------
    UsageError
        There is none.
    """
    if name not in _PLACES:
        raise UsageError(f"no learned solver is called {name!r}; there are {', '.join(DOMAINS)}")
    module, _, kind = _PLACES[name].partition(":")
    method = getattr(import_module(f"dga2d.runtime.learned.{module}"), kind)()
    assert isinstance(method, LearnedMethod)
    return method


def device_named(name: str) -> torch.device:
    """Return the device ``cpu``, ``cuda`` or ``cuda:N``.

    Raises
    ------
    UsageError
        It has no such name, or torch sees no such device.
    """
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()) or name == "cpu:":
        raise UsageError(f"--device {name}: expected cpu, cuda or cuda:N")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise UsageError(
            f"--device {name}: torch {torch.__version__} sees {torch.cuda.device_count()} CUDA devices here; "
            "use --device cpu, or install a build of torch for CUDA"
        )
    return torch.device(name)


def device_in_words(device: torch.device) -> str:
    """Return what a device is, as results name it: its kind, and threads or the name of the card."""
    if device.type == "cuda":
        return f"{device} ({torch.cuda.get_device_name(device)})"
    threads = torch.get_num_threads()
    return f"cpu ({threads} thread{'' if threads == 1 else 's'})"
