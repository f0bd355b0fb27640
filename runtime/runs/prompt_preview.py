"""Preview of prompts: what a fresh run of a domain would ask, with the library's graph and zero credits."""

from __future__ import annotations

from typing import Literal

from dga2d.agents.proposing import tasks
from dga2d.agents.proposing.graphs import default_graph
from dga2d.domains.core.contract import Domain, Operator
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import UsageError

Kind = Literal["initialize", "implement-add", "implement-replace", "connect-replace", "connect-delta"]


def preview_task(
    domain: Domain, kind: Kind, operator: str | None, refused: str | None, settings: RunSettings
) -> tasks.Task:
    """Return the task behind a prompt.

    Parameters
    ----------
    operator
        Whose implementation is asked for; ``None`` for the first of the baseline that improves.
    refused
        Diagnostic of a refused answer; the prompt then asks for a repair.

    Raises
    ------
    UsageError
        The domain has no such operator.
    """
    if kind == "initialize":
        return _initialize(domain, refused, settings)
    if kind in ("implement-add", "implement-replace"):
        chosen = _operator(domain, operator)
        return _implement(domain, chosen, kind == "implement-replace", refused)
    return _connect(domain, kind == "connect-delta", refused, settings)


def _initialize(domain: Domain, refused: str | None, settings: RunSettings) -> tasks.InitializeTask:
    temperature = settings.temperature
    return tasks.InitializeTask(
        card=domain.card,
        operators=tuple(tasks.OperatorContract.of(operator) for operator in domain.operators()),
        bounds=tasks.HBounds(settings.operator_limit, 1, temperature, temperature),
        baseline=_baseline(domain),
        max_length=settings.max_length,
        diagnostic=refused,
        attempt=int(refused is not None),
    )


def _implement(domain: Domain, operator: Operator, is_full: bool, refused: str | None) -> tasks.ImplementTask:
    entries = tuple(tasks.PoolEntry(ImplementationId(i.id), i.source, 0.0) for i in operator.implementations)
    return tasks.ImplementTask(
        card=domain.card,
        operator=tasks.OperatorContract.of(operator),
        mode="replace" if is_full else "add",
        pool=entries,
        parent=max(entries, key=lambda entry: entry.id),
        removed=min(entry.id for entry in entries) if is_full else None,
        diagnostic=refused,
        attempt=int(refused is not None),
    )


def _connect(domain: Domain, is_delta: bool, refused: str | None, settings: RunSettings) -> tasks.ConnectTask:
    contracts = tasks.PromptContext.of(domain.card, domain.operators()).contracts
    graph = default_graph(contracts.values(), settings.operator_limit, _baseline(domain))
    edges = sorted(graph.edges)
    return tasks.ConnectTask(
        card=domain.card,
        operators=tuple(contracts[o] for o in graph.operators),
        edges=tuple(tasks.EdgeCredit(edge, 0.0) for edge in edges),
        remove=next(edge for edge in edges if edge[1] != "END"),
        mode="delta" if is_delta else "replace",
        max_length=settings.max_length,
        diagnostic=refused,
        attempt=int(refused is not None),
    )


def _baseline(domain: Domain) -> tuple[OperatorId, ...]:
    return tuple(OperatorId(step.operator) for step in domain.safe_baseline())


def _operator(domain: Domain, name: str | None) -> Operator:
    operators = {str(operator.id): operator for operator in domain.operators()}
    if name is None:
        improving = [step.operator for step in domain.safe_baseline()]
        return next(
            (operators[o] for o in improving if operators[o].requires != "none"), operators[improving[0]]
        )
    if name not in operators:
        raise UsageError(f"{domain.name} has no operator {name!r}; it has {', '.join(sorted(operators))}")
    return operators[name]
