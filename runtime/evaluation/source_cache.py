"""Where implementations lie on disk: ``<cache>/<digest>/impl_<digest12>.py`` and numba's cache beside it.

The text there only names lines in tracebacks and dates numba's cache; what runs is the text in the task.
"""

from __future__ import annotations

import os
from pathlib import Path

from dga2d.domains.core.contract import Implementation


class SourceCache:
    """The folders of all implementations below `root`, private to the user."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def place(self, implementation: Implementation) -> Path:
        """Path of the implementation's file, written if it is missing or was changed."""
        folder = self.root / implementation.digest
        path = folder / f"impl_{implementation.digest[:12]}.py"
        text = implementation.source.encode()
        if not path.is_file() or path.read_bytes() != text:
            (folder / "__pycache__").mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.partial")
            partial.write_bytes(text)
            partial.replace(path)
        return path

    @staticmethod
    def machine_code(path: Path) -> Path:
        """Folder of numba's cache for the implementation at `path`."""
        return path.parent / "__pycache__"
