"""A domain's picture and its model for OR-Tools: optional, and a plug-in's may fail in any way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dga2d.domains.core.contract import Domain, Instance, State
from dga2d.domains.core.errors import DomainError, DomainFaultError

if TYPE_CHECKING:
    from dga2d.domains.drawing import Picture

Result = TypeVar("Result")
PACKAGES = frozenset({"matplotlib", "mpl_toolkits", "ortools"})
"""Optional dependencies, whose absence is no fault of a domain."""


def draw_picture(domain: Domain, instance: Instance, state: State) -> Picture:
    """Return the domain's picture of a solution.

    Raises
    ------
    DomainFaultError
        Its code fails.
    DomainError
        The domain has no picture (`NotOfferedError`), or the state is no solution (`InvalidSolutionError`).
    ImportError
        It is drawn by matplotlib, and there is none.
    """
    return _of_domain(domain, "picture", lambda: domain.picture(instance, state))


def run_cp_sat(
    domain: Domain, instance: Instance, time_limit_s: float, seed: int, workers: int = 1
) -> State | None:
    """Return a solution by OR-Tools, found within wall-clock seconds; ``None`` if there was none in time.

    Raises
    ------
    DomainFaultError
        The domain's code fails.
    NotOfferedError
        The domain has no model for OR-Tools.
    ImportError
        There is no ``ortools``.
    """
    return _of_domain(
        domain, "model for OR-Tools", lambda: domain.cp_sat(instance, time_limit_s, seed, workers)
    )


def _of_domain(domain: Domain, part: str, call: Callable[[], Result]) -> Result:
    try:
        return call()
    except DomainError:
        raise
    except Exception as error:  # a plug-in's own code may raise anything
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in PACKAGES:
            raise
        raise DomainFaultError(domain.name, part, error) from error
