"""The texts of kernels and pools, and what they become with a kernel replaced."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.kernel_code import holds_kernel, replace_kernel
from dga2d.domains.core.contract import Implementation
from dga2d.domains.source_rules import check_source
from dga2d.events import ImplementationId, OperatorId, blob_digest
from dga2d.events.payloads import KernelHost, Step
from dga2d.replay.state.run_state import RunState

PoolTexts = Mapping[ImplementationId, Implementation]
"""The members of all pools, by operator and id."""


async def read_pools(state: RunState, sources: SourceReader) -> PoolTexts:
    """Return the members of all pools, sorted by operator and id."""
    return {
        name: await sources.implementation(state, Step(operator=operator, implementation=name))
        for operator, pool in sorted(state.pools.items())
        for name in pool
    }


async def kernel_texts(state: RunState, sources: SourceReader) -> dict[str, str]:
    """Return the present texts of the kernels, by name."""
    return {
        name: (await sources.blobs.get_blob(digest)).decode()
        for name, digest in sorted(state.kernels.items())
    }


async def offered_kernels(state: RunState, sources: SourceReader) -> dict[str, str]:
    """Return the texts of the kernels that code may import now, by name."""
    return {} if state.settings.kernels == "off" else await kernel_texts(state, sources)


def change_texts(
    state: RunState, pools: PoolTexts, old: str, new: str, name: str
) -> tuple[tuple[KernelHost, ...], list[bytes]]:
    """Return the members of the pools that hold the kernel `old`, each with the same text with `new`, and
    these texts. What the new kernel does not fit into, or what was in the run before, is left as it is."""
    hosts, texts, known = list[KernelHost](), list[bytes](), set[str]()
    for member, implementation in pools.items():
        if not holds_kernel(implementation.source, old, name):
            continue
        try:
            source = replace_kernel(implementation.source, old, new, name)
        except ProposalError:
            continue
        changed = Implementation(implementation.operator, source, origin=f"kernel:{name}")
        is_known = ImplementationId(changed.id) in state.operator_of or changed.id in known
        if is_known or check_source(source):
            continue
        known.add(changed.id)
        texts.append(source.encode())
        hosts.append(
            KernelHost(
                operator=OperatorId(implementation.operator),
                removed=member,
                implementation=ImplementationId(changed.id),
                source=blob_digest(texts[-1]),
            )
        )
    return tuple(hosts), texts


def change_kernels(kernels: Mapping[str, str], old: str, new: str, name: str) -> dict[str, str]:
    """Return the kernel's new text, and those of other kernels that use it."""
    found = {name: new}
    for other, text in kernels.items():
        if other == name or not holds_kernel(text, old, name):
            continue
        with suppress(ProposalError):  # a name that clashes: that one stays as it is
            found[other] = replace_kernel(text, old, new, name)
    return found
