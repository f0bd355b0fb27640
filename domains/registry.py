"""The problem domains by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from dga2d.domains.contract import Domain
from dga2d.domains.errors import UnknownDomainError

_MODULES = {
    "fssp": "dga2d.domains.fssp",
    "jsp": "dga2d.domains.jsp",
    "ossp": "dga2d.domains.ossp",
    "tsp": "dga2d.domains.tsp",
}


def domain_names() -> tuple[str, ...]:
    """Names of all domains, sorted."""
    return tuple(sorted(_MODULES))


@cache
def get_domain(name: str) -> Domain:
    """The domain called `name`; its module (and numba) is imported on first use.

    Raises
    ------
    UnknownDomainError
        No domain has that name.
    """
    if name not in _MODULES:
        raise UnknownDomainError(name, domain_names())
    return cast(Domain, import_module(_MODULES[name]).DOMAIN)
