"""The connection of this process to a Ray cluster. Ray itself is an optional extra and loads on first use."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from dga2d.replay.settings import CLUSTER
from dga2d.runtime.errors import UsageError, require_package

PREFIX = "ray"
_REACH_S = 10.0
"""Seconds in which the head of a cluster must answer a connection."""


class ClusterError(UsageError):
    """A Ray cluster cannot be reached, or none of its nodes can be used."""


class ClusterNode(NamedTuple):
    """A node that is alive."""

    id: str
    host: str
    cpus: int
    """Processors that it offers."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"node {self.id[:8]} on {self.host}"


def cluster_address(value: object) -> str | None:
    """Return the address in ``ray`` or ``ray:HOST:PORT``, empty without one; ``None`` for anything else."""
    return named_cluster(value, "evaluators") if isinstance(value, str) else None


def named_cluster(value: str, option: str) -> str:
    """Return the address that the value of an option names.

    Raises
    ------
    UsageError
        It is neither ``ray`` nor ``ray:HOST:PORT``.
    """
    if re.fullmatch(CLUSTER, value) is None:
        raise UsageError(f"{option} {value}: expected ray or ray:HOST:PORT")
    return value.removeprefix(PREFIX).removeprefix(":")


@contextmanager
def connect(address: str, purpose: str) -> Iterator[None]:
    """Connect to a cluster for the length of the block; blocks for seconds.

    Without an address it is that of ``RAY_ADDRESS``, or else the one that runs on this machine.

    Raises
    ------
    UsageError
        Ray is not installed; `purpose` says what needs it.
    ClusterError
        There is no cluster, it cannot be reached, or it runs other versions of Ray or Python.
    """
    require_package("ray", "ray", purpose)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # News of lost nodes, which Ray prints on stdout, where results are; they are told as log lines.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "^")
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    place = address or os.environ.get("RAY_ADDRESS", "auto")
    if place.startswith("ray://"):
        raise ClusterError(
            f"{place}: Ray's client protocol is not supported; start dga2d on a node of the cluster "
            "and give the address of its head, HOST:PORT"
        )
    _check_reachable(place)
    try:
        ray.init(address=place, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ClusterError(_reason(place, error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(place: str) -> None:
    """Raise ClusterError where nothing answers: Ray itself would try for a minute, then end the process."""
    if place == "auto":
        return
    host, separator, port = place.rpartition(":")
    if not separator or not port.isdecimal():
        raise ClusterError(f"{place!r} is no address of a Ray cluster; expected HOST:PORT")
    try:
        with closing(socket.create_connection((host, int(port)), _REACH_S)):
            pass
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ClusterError(
            f"no Ray cluster can be reached at {place} ({why.lower()}); `ray start --head` prints its address"
        ) from error


def _reason(place: str, error: Exception) -> str:
    text = " ".join(str(error).split())
    if "ersion mismatch" in text:
        return f"the Ray cluster at {place} runs other versions than this program: {text}"
    if place == "auto":
        return (
            "no Ray cluster runs on this machine; start one with `ray start --head`, or name another: "
            "ray:HOST:PORT"
        )
    return f"the Ray cluster at {place} cannot be used: {text[:500]}"


def alive_nodes() -> list[ClusterNode]:
    """Return the nodes of the cluster that offer processors; blocks for milliseconds."""
    import ray

    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [
        ClusterNode(node["NodeID"], node["NodeManagerHostname"], int(node["Resources"]["CPU"]))
        for node in nodes
        if node["Alive"] and node.get("Resources", {}).get("CPU", 0) >= 1
    ]
