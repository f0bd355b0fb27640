"""Runs as single files: written, read and verified in constant memory (`docs/reference/export-format.md`)."""

from dga2d.replay.archive._export import export_run
from dga2d.replay.archive._format import BLOBS, EVENTS, MANIFEST, ArchiveError, Manifest
from dga2d.replay.archive._import import import_run

__all__ = ["BLOBS", "EVENTS", "MANIFEST", "ArchiveError", "Manifest", "export_run", "import_run"]
