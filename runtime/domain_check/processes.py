"""A claim in another process, which broken compiled code may take with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from anyio import move_on_after, to_process

from dga2d.domains.claims import Examination, examine, scoring_claim
from dga2d.domains.core.contract import Domain, InstanceRef, State
from dga2d.domains.core.errors import describe_error
from dga2d.domains.core.plugins import load_again
from dga2d.domains.core.registry import get_domain, loaded_plugin

TIME_LIMIT_S = 180
"""Seconds that the claim may take, compilers included."""
Arrays: TypeAlias = tuple[Any, Mapping[str, Any]]
"""Sequence and metadata of a state."""


@dataclass(frozen=True)
class DomainAddress:
    """Where another process finds a domain."""

    name: str
    plugin: Mapping[str, str] | None
    """Address of a plug-in; ``None`` for a domain of the program."""

    @classmethod
    def of(cls, domain: Domain) -> DomainAddress:
        """Return the place of a domain that is known by its name."""
        plugin = loaded_plugin(domain.name)
        return cls(domain.name, None if plugin is None else plugin.address())

    def domain(self) -> Domain:
        """Return the domain, in the process that asks."""
        return get_domain(self.name) if self.plugin is None else load_again(self.plugin)


async def examine_elsewhere(domain: Domain, ref: InstanceRef | None, states: Sequence[State]) -> Examination:
    """Try in another process whether decoder and verifier agree on `states`.

    `ref` is their instance, ``None`` for the smoke instance.
    """
    arrays = [(state.sequence, dict(state.metadata)) for state in states]
    seen = None
    try:
        with move_on_after(TIME_LIMIT_S):
            seen = await to_process.run_sync(
                examine_scoring, DomainAddress.of(domain), ref, arrays, cancellable=True
            )
    except Exception as error:  # the process may have ended in any way
        return Examination("", (describe_error(error),))
    if seen is None:
        return Examination("", (f"nothing came back in {TIME_LIMIT_S} s: something runs on without end",))
    return seen


def examine_scoring(place: DomainAddress, ref: InstanceRef | None, arrays: Sequence[Arrays]) -> Examination:
    """Try the claim in this process."""
    domain = place.domain()
    instance = domain.smoke_instance() if ref is None else domain.load(ref)
    states = [State(sequence, dict(metadata)) for sequence, metadata in arrays]
    return examine(scoring_claim, domain, instance, states)
