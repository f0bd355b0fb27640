"""The evaluator pool of a run on the nodes of a Ray cluster."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Instance
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.cluster.connection import ClusterError, ClusterNode, alive_nodes, connect
from dga2d.runtime.cluster.node import EvaluationNode, NodeOrder, NodeReport, Raw
from dga2d.runtime.evaluation.answers import failure_reply, verdict
from dga2d.runtime.evaluation.pool import urgency
from dga2d.runtime.evaluation.sandbox.probe import ACTIVE
from dga2d.runtime.evaluation.worker_pool import SlotQueue
from dga2d.runtime.terminal.diagnostics import logger

_LOOK_S = 0.5
"""Seconds between two looks at which nodes there are."""
_FIRST_S = 600.0
"""Seconds in which one of the nodes present at the start must have joined."""
_OTHERS_S = 60.0
"""Seconds that the first then waits for the others, which may still join later."""
_GLANCE_S = 0.05
_ALONE_S = 600.0
"""Seconds that a run waits without any node before it gives up; it can be resumed."""
_LOSSES = 10
"""Times that the node of one evaluation may be lost: nodes come and go, but what ends ten is no chance."""
_ENDS = 5
"""Times that a node which is alive may lose its actor, say for want of memory, before it is left out."""


@dataclass(eq=False)
class _Member:
    """A node that has joined, or tries to."""

    node: ClusterNode
    actor: Any
    is_gone: bool = False
    running: int = 0


@dataclass
class _Named:
    """An instance under the name by which nodes hold it."""

    instance: Instance
    name: str


class NodeLostError(Exception):
    """The node or its actor was gone before the evaluation had ended."""


@dataclass
class ClusterPool:
    """Evaluates on every node that has joined. The verdict on a solution is reached here, in this process.

    An evaluation whose node is lost is asked of another one; whoever asked gets one reply.
    """

    order: NodeOrder
    group: TaskGroup
    _domain: Domain = field(init=False)
    _slots: SlotQueue[_Member] = field(default_factory=SlotQueue)
    _members: dict[str, _Member] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)
    """Node → why it is left out."""
    _troubles: dict[str, list[str]] = field(default_factory=dict)
    """Node → why it was lost, each time."""
    _status: dict[str, str] | None = None
    _named: dict[str, _Named] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self._domain = get_domain(self.order.domain)

    # ---------------------------------------------------------------- what a run needs

    @property
    def sandbox_status(self) -> dict[str, str]:
        """Layers of the sandbox that every node has had from the start, or why one has not."""
        return dict(self._status or {})

    @property
    def workers(self) -> int:
        """Number of evaluations that can run at the same time, now."""
        return sum(member.node.cpus for member in self._joined)

    @property
    def busy(self) -> int:
        """Number of evaluations under way."""
        return sum(member.running for member in self._joined)

    @property
    def compiling(self) -> int:
        """Not known of nodes: each compiles for itself."""
        return 0

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have joined, as messages call them."""
        return tuple(member.node.name for member in self._joined)

    @property
    def _joined(self) -> list[_Member]:
        return [member for member in self._members.values() if member.actor is not None]

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        """Run `request` on a node and verify here what comes back."""
        for _ in range(_LOSSES):
            member = await self._slots.take(urgency(request, self.order.budget))
            if member.is_gone:  # its slot goes with it
                continue
            member.running += 1
            try:
                ended = await self._ask(member, request)
            except NodeLostError as error:
                self._lose(member, str(error))
                continue
            finally:
                member.running -= 1
                if not member.is_gone:
                    self._slots.give(member)
            return await verdict(self._domain, request, ended)
        return failure_reply("crashed", f"{_LOSSES} nodes were lost while they ran this task")

    # ---------------------------------------------------------------- one node

    async def _ask(self, member: _Member, request: EvaluationRequest) -> Any:
        named = self._name(request.instance)
        sent = replace(request, instance=replace(named.instance, data={}, reference=None))
        while True:
            raw: Raw = await _answer(member.actor.run.remote(sent, named.name))
            if raw is not None:
                return raw
            await _answer(member.actor.hold.remote(named.name, named.instance))

    def _name(self, instance: Instance) -> _Named:
        named = self._named.get(instance.key)
        if named is None or named.instance is not instance:
            named = _Named(instance, f"{instance.key} {next(self._numbers)}")
            self._named[instance.key] = named
        return named

    def _lose(self, member: _Member, reason: str) -> None:
        if member.is_gone:
            return
        member.is_gone = True
        node = member.node
        self._members.pop(node.id, None)
        troubles = self._troubles.setdefault(node.id, [])
        troubles.append(reason)
        logger().warning("node lost", node=node.name, reason=reason)
        if len(troubles) >= _ENDS:
            self._refuse(node, f"it was lost {_ENDS} times, at last: {reason}")
        _end(member.actor)

    def _refuse(self, node: ClusterNode, reason: str) -> None:
        self._refused[node.id] = reason
        logger().warning("node refused", node=node.name, reason=reason)

    # ---------------------------------------------------------------- membership

    async def assemble(self) -> None:
        """Have the nodes join that are there.

        Raises
        ------
        ClusterError
            None of them could.
        """
        nodes = await to_thread.run_sync(alive_nodes)
        reports: dict[str, NodeReport] = {}
        async with anyio.create_task_group() as group:
            for node in nodes:
                group.start_soon(self._invite, node, reports)
            scope = group.cancel_scope
            scope.deadline = anyio.current_time() + _FIRST_S
            while not reports and len(self._refused) + len(self._troubles) < len(nodes):
                await anyio.sleep(_GLANCE_S)
            scope.deadline = anyio.current_time() + _OTHERS_S
        statuses = [report.sandbox_status for report in reports.values() if report.sandbox_status]
        if not statuses:
            raise ClusterError(self._nobody(nodes))
        self._status = _common(statuses)
        for node in nodes:
            if (report := reports.get(node.id)) is not None:
                self._admit(node, report)
            else:
                self._members.pop(node.id, None)

    def _nobody(self, nodes: list[ClusterNode]) -> str:
        if not nodes:
            return "no node of the Ray cluster offers processors; start one: `ray start --address=HOST:PORT`"
        listed = "; ".join(f"{node.name}: {self._trouble(node)}" for node in nodes)
        return f"no node of the Ray cluster can evaluate: {listed}"

    def _trouble(self, node: ClusterNode) -> str:
        taken = ["its processors are taken by others"]
        return self._refused.get(node.id) or self._troubles.get(node.id, taken)[-1]

    async def follow(self) -> None:
        """Let nodes join that come later, and take leave of those that are gone.

        Raises
        ------
        ClusterError
            No node was there for ten minutes.
        """
        last_seen = anyio.current_time()
        while True:
            nodes = {node.id: node for node in await to_thread.run_sync(alive_nodes)}
            for name in [name for name in self._members if name not in nodes]:
                self._lose(self._members[name], "the cluster says that it is gone")
            for node in nodes.values():
                if node.id not in self._members and node.id not in self._refused:
                    self._members[node.id] = _Member(node, None)
                    self.group.start_soon(self._join, node)
            now = anyio.current_time()
            last_seen = now if self._joined else last_seen
            if now - last_seen > _ALONE_S:
                raise ClusterError(f"the Ray cluster has had no usable node for {_ALONE_S:g} s")
            await anyio.sleep(_LOOK_S)

    async def _join(self, node: ClusterNode) -> None:
        reports: dict[str, NodeReport] = {}
        await self._invite(node, reports)
        if node.id in reports:
            self._admit(node, reports[node.id])

    async def _invite(self, node: ClusterNode, reports: dict[str, NodeReport]) -> None:
        """Start the actor of a node, which waits for its processors if they are taken."""
        member = _Member(node, None)
        self._members[node.id] = member
        actor = _start(self.order, node)
        try:
            report: NodeReport = await _answer(actor.join.remote(node.cpus))
        except NodeLostError as error:
            member.actor = actor
            self._lose(member, str(error))
            return
        except BaseException:
            _end(actor)
            raise
        if report.refusal is not None:
            self._members.pop(node.id, None)
            self._refuse(node, report.refusal)
            _end(actor)
            return
        member.actor = actor
        reports[node.id] = report

    def _admit(self, node: ClusterNode, report: NodeReport) -> None:
        """Give a node's slots to those that wait, unless its sandbox is weaker than the run began with."""
        member = self._members.get(node.id)
        if member is None or member.is_gone:
            return
        weaker = _weaker(report.sandbox_status or {}, self._status or {})
        if weaker:
            self._members.pop(node.id)
            self._refuse(node, f"its sandbox is weaker than that of the run: {weaker}")
            _end(member.actor)
            return
        logger().info("node joined", node=node.name, workers=node.cpus)
        for _ in range(node.cpus):
            self._slots.give(member)


