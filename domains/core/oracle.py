"""What numerical problems are asked through: functions that are counted where no candidate can write.

A domain with an oracle keeps what it is about (a function, a right-hand side, a plant) out of the process
that runs candidates. They ask it by rows of numbers; it answers, and what it counted becomes a part of the
solution that the domain's verifier reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Domain, State
from dga2d.domains.core.errors import OracleRefusedError

Ask = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Asks an oracle: questions float64 `(k, m)`, one a row, to answers float64 `(k, p)`.

Raises OracleRefusedError where the oracle answers no more.
"""
MEASURED = "measured_"
"""What the names of an oracle's record begin with in the metadata of a state; a candidate's own are
dropped."""


class Oracle(Protocol):
    """One instance's function, and what was asked of it. One question at a time.

    A module ``oracle`` of the domain's package gives it: ``make_oracle(data)``, of what
    `OracleDomain.oracle_data` returned. It is compiled when it is returned: the sealed process that asks it
    may not read numba's cache.
    """

    def answer(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64 `(k, p)` for questions `(k, m)`, one a row, and count them.

        Nothing is known of the questions but their type: any shape, infinite numbers and NaN may come.

        Raises
        ------
        OracleRefusedError
            It answers no more, or the questions have a shape that it does not take.
        """
        ...

    def record(self) -> dict[str, Any]:
        """Return what was counted and measured: plain values and arrays by name."""
        ...


class OracleDomain(Domain, Protocol):
    """A domain whose candidates ask an oracle.

    Its decoder has, besides, ``connect(ask)``, which is called once before a run.
    """

    def oracle_data(self, instance: Any) -> dict[str, Any]:
        """Return what the oracle of an instance is made of, and candidates never see: values as those of
        `Domain.environment`.
        """
        ...


def oracle_data(domain: Domain, instance: Any) -> dict[str, Any] | None:
    """Return what the oracle of an instance is made of; ``None`` where the domain has no oracle."""
    found: Callable[[Any], dict[str, Any]] | None = getattr(domain, "oracle_data", None)
    return None if found is None else found(instance)


def with_record(state: State, record: Mapping[str, Any]) -> State:
    """Return `state` with an oracle's record in its metadata, in place of anything of such names."""
    own = {
        name: value
        for name, value in state.metadata.items()
        if not (isinstance(name, str) and name.startswith(MEASURED))
    }
    return State(state.sequence, {**own, **{f"{MEASURED}{name}": value for name, value in record.items()}})


__all__ = ["MEASURED", "Ask", "Oracle", "OracleDomain", "OracleRefusedError", "oracle_data", "with_record"]
