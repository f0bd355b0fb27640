"""Kernels: functions that implementations share, and faster ones in their place."""

from __future__ import annotations

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads._shared import Seconds


class KernelCheck(Model):
    """Calls of a kernel, within one implementation as plain Python, that the new one was found equal on."""

    host: ImplementationId
    """It holds the kernel."""
    instance: InstanceKey
    """``group/name``; perhaps of the small instance on which all code is tried first."""
    calls: int
    """How many."""


class KernelPair(Model):
    """Two compiled runs of one implementation with the same random numbers and work, with either kernel."""

    host: ImplementationId
    """It holds the kernel."""
    instance: InstanceKey
    before_s: Seconds
    """Processor seconds with the kernel as it was."""
    after_s: Seconds
    """The same with the new one."""
    work: int
    """Work units that either charged."""


class KernelVersion(Model):
    """The text of a kernel from now on."""

    kernel: str
    source: BlobDigest
    """A module that holds it with what it needs."""


class KernelHost(Model):
    """An implementation that leaves its pool, and the same with the new kernel in its place."""

    operator: OperatorId
    removed: ImplementationId
    """With the old kernel."""
    implementation: ImplementationId
    source: BlobDigest


class KernelChosen(Payload, owner="kernel_evolver", operation="kernel-chosen/{generation}"):
    """A faster version of a kernel is asked for."""

    generation: int
    kernel: str
    """The function's name."""
    source: BlobDigest
    """Its present text."""
    hosts: tuple[ImplementationId, ...]
    """The implementations of the pools that hold it; those of the incumbent come first."""


class KernelMeasured(Payload, owner="kernel_evolver", operation="kernel-measured/{call}"):
    """An answer was held against the kernel as it is: observed, and never made again."""

    generation: int
    kernel: str
    call: int
    source: BlobDigest
    """The new text."""
    checks: tuple[KernelCheck, ...]
    """Where it was equal, call by call."""
    pairs: tuple[KernelPair, ...]
    """Empty where it was not equal."""
    stage: str
    """What it failed: ``unequal``, ``unchecked`` or ``compiled``; empty where it was equal."""
    diagnostic: str


class KernelReplaced(Payload, owner="kernel_evolver", operation="kernel-verdict/{generation}"):
    """A new kernel is equal and clearly faster: it stands in the texts of the pools that held the old one."""

    generation: int
    kernel: str
    call: int
    factor: float
    """Geometric mean, over the pairs of runs, of the old time by the new one."""
    versions: tuple[KernelVersion, ...]
    """The kernel, and others that use it."""
    replaced: tuple[KernelHost, ...]
    """They go on with the credits of what they replace: all they compute is the same."""


class KernelRejected(
    Payload, owner="kernel_evolver", operation="kernel-verdict/{generation}", completes_if="is_final"
):
    """An answer takes no kernel's place; `is_final` when no further one is asked for."""

    generation: int
    kernel: str
    call: int
    attempt: int
    stage: str
    diagnostic: str
    is_final: bool


class KernelsKept(Payload, owner="kernel_evolver", operation="kernel-verdict/{generation}"):
    """No kernel was asked for, or no answer could be had."""

    generation: int
    reason: str
