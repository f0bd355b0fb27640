"""Domains that live in a file of their own instead of the registry."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import cast

from dga2d.domains.core.contract import Domain


def load_domain_file(path: Path) -> Domain:
    """The object ``DOMAIN`` of the Python file at `path`, which is trusted.

    Raises
    ------
    ImportError
        There is no such file, or it defines no ``DOMAIN``.
    """
    name = f"dga2d_domain_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise ImportError(f"no Python file at {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    domain = getattr(sys.modules[name], "DOMAIN", None)
    if domain is None:
        raise ImportError(f"{path} defines no DOMAIN")
    return cast(Domain, domain)
