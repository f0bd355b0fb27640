"""Optional dependencies, asked for where they are needed."""

from __future__ import annotations

import importlib.util

from dga2d.runtime.errors import UsageError


def require_package(package: str, extra: str, purpose: str) -> None:
    """Raise UsageError where an optional dependency is not installed."""
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"{purpose} needs {package}: pip install 'dga2d[{extra}]'")
