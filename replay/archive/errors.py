"""Errors of run files.

Dga2dError
└── ArchiveError   the file is not a run, damaged or incomplete; `place` says where
"""

from __future__ import annotations

from pathlib import Path

from dga2d.events.errors import Dga2dError


class ArchiveError(Dga2dError):
    """The file at `path` cannot be taken over; `place` is a member, or a line of one."""

    def __init__(self, path: Path, place: str, reason: str) -> None:
        self.path = path
        self.place = place
        self.reason = reason
        super().__init__(f"{path}: {place}: {reason}")