def _common(statuses: list[Mapping[str, str]]) -> dict[str, str]:
    """Return the layers that all have; of others the first reason why not."""
    layers = {layer: state for status in statuses for layer, state in status.items()}
    for status in reversed(statuses):
        layers |= {layer: state for layer, state in status.items() if state != ACTIVE}
    return layers


def _weaker(status: Mapping[str, str], asked: Mapping[str, str]) -> str:
    """Return the layers that are asked for and that `status` lacks, with the reasons."""
    lacking = {
        layer: status.get(layer, "missing")
        for layer, state in asked.items()
        if state == ACTIVE and status.get(layer) != ACTIVE
    }
    return "; ".join(f"{layer}: {reason}" for layer, reason in lacking.items())


def _start(order: NodeOrder, node: ClusterNode) -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node.id, soft=False)
    kind = ray.remote(EvaluationNode)
    return kind.options(scheduling_strategy=there, num_cpus=node.cpus, max_restarts=0).remote(order)


def _end(actor: Any) -> None:
    import ray

    if actor is not None:
        ray.kill(actor, no_restart=True)


async def _answer(reference: Any) -> Any:
    """Return what a call of an actor returns; cancelling ends the call.

    Raises
    ------
    NodeLostError
        The actor is gone, or fails in a way that is not the request's.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return await reference
    except RayTaskError as error:
        raise NodeLostError(str(error.cause).strip() or type(error.cause).__name__) from error
    except RayError as error:
        raise NodeLostError(str(error).strip().splitlines()[-1].strip()) from error
    except anyio.get_cancelled_exc_class():
        ray.cancel(reference)
        raise


@asynccontextmanager
async def open_cluster_pool(address: str, order: NodeOrder) -> AsyncIterator[ClusterPool]:
    """Connect to a Ray cluster and have its nodes evaluate for the length of the block.

    Raises
    ------
    UsageError
        Ray is not installed.
    ClusterError
        The cluster cannot be reached, or none of its nodes can be used.
    """
    with ExitStack() as stack:
        await to_thread.run_sync(stack.enter_context, connect(address, "--evaluators ray"))
        async with anyio.create_task_group() as group:
            pool = ClusterPool(order, group)
            await pool.assemble()
            group.start_soon(pool.follow)
            try:
                yield pool
            finally:
                group.cancel_scope.cancel()
