"""What the program keeps for its user: compiled code, and secrets, made on first use and readable by nobody
else.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path, user_data_path


def cache_dir() -> Path:
    """Return the folder of compiled implementations: ``DGA2D_CACHE`` or the user's cache folder."""
    given = os.environ.get("DGA2D_CACHE")
    return Path(given) if given else user_cache_path("dga2d")


def is_cache_usable() -> bool:
    """Return whether compiled implementations can be kept, or their folder made; writes nothing."""
    folder = cache_dir().absolute()
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


KEY_BYTES = 32


def user_key(purpose: str) -> bytes | None:
    """Return the user's key for `purpose`, the same in every process; ``None`` where none can be kept.

    It lies in the user's own data folder, away from any database, so that nobody who may write a database can
    read it. A key that others may read or write proves nothing and is replaced; what it sealed is then made
    again.
    """
    path = user_data_path("dga2d") / "keys" / f"{purpose}.key"
    try:
        return _kept_key(path) or _make_key(path)
    except OSError:
        return None


def _kept_key(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            key = file.read(KEY_BYTES + 1)
    except FileNotFoundError:
        return None
    is_private = os.name == "nt" or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
    if is_private and len(key) == KEY_BYTES:
        return key
    path.unlink(missing_ok=True)
    return None


def _make_key(path: Path) -> bytes | None:
    """Make a key, unless another process is quicker; it appears whole, and once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_suffix(f".{secrets.token_hex(8)}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):
            os.link(partial, path)
    finally:
        partial.unlink()
    return _kept_key(path)
