"""Saved states of a large policy: folders of safetensors files, addressed by digest, pruned to a few."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dga2d.agents.policy.contract import PipelinePolicy
from dga2d.agents.policy.errors import PolicyCheckpointError

_PARTIAL = "partial-"


@dataclass(frozen=True)
class SavedFiles:
    """A saved state: the name of its folder and its size."""

    digest: str
    """SHA-256 over names and SHA-256 digests of its files; 64 hex digits."""
    size_bytes: int


class PolicyArchive:
    """The saved states of one run below `folder`, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, policy: PipelinePolicy) -> SavedFiles:
        """Save the present state; its folder appears under its name only when all of it is on the disk.

        Raises
        ------
        PolicyCheckpointError
            The files cannot be written.
        """
        partial = self.folder / f"{_PARTIAL}{os.getpid()}"
        try:
            shutil.rmtree(partial, ignore_errors=True)
            policy.save(partial)
            files = sorted(partial.iterdir())
            for path in files:
                _flush(path)
            digest = _digest(files)
            size = sum(path.stat().st_size for path in files)
            target = self.folder / digest
            if target.is_dir():
                shutil.rmtree(partial)
            else:
                partial.rename(target)
            _flush(self.folder)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise PolicyCheckpointError(self.folder, f"cannot be written: {error.strerror}") from error
        return SavedFiles(digest, size)

    def load(self, policy: PipelinePolicy, digest: str) -> None:
        """Restore the state called `digest`.

        Raises
        ------
        PolicyCheckpointError
            It is missing, damaged, or of another model; `policy` is then as before.
        """
        target = self.folder / digest
        if not target.is_dir():
            raise PolicyCheckpointError(target, "it is missing")
        if _digest(sorted(target.iterdir())) != digest:
            raise PolicyCheckpointError(target, "its files are not those that were saved")
        policy.load_state(target)

    def prune(self, keep: Collection[str]) -> None:
        """Remove every saved state but those in `keep`, and what an interrupted save left."""
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.iterdir()):
            if path.name not in keep:
                shutil.rmtree(path)


def _digest(files: Collection[Path]) -> str:
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def _flush(path: Path) -> None:
    """Wait until a file or a folder's list of files is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
