"""Folded states kept beside the log, so that opening a long run costs its tail only.

A snapshot is a cache: it may be lost or wrong at any time, and then the log is folded from its beginning.
"""

from dga2d.replay.snapshots.cache import opened, save_snapshot

__all__ = ["opened", "save_snapshot"]
