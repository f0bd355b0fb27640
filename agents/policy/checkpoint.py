"""Parameters and optimiser state on disk, as safetensors files; never pickles."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from dga2d.agents.policy.errors import PolicyCheckpointError

FORMAT = "1"
KEY = "policy"
"""The one key of a file's metadata: with two, their order and so the file's digest would change."""
PARAMETERS = "parameters.safetensors"
OPTIMIZER = "optimizer.safetensors"


def tensor_digest(tensor: torch.Tensor) -> bytes:
    """Return the SHA-256 of dtype, shape and little-endian bytes."""
    values = tensor.detach().cpu().contiguous()
    digest = hashlib.sha256(f"{values.dtype} {tuple(values.shape)} ".encode())
    raw: Any = values.view(torch.uint8).flatten().numpy()
    digest.update(raw)
    return digest.digest()


def tensor_digests(tensors: Mapping[str, torch.Tensor]) -> dict[str, bytes]:
    """Return a digest per name. Tensors are hashed in threads: a 0.5B model has two gigabytes."""
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return dict(zip(tensors, pool.map(tensor_digest, tensors.values()), strict=True))


def combined_digest(digests: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over names and digests, sorted by name; 64 hex digits."""
    whole = hashlib.sha256()
    for name, digest in sorted(digests.items()):
        whole.update(name.encode() + b"\0" + digest)
    return whole.hexdigest()


def label(name: str, base_digest: str | None) -> str:
    """Return the text by which saved files name their policy, and adapters the digest of their base model."""
    return f"{name}, format {FORMAT}" + (f", adapters on {base_digest}" if base_digest else "")


def save(
    directory: Path, label: str, parameters: Mapping[str, torch.Tensor], optimizer: Mapping[str, torch.Tensor]
) -> None:
    """Write both files; each appears under its name only when it is complete."""
    directory.mkdir(parents=True, exist_ok=True)
    for file_name, tensors in ((PARAMETERS, parameters), (OPTIMIZER, optimizer)):
        partial = directory / f"{file_name}.partial"
        content = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
        save_file(content, partial, {KEY: label})
        partial.replace(directory / file_name)


def load(
    directory: Path, label: str, parameters: Mapping[str, torch.nn.Parameter]
) -> dict[str, torch.Tensor]:
    """Restore `parameters` in place; returns the optimiser state.

    Raises
    ------
    PolicyCheckpointError
        A file is missing or damaged, or belongs to another policy; all is then as before.
    """
    saved = _read(directory, PARAMETERS, label)
    optimizer = _read(directory, OPTIMIZER, label)
    if {k: v.shape for k, v in saved.items()} != {k: v.shape for k, v in parameters.items()}:
        raise PolicyCheckpointError(directory, "its parameters are not those of this model")
    with torch.no_grad():
        for key, parameter in parameters.items():
            parameter.copy_(saved[key])
    return optimizer


def _read(directory: Path, file_name: str, expected: str) -> dict[str, torch.Tensor]:
    path = directory / file_name
    if not path.is_file():
        raise PolicyCheckpointError(directory, f"{file_name} is missing")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors: dict[str, Any] = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PolicyCheckpointError(directory, f"{file_name} is damaged: {error}") from error
    found = metadata.get(KEY)
    if found != expected:
        raise PolicyCheckpointError(directory, f"{file_name} is of policy {found!r}, expected {expected!r}")
    return tensors
