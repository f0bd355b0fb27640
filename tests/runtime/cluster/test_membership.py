"""Which nodes evaluate, and what becomes of an evaluation whose node is lost; Ray itself is stood in for."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.registry import get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.cluster import pool as cluster_pool
from dga2d.runtime.cluster.connection import ClusterError, ClusterNode, connect, named_cluster
from dga2d.runtime.cluster.node import EvaluationNode, NodeOrder, NodeReport, Raw
from dga2d.runtime.cluster.pool import ClusterPool, NodeLostError
from dga2d.runtime.errors import SettingsError, UsageError
from dga2d.runtime.evaluation.answers import EvaluationFailure
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluator import local_workers
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.study.running import _check_shared

ALL = {"seccomp": "active", "landlock": "active"}
SMOKE = get_domain("tsp").smoke_instance()
REQUEST = EvaluationRequest(
    "evaluation/train/1/0/x",
    SMOKE,
    tuple(step.implementation for step in get_domain("tsp").basic_baseline()),
    (1,),
)


@dataclass
class Actor:
    """A node's actor: `answers` are given in turn, the last one for ever."""

    report: NodeReport = field(default_factory=lambda: NodeReport(None, ALL))
    answers: list[Raw | Exception] = field(default_factory=lambda: [EvaluationFailure("crashed", "as told")])
    asked: int = 0
    held: list[str] = field(default_factory=list)
    is_ended: bool = False

    def __post_init__(self) -> None:
        self.join = SimpleNamespace(remote=lambda workers: self._report)
        self.run = SimpleNamespace(remote=lambda request, name: self._run)
        self.hold = SimpleNamespace(remote=lambda name, instance: lambda: self._hold(name))

    async def _report(self) -> NodeReport:
        return self.report

    async def _run(self) -> Raw:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _hold(self, name: str) -> None:
        self.held.append(name)


@dataclass
class Cluster:
    """Nodes that come and go as a test wants."""

    actors: dict[str, Actor] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def alive(self) -> list[ClusterNode]:
        return [ClusterNode(name, "here", 1) for name in self.actors if name not in self.gone]

    def start(self, order: NodeOrder, node: ClusterNode) -> Actor:
        return self.actors[node.id]

    @asynccontextmanager
    async def pool(self) -> AsyncIterator[ClusterPool]:
        order = NodeOrder.of("tsp", EvaluationLimits(), "best-effort", None)
        async with anyio.create_task_group() as group:
            pool = ClusterPool(order, group)
            await pool.assemble()
            group.start_soon(pool.follow)
            yield pool
            group.cancel_scope.cancel()


async def _now(answer: Callable[[], Awaitable[Any]]) -> Any:
    return await answer()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(cluster_pool, "alive_nodes", made.alive)
    monkeypatch.setattr(cluster_pool, "_start", made.start)
    monkeypatch.setattr(cluster_pool, "_answer", _now)
    monkeypatch.setattr(cluster_pool, "_end", lambda actor: setattr(actor, "is_ended", True))
    monkeypatch.setattr(cluster_pool, "_LOOK_S", 0.01)
    return made


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.005)


async def test_a_lost_nodes_evaluation_is_asked_of_another_and_answered_once(cluster: Cluster) -> None:
    found = EvaluationFailure("timeout", "late")
    cluster.actors = {name: Actor(answers=[NodeLostError("power"), found]) for name in "ab"}
    async with cluster.pool() as pool:
        reply = await pool.evaluate(REQUEST)  # both are lost, and one of them joins again
        assert reply.failure == "timeout"
        assert sum(actor.asked for actor in cluster.actors.values()) == 3
        assert all(actor.is_ended for actor in cluster.actors.values())
        await until(lambda: pool.workers == 2)
        assert pool.busy == 0


async def test_instances_are_sent_to_a_node_that_lacks_them(cluster: Cluster) -> None:
    cluster.actors = {"a": Actor(answers=[None, EvaluationFailure("timeout", "late")])}
    async with cluster.pool() as pool:
        assert (await pool.evaluate(REQUEST)).failure == "timeout"
        assert (await pool.evaluate(REQUEST)).failure == "timeout"
    assert cluster.actors["a"].held == [f"{SMOKE.key} 0"]


async def test_an_evaluation_waits_while_there_is_no_node(cluster: Cluster) -> None:
    cluster.actors = {"a": Actor(answers=[NodeLostError("gone")])}
    async with cluster.pool() as pool:
        cluster.gone.add("a")
        async with anyio.create_task_group() as group:
            group.start_soon(pool.evaluate, REQUEST)
            await until(lambda: pool.workers == 0)
            cluster.actors["b"] = Actor()
            await until(lambda: cluster.actors["b"].asked == 1)
        assert pool.nodes == ("node b on here",)


