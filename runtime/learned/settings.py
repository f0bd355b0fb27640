"""What a learned solver is trained with, and how random numbers are drawn."""

from __future__ import annotations

import hashlib

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator


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
