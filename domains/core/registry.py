"""The problem domains by name: those of the program, then plug-ins (:mod:`dga2d.domains.core.plugins`)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from dga2d.domains.core.contract import Domain
from dga2d.domains.core.errors import PluginClashError, UnknownDomainError
from dga2d.domains.core.plugins import LoadedPlugin, find_plugin, load, plugin_names

_MODULES = {
    "binpack3d": "dga2d.domains.binpack3d",
    "clp3d": "dga2d.domains.clp3d",
    "control": "dga2d.domains.control",
    "cvrp": "dga2d.domains.cvrp",
    "fjsp": "dga2d.domains.fjsp",
    "fssp": "dga2d.domains.fssp",
    "jsp": "dga2d.domains.jsp",
    "maxcut": "dga2d.domains.maxcut",
    "mis": "dga2d.domains.mis",
    "ode": "dga2d.domains.ode",
    "ossp": "dga2d.domains.ossp",
    "rcpsp": "dga2d.domains.rcpsp",
    "rootfind": "dga2d.domains.rootfind",
    "salbp1": "dga2d.domains.salbp1",
    "tsp": "dga2d.domains.tsp",
}

SOLVER_ENTRIES = (
    ("reader", "environment_of_file"),
    ("decoder", "make_decoder"),
    ("verifier", "verified_objective"),
    ("verifier", "solution_text"),
)
"""Module of a domain's package → function that ``dga2d solver`` puts into a solver file."""


ORACLE_ENTRIES = (
    ("oracle", "own_environment"),
    ("oracle", "own_oracle"),
    ("decoder", "make_decoder"),
    ("verifier", "own_verdict"),
    ("verifier", "solution_text"),
)
"""The same for a domain with an oracle, whose solver files are given a function."""


def domain_names() -> tuple[str, ...]:
    """Return the names of all domains, plug-ins included, sorted.

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
    """Return the domain called `name`; its module (and numba) is imported on first use.

    Raises
    ------
    UnknownDomainError
        No domain has that name.
    PluginError
        A plug-in of that name cannot be used.
    """
    plugin = loaded_plugin(name)
    return _built_in(name) if plugin is None else plugin.domain


def package_of(name: str) -> str | None:
    """Return the package of the program's own domain called `name`; ``None`` if it has none."""
    return _MODULES.get(name)


def loaded_plugin(name: str) -> LoadedPlugin | None:
    """Return the plug-in called `name`, imported; ``None`` for a domain of the program. Raises as
    `get_domain`.
    """
    plugin = find_plugin(name)
    if name in _MODULES:
        _refuse_clash(name)
        return None
    if plugin is None:
        raise UnknownDomainError(name, domain_names())
    return load(plugin)


def solver_entries(name: str) -> tuple[tuple[str, str], ...]:
    """Return the module and name of the functions that a solver file of the domain is made of.

    Each domain's package defines them in modules of the same names. Raises as `get_domain`.
    """
    plugin = loaded_plugin(name)
    package = _MODULES[name] if plugin is None else plugin.package
    has_oracle = hasattr(get_domain(name), "oracle_data")
    entries = ORACLE_ENTRIES if has_oracle else SOLVER_ENTRIES
    found = tuple((f"{package}.{module}".lstrip("."), function) for module, function in entries)
    return (*found, ("dga2d.domains.core.oracle", "with_record")) if has_oracle else found


@cache
def _built_in(name: str) -> Domain:
    return cast(Domain, import_module(_MODULES[name]).DOMAIN)


def _refuse_clash(name: str) -> None:
    plugin = find_plugin(name) if name in _MODULES else None
    if plugin is not None:
        raise PluginClashError(name, "a part of dga2d", plugin.where)
