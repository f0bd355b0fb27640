"""The identity of the program that writes a log: its version, the digest of its sources, and a plug-in's."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from dga2d import __version__

PACKAGES = ("agents", "domains", "events", "replay", "runtime", "store")
SUFFIXES = (".py", ".toml", ".md", ".txt", ".json", ".xz")


@cache
def code_version() -> str:
    """Return ``<version>+<first 12 hex digits of the SHA-256 over all source files>``."""
    digest = hashlib.sha256()
    root = files("dga2d")
    for package in PACKAGES:
        _add(root / package, package, digest)
    return f"{__version__}+{digest.hexdigest()[:12]}"


def present_version(domain: str) -> str:
    """Return what a log of the domain bears now: this program's version and, for a plug-in, its mark.

    Raises
    ------
    UnknownDomainError, PluginError
        There is no such domain, or it cannot be used.
    """
    return code_version() + plugin_mark(domain)


def plugin_mark(domain: str) -> str:
    """Return what a plug-in domain adds to the version: ``" <name>+<12 hex digits of its files' digest>"``.

    Empty for a domain of the program.

    Raises
    ------
    UnknownDomainError, PluginError
        There is no such domain, or it cannot be used.
    """
    from dga2d.domains.core.registry import loaded_plugin

    plugin = loaded_plugin(domain)
    return "" if plugin is None else f" {domain}+{plugin.digest[:12]}"


def recorded_mark(version: str) -> str:
    """Return what a plug-in domain added to a recorded version."""
    _, blank, mark = version.partition(" ")
    return blank + mark


def plugin_change(version: str, domain: str) -> str | None:
    """Return in words how a plug-in differs from that of a recorded version; ``None`` if it does not.

    Raises
    ------
    UnknownDomainError, PluginError
        There is no such domain, or it cannot be used.
    """
    then, now = recorded_mark(version).strip(), plugin_mark(domain).strip()
    if then == now:
        return None
    return f"the domain {domain} was changed since (then {then or 'a part of the program'}, now {now})"


def _add(folder: Traversable, name: str, digest: hashlib._Hash) -> None:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                _add(entry, path, digest)
        elif entry.name.endswith(SUFFIXES):
            digest.update(f"{path}\0".encode())
            digest.update(entry.read_bytes())
            digest.update(b"\0")
