"""The folder of compiled code."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_dir() -> Path:
    """Return the folder of compiled implementations: ``DGA2D_CACHE`` or the user's cache folder."""
    given = os.environ.get("DGA2D_CACHE")
    return Path(given) if given else user_cache_path("dga2d")


def is_cache_usable() -> bool:
    """Return whether compiled implementations can be kept, or their folder made; writes nothing."""
    folder = cache_dir().absolute()
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
