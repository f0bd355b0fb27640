"""The problem domains by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from dga2d.domains.contract import Domain
from dga2d.domains.errors import UnknownDomainError

_MODULES = {
    "binpack3d": "dga2d.domains.binpack3d",
    "clp3d": "dga2d.domains.clp3d",
    "cvrp": "dga2d.domains.cvrp",
    "fjsp": "dga2d.domains.fjsp",
    "fssp": "dga2d.domains.fssp",
    "jsp": "dga2d.domains.jsp",
    "maxcut": "dga2d.domains.maxcut",
    "mis": "dga2d.domains.mis",
    "ossp": "dga2d.domains.ossp",
    "rcpsp": "dga2d.domains.rcpsp",
    "salbp1": "dga2d.domains.salbp1",
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