async def test_what_ends_ten_nodes_is_a_crash_of_its_own(cluster: Cluster) -> None:
    cluster.actors = {str(number): Actor(answers=[NodeLostError("gone")]) for number in range(11)}
    async with cluster.pool() as pool:
        reply = await pool.evaluate(REQUEST)
    assert (reply.failure, reply.diagnostic) == ("crashed", "10 nodes were lost while they ran this task")


async def test_a_node_with_a_weaker_sandbox_is_refused(cluster: Cluster) -> None:
    cluster.actors = {"a": Actor()}
    async with cluster.pool() as pool:
        cluster.actors["b"] = Actor(NodeReport(None, {"seccomp": "not in this kernel", "landlock": "active"}))
        await until(lambda: cluster.actors["b"].is_ended)
        assert pool.workers == 1
        assert pool._refused["b"] == "its sandbox is weaker than that of the run: seccomp: not in this kernel"


async def test_the_log_names_the_layers_that_all_nodes_have(cluster: Cluster) -> None:
    cluster.actors = {"a": Actor(), "b": Actor(NodeReport(None, {**ALL, "landlock": "no"}))}
    async with cluster.pool() as pool:
        assert pool.sandbox_status == {"seccomp": "active", "landlock": "no"}
        assert pool.workers == 2


async def test_no_usable_node_is_an_error_with_every_reason(cluster: Cluster) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(ClusterError, match="no node of the Ray cluster offers")):
        async with cluster.pool():
            raise AssertionError
    cluster.actors = {"a": Actor(NodeReport("it has dga2d 1, the run 2")), "b": Actor(NodeReport("why"))}
    reasons = "node a on here: it has dga2d 1, the run 2; node b on here: why"
    with pytest.RaisesGroup(pytest.RaisesExc(ClusterError, match=reasons)):
        async with cluster.pool():
            raise AssertionError


async def test_another_version_of_the_program_is_refused_by_the_node() -> None:
    order = NodeOrder.of("tsp", EvaluationLimits(), "best-effort", None)
    report = await EvaluationNode(NodeOrder(**{**vars(order), "version": "0.1+abc"})).join(1)
    assert report.refusal is not None
    assert report.refusal.startswith("it has dga2d ")
    assert report.refusal.endswith(", the run 0.1+abc")
    file = NodeOrder(**{**vars(order), "problem_file": "/nowhere/roster.py"})
    report = await EvaluationNode(file).join(1)
    assert report.refusal is not None
    assert "there is no such file" in report.refusal


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nowhere", "is no address of a Ray cluster; expected HOST:PORT"),
        ("127.0.0.1:1", "no Ray cluster can be reached at 127.0.0.1:1 (connection refused)"),
        ("ray://127.0.0.1:10001", "Ray's client protocol is not supported"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_a_clear_error(address: str, said: str) -> None:
    with pytest.raises(ClusterError) as caught, connect(address, "--evaluators ray"):
        raise AssertionError
    assert said in str(caught.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with (
        pytest.raises(UsageError, match=r"--evaluators ray needs ray: pip install 'dga2d\[ray\]'"),
        connect("", "--evaluators ray"),
    ):
        raise AssertionError


def test_evaluators_are_a_number_or_a_cluster() -> None:
    assert make_settings({}, {"evaluators": "3"}).evaluators == 3
    assert make_settings({}, {"evaluators": "ray"}).evaluators == "ray"
    assert make_settings({}, {"evaluators": "ray:head:6379"}).evaluators == "ray:head:6379"
    assert local_workers(RunSettings(evaluators=3)) == 3
    assert local_workers(RunSettings(evaluators="ray")) >= 1
    for wrong in ("0", "ray:", "ray:head", "many", -1, 1.5, True):
        with pytest.raises(SettingsError, match="expected a number of processes above 0, 'ray' or"):
            make_settings({}, {"evaluators": wrong})


def test_a_database_in_a_file_serves_one_machine() -> None:
    here, there = (ClusterNode("id", host, 1) for host in (socket.gethostname(), "elsewhere"))
    _check_shared("sqlite+aiosqlite:///a.db", [here])
    _check_shared("postgresql+asyncpg://db/a", [here, there])
    with pytest.raises(ClusterError, match="is a file on this machine, which elsewhere cannot write to"):
        _check_shared("sqlite+aiosqlite:///a.db", [here, there])


def test_on_names_a_cluster() -> None:
    assert named_cluster("ray", "--on") == ""
    assert named_cluster("ray:head:6379", "--on") == "head:6379"
    with pytest.raises(UsageError, match="--on slurm: expected ray or ray:HOST:PORT"):
        named_cluster("slurm", "--on")
