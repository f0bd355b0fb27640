"""What runs on a node of the cluster: a warm, sandboxed evaluator pool, alive as long as the run.

Ray imports this module on the node, so what it finds there is the node's own version of the program.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Instance
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.plugins import domain_path, use_domain_path, use_problem_file
from dga2d.domains.core.registry import loaded_plugin
from dga2d.runtime.evaluation.answers import EvaluationFailure
from dga2d.runtime.evaluation.errors import EvaluationError
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.runs.code_version import present_version
from dga2d.runtime.user_files import cache_dir

INSTANCES_HELD = 64


@dataclass(frozen=True)
class NodeOrder:
    """What a node is told when it joins."""

    domain: str
    problem_file: str | None
    """File of a problem in one file, which must be at the same place on every node."""
    domain_path: tuple[str, ...]
    """Folders of plug-ins, likewise."""
    version: str
    """Of the program and of a plug-in, as the log names them."""
    limits: EvaluationLimits
    sandbox: SandboxMode
    budget: tuple[float, Literal["s", "work"]] | None

    @classmethod
    def of(
        cls,
        domain: str,
        limits: EvaluationLimits,
        sandbox: SandboxMode,
        budget: tuple[float, Literal["s", "work"]] | None,
    ) -> NodeOrder:
        """Return the order for a domain as this process knows it."""
        plugin = loaded_plugin(domain)
        file = None if plugin is None else plugin.plugin.file
        return cls(
            domain,
            None if file is None else str(file),
            tuple(map(str, domain_path())),
            present_version(domain),
            limits,
            sandbox,
            budget,
        )


@dataclass(frozen=True)
class NodeReport:
    """What a node says when it has joined, or why it cannot."""

    refusal: str | None = None
    sandbox_status: Mapping[str, str] | None = None


Raw = EvaluationFailure | dict[str, Any] | None
"""What came back from an evaluation, unverified, for the one who asked to judge; ``None`` where the node
does not hold the instance."""


class EvaluationNode:
    """The actor of one run on one node."""

    def __init__(self, order: NodeOrder) -> None:
        self._order = order
        self._pool: EvaluatorPool
        self._open = AsyncExitStack()
        self._instances: OrderedDict[str, Instance] = OrderedDict()

    async def join(self, workers: int) -> NodeReport:
        """Start the pool; the report says what its sandbox is made of, or why this node cannot be used."""
        order = self._order
        try:
            use_domain_path([Path(folder) for folder in order.domain_path])
            if order.problem_file is not None:
                use_problem_file(Path(order.problem_file))
            version = present_version(order.domain)
        except DomainError as error:
            return NodeReport(f"it has no usable domain {order.domain}: {error}")
        if version != order.version:
            return NodeReport(f"it has dga2d {version}, the run {order.version}")
        pool = EvaluatorPool(
            order.domain, workers, order.limits, order.sandbox, cache_dir(), budget=order.budget
        )
        try:
            self._pool = await self._open.enter_async_context(pool)
        except (EvaluationError, OSError) as error:
            return NodeReport(str(error))
        return NodeReport(None, self._pool.sandbox_status)

    async def hold(self, name: str, instance: Instance) -> None:
        """Keep an instance under a name for requests to come."""
        self._instances[name] = instance
        while len(self._instances) > INSTANCES_HELD:
            self._instances.popitem(last=False)

    async def run(self, request: EvaluationRequest, name: str) -> Raw:
        """Run `request` on the instance held under a name; its own is a stand-in."""
        if name not in self._instances:
            return None
        self._instances.move_to_end(name)
        return await self._pool.run(replace(request, instance=self._instances[name]))
