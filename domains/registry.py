"""The problem domains by name: those of the program, then plug-ins (:mod:`dga2d.domains.plugins`)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from dga2d.domains.contract import Domain
from dga2d.domains.errors import PluginClashError, UnknownDomainError
from dga2d.domains.plugins import LoadedPlugin, find_plugin, load, plugin_names

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
    """Names of all domains, plug-ins included, sorted.

    Raises
    ------
    PluginError
        A plug-in's name is not allowed or taken.
    """
    names = plugin_names()
    for name in names:
        _refuse_clash(name)
    return tuple(sorted({*_MODULES, *names}))


def get_domain(name: str) -> Domain:
    """The domain called `name`; its module (and numba) is imported on first use.

    Raises
    ------
    UnknownDomainError
        No domain has that name.
    PluginError
        A plug-in of that name cannot be used.
    """
    plugin = loaded_plugin(name)
    return _built_in(name) if plugin is None else plugin.domain


def loaded_plugin(name: str) -> LoadedPlugin | None:
    """The plug-in called `name`, imported; ``None`` for a domain of the program. Raises as `get_domain`."""
    plugin = find_plugin(name)
    if name in _MODULES:
        _refuse_clash(name)
        return None
    if plugin is None:
        raise UnknownDomainError(name, domain_names())
    return load(plugin)


def standalone_module(name: str) -> str:
    """Module with the functions that a solver file of the domain is made of. Raises as `get_domain`."""
    plugin = loaded_plugin(name)
    return f"{_MODULES[name]}.standalone" if plugin is None else plugin.standalone


@cache
def _built_in(name: str) -> Domain:
    return cast(Domain, import_module(_MODULES[name]).DOMAIN)


def _refuse_clash(name: str) -> None:
    plugin = find_plugin(name) if name in _MODULES else None
    if plugin is not None:
        raise PluginClashError(name, "a part of dga2d", plugin.where)
