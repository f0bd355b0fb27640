"""Methods by name: those that are shipped, those of installed packages, and classes of any module."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from dga2d.agents.methods.contract import Method
from dga2d.events import Dga2dError

GROUP = "dga2d.methods"
"""Entry points of installed packages: a name, and the class of a method."""
SHIPPED = {
    "random": "dga2d.agents.methods.random_search:RandomSearch",
    "eoh": "dga2d.agents.methods.eoh:EvolutionOfHeuristics",
    "reevo": "dga2d.agents.methods.reevo:ReflectiveEvolution",
    "mcts-ahd": "dga2d.agents.methods.mcts_ahd:TreeOfHeuristics",
    "meoh": "dga2d.agents.methods.meoh:MultiObjectiveEvolution",
    "tree": "dga2d.agents.methods.tree_search:ProgramTreeSearch",
}
"""Name → class, imported when it is used."""


class MethodError(Dga2dError, ValueError):
    """There is no such method."""


def method_names() -> tuple[str, ...]:
    """Return the names of all methods, ``dga2d`` first."""
    installed = {entry.name for entry in entry_points(group=GROUP)}
    return ("dga2d", *sorted({*SHIPPED, *installed}))


@cache
def get_method(name: str) -> Method:
    """Return a method of complete programs by its name, or by ``MODULE:CLASS``.

    Raises
    ------
    MethodError
        There is none of that name, or its class cannot be imported or made without arguments.
    """
    target = SHIPPED.get(name)
    if target is None:
        target = next((entry.value for entry in entry_points(group=GROUP) if entry.name == name), name)
    module, _, attribute = target.partition(":")
    if not attribute:
        raise MethodError(f"method {name!r}: expected {', '.join(method_names())}, or MODULE:CLASS")
    try:
        method: Method = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise MethodError(f"method {name!r}: {error}") from error
    if missing := [part for part in ("variations", "plan", "update", "notes") if not hasattr(method, part)]:
        raise MethodError(f"method {name!r}: {attribute} has no {', '.join(missing)}")
    return method
