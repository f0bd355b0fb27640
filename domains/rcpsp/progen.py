"""Random projects in the manner of ProGen, with control over network complexity and scarcity.

Networks have three start and three finish activities and at most three successors and three predecessors per
activity, no redundant arc, and NC · (n + 2) arcs, dummies included. Durations and requests are uniform on
1..10. RF is the share of resources an activity uses on average, RS places each capacity between the largest
single request (0) and the peak of the earliest start schedule (1).

References
----------
R. Kolisch, A. Sprecher, A. Drexl, Characterization and generation of a general class of resource-constrained
project scheduling problems, Management Science 41(10), 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import InstanceRef, Part, Reference
from dga2d.domains.core.published import shipped_refs
from dga2d.domains.rcpsp.project import Project
from dga2d.domains.shared.lehmer import LehmerGenerator

N_RESOURCES = 4
N_ENDS = 3
"""Start activities, and finish activities."""
MAX_DEGREE = 3
"""Most predecessors or successors of an activity, dummies apart."""
LARGEST = 10
"""Largest duration and request."""


class Design(NamedTuple):
    """What the program needs to make an instance again."""

    group: str
    name: str
    n_activities: int
    """Dummies not counted."""
    complexity: float
    """NC: arcs per activity."""
    factor: float
    """RF: share of the resources that an activity uses on average."""
    strength: float
    """RS: 0 scarce, 1 plentiful."""
    seed: int
    part: Part | None = None

    def project(self) -> Project:
        """Return the instance; the same on every machine."""
        random = LehmerGenerator(self.seed)
        network = _network(self.n_activities, self.complexity, random)
        n = self.n_activities + 2
        durations, requests = np.zeros(n, np.int32), np.zeros((n, N_RESOURCES), np.int32)
        durations[1:-1] = [random.uniform(1, LARGEST) for _ in range(self.n_activities)]
        for cell in _choose_used(self.n_activities, self.factor, random):
            requests[1 + cell // N_RESOURCES, cell % N_RESOURCES] = random.uniform(1, LARGEST)
        edges = np.array(sorted(network.arcs), np.int32)
        low, peak = requests.max(axis=0), _peak(durations, requests, edges)
        capacities = low + np.floor(self.strength * (peak - low) + 0.5)
        return Project(durations, requests, capacities.astype(np.int32), edges)


_LEVELS = {
    30: ((1.5, 1.8, 2.1), (0.25, 0.5, 0.75, 1.0), (0.2, 0.5, 0.7, 1.0)),
    60: ((1.5, 1.8, 2.1), (0.5, 1.0), (0.2, 0.5)),
    90: ((1.5, 1.8, 2.1), (0.5, 1.0), (0.2, 0.5)),
    120: ((1.5, 1.8, 2.1), (0.5, 1.0), (0.2, 0.4)),
}
"""Number of activities → levels of NC, RF and RS, fully crossed (those of PSPLIB's j30; the hard part of
them for the larger sizes)."""
_SCARCE = ((1.5, 1.8, 2.1), (0.5, 0.75, 1.0), (0.1, 0.2))
"""Levels of NC, RF and RS of 120 activities that compete hardest, fully crossed (part of PSPLIB's j120)."""


@cache
def designs() -> tuple[Design, ...]:
    """Return all generated instances, sorted by key."""
    found = []
    for n, levels in _LEVELS.items():
        for k, (complexity, factor, strength) in enumerate(product(*levels), start=1):
            name = f"p{n}_{k:02d}"
            found.append(Design(f"progen{n}", name, n, complexity, factor, strength, 1000 * n + k))
    for k, (complexity, factor, strength) in enumerate(product(*_SCARCE), start=1):
        found.append(Design("scarce120", f"s120_{k:02d}", 120, complexity, factor, strength, 120_500 + k))
    return tuple(sorted(found, key=lambda design: f"{design.group}/{design.name}"))


_FOUND_BY = {"CP-SAT": "{tool}", "safe baseline": "the domain's safe baseline"}
"""How a reference names what found it, where it does not name the operators themselves."""


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the generated instances with their computed references, sorted by key."""
    return shipped_refs(__package__, designs(), _reference)


def _reference(entry: Mapping[str, Any], made_by: Mapping[str, Any]) -> Reference:
    tool = _FOUND_BY.get(entry["by"], entry["by"]).format(**made_by)
    source = f"{tool}, {entry['seconds']} s on one core; bound {entry['bound']} by {made_by['tool']}"
    is_proven = entry["bound"] == entry["value"]
    return Reference(float(entry["value"]), "optimal" if is_proven else "computed", source)


def find_design(key: str) -> Design | None:
    """Return the design of the instance `key` (``group/name``); ``None`` if there is no such instance."""
    return next((design for design in designs() if f"{design.group}/{design.name}" == key), None)


class _Network:
    """Arcs between activities 0..n + 1, and who comes before whom; every arc goes from a low number to a
    higher one.
    """

    def __init__(self, n: int) -> None:
        self.arcs: set[tuple[int, int]] = set()
        self.reaches = np.eye(n + 2, dtype=bool)
        """Entry (u, v): v is u or comes after it."""
        self._out, self._in = [0] * (n + 2), [0] * (n + 2)

    def connect(self, u: int, v: int) -> None:
        self.arcs.add((u, v))
        self._out[u] += 1
        self._in[v] += 1
        self.reaches |= np.outer(self.reaches[:, u], self.reaches[v])

    def has_successor(self, u: int) -> bool:
        return self._out[u] > 0

    def may_connect(self, u: int, v: int) -> bool:
        """Return whether both ends are free for an arc that neither is redundant nor makes another so."""
        if self._out[u] == MAX_DEGREE or self._in[v] == MAX_DEGREE or self.reaches[u, v]:
            return False
        before, after = self.reaches[:, u], self.reaches[v]
        return not any(before[a] and after[b] for a, b in self.arcs)


def _network(n: int, complexity: float, random: LehmerGenerator) -> _Network:
    """Return a network with the wanted number of arcs; drawn anew until one comes out."""
    while True:
        network = _draw_network(n, round(complexity * (n + 2)), random)
        if network is not None:
            return network


def _draw_network(n: int, n_arcs: int, random: LehmerGenerator) -> _Network | None:
    network = _Network(n)
    for k in range(N_ENDS):
        network.connect(0, 1 + k)
        network.connect(n - k, n + 1)
    inner_from, inner_to = range(1, n - N_ENDS + 1), range(N_ENDS + 1, n + 1)
    for v in inner_to:  # everyone has a predecessor
        if not _connect_one(network, [(u, v) for u in inner_from if u < v], random):
            return None
    for u in reversed(inner_from):  # and a successor
        pairs = [(u, v) for v in inner_to if u < v]
        if not network.has_successor(u) and not _connect_one(network, pairs, random):
            return None
    pairs = [(u, v) for u in inner_from for v in inner_to if u < v]
    while len(network.arcs) < n_arcs:
        if not _connect_one(network, pairs, random):
            return None
    return network if len(network.arcs) == n_arcs else None


def _connect_one(network: _Network, pairs: list[tuple[int, int]], random: LehmerGenerator) -> bool:
    """Connect one of `pairs`, drawn at random among those that may be; whether there was one."""
    for pair in _shuffle(pairs, random):
        if network.may_connect(*pair):
            network.connect(*pair)
            return True
    return False


def _shuffle(pairs: list[tuple[int, int]], random: LehmerGenerator) -> Iterator[tuple[int, int]]:
    left = list(pairs)
    while left:
        k = random.uniform(0, len(left) - 1)
        left[k], left[-1] = left[-1], left[k]
        yield left.pop()


def _choose_used(n: int, factor: float, random: LehmerGenerator) -> list[int]:
    """Cells (activity · resources + resource) with a request: one for each activity, the rest anywhere."""
    cells = {i * N_RESOURCES + random.uniform(0, N_RESOURCES - 1) for i in range(n)}
    while len(cells) < round(factor * n * N_RESOURCES):
        cells.add(random.uniform(0, n * N_RESOURCES - 1))
    return sorted(cells)


def _peak(
    durations: NDArray[np.int32], requests: NDArray[np.int32], edges: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Largest use of each resource when every activity starts as early as the network allows."""
    starts = np.zeros(durations.size, np.int64)
    for u, v in edges.tolist():  # sorted, and arcs lead to higher numbers
        starts[v] = max(starts[v], starts[u] + durations[u])
    use = np.zeros((int(durations.sum()) + 1, N_RESOURCES), np.int32)
    for start, duration, request in zip(starts.tolist(), durations.tolist(), requests, strict=True):
        use[start : start + duration] += request
    peak: NDArray[np.int32] = use.max(axis=0)
    return peak
