"""Isolated evaluation of untrusted candidate programs.

A pool of *zygotes* (warm interpreters started by exec with a clean environment) forks one sealed child per
evaluation. The child returns a solution as plain bytes; the parent verifies it with the domain's independent
verifier and computes the objective itself.

The zygotes import this package too, so what belongs to the parent (anyio, the domains) loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dga2d.runtime.evaluation.errors import (
        EvaluationError,
        PoolClosedError,
        SandboxUnavailableError,
        WireError,
        WorkerStartError,
    )
    from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
    from dga2d.runtime.evaluation.pool import EvaluatorPool
    from dga2d.runtime.evaluation.worker import probe_sandbox

__all__ = [
    "EvaluationError",
    "EvaluationLimits",
    "EvaluatorPool",
    "PoolClosedError",
    "SandboxMode",
    "SandboxUnavailableError",
    "WireError",
    "WorkerStartError",
    "probe_sandbox",
]

_HOMES = {
    "probe_sandbox": "worker",
    "EvaluationError": "errors",
    "PoolClosedError": "errors",
    "SandboxUnavailableError": "errors",
    "WireError": "errors",
    "WorkerStartError": "errors",
    "EvaluationLimits": "limits",
    "SandboxMode": "limits",
    "EvaluatorPool": "pool",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
