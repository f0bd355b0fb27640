"""Random assembly lines of the kinds that SALBPGen makes, in own code, and the small set of 525.

Graphs are given by their order strength (share of the pairs of tasks that are related) and their kind:
`mixed` without structure; `chains`, where at least 40 % of the tasks stand in chains of tasks that have one
direct predecessor and one direct successor; `bottleneck`, where one task in twenty has many direct
predecessors and successors. Task times are normal variates, redrawn until they lie in 1..C, around 0.1 C
(`bottom`), around 0.5 C (`middle`), or around 0.1 C for nine tasks of ten and 0.5 C for the tenth
(`bimodal`). The article's summary gives kinds, order strengths and means; the standard deviation of 0.1 C,
the mixture and the sizes of chains and bottlenecks are ours.

References
----------
A. Otto, C. Otto, A. Scholl, Systematic data generation and test design for solution algorithms on the example
of SALBPGen for assembly line balancing, European Journal of Operational Research 228, 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.published import shipped_table
from dga2d.domains.salbp1.line import LineData

GraphKind = Literal["mixed", "chains", "bottleneck"]
TimeKind = Literal["bottom", "bimodal", "middle"]

CYCLE_TIME: Final = 1000
SPREAD: Final = 0.1
"""Standard deviation of task times as a fraction of the cycle time."""
SHARE_OF_LONG: Final = 0.1
"""Probability of a task around half the cycle time in the bimodal distribution."""
GRAPHS: Final[tuple[tuple[float, GraphKind], ...]] = (
    (0.2, "mixed"),
    (0.2, "chains"),
    (0.2, "bottleneck"),
    (0.6, "mixed"),
    (0.6, "chains"),
    (0.6, "bottleneck"),
    (0.9, "mixed"),
)
TIMES: Final[tuple[TimeKind, ...]] = ("bottom", "bimodal", "middle")
COPIES: Final = 25


class Setting(NamedTuple):
    """What an instance is made from."""

    n_tasks: int
    strength: float
    graph: GraphKind
    times: TimeKind
    seed: int


def small_set() -> Mapping[str, Setting]:
    """Return the 525 settings with 20 tasks by name, ``n=20_001`` … ``n=20_525``."""
    settings = product(GRAPHS, TIMES, range(COPIES))
    return {
        f"n=20_{number:03d}": Setting(20, strength, graph, times, number)
        for number, ((strength, graph), times, _) in enumerate(settings, start=1)
    }


@cache
def reference_table() -> tuple[str, Mapping[str, int]]:
    """Provenance of the optima of the small set, and the optima by name, from ``references.json``."""
    table = shipped_table(__package__)
    return table["provenance"], dict(zip(small_set(), table["optima"], strict=True))


def generate(setting: Setting) -> LineData:
    """Return the instance of a setting: a function of its fields alone, the same on every machine."""
    rng = np.random.Generator(np.random.Philox(setting.seed))
    times = _task_times(setting.n_tasks, setting.times, rng)
    edges = _graph(setting.n_tasks, setting.strength, setting.graph, rng)
    return LineData(CYCLE_TIME, times, edges)


def _task_times(n_tasks: int, kind: TimeKind, rng: np.random.Generator) -> NDArray[np.int32]:
    times = np.empty(n_tasks, np.int32)
    for task in range(n_tasks):
        is_long = kind == "middle" or (kind == "bimodal" and rng.random() < SHARE_OF_LONG)
        mean = 0.5 * CYCLE_TIME if is_long else 0.1 * CYCLE_TIME
        time = 0
        while not 1 <= time <= CYCLE_TIME:
            time = int(np.rint(mean + SPREAD * CYCLE_TIME * _normal(rng)))
        times[task] = time
    return times


def _normal(rng: np.random.Generator) -> float:
    """Return a nearly normal variate, the sum of twelve uniform ones: no library can change its bits."""
    return float(sum(rng.random(12).tolist())) - 6.0


def _graph(n_tasks: int, strength: float, kind: GraphKind, rng: np.random.Generator) -> NDArray[np.int32]:
    """Transitively reduced relations i < j whose order strength is as close to `strength` as they come."""
    pairs = n_tasks * (n_tasks - 1) // 2
    wanted = round(strength * pairs)
    nearly = wanted - pairs // 500  # exact for small graphs
    relations = _Relations(n_tasks)
    if kind == "chains":
        _add_chains(relations, wanted, rng)
    elif kind == "bottleneck":
        _add_bottlenecks(relations, wanted, rng)
    failures = 0
    while relations.count < nearly and failures < 50 * n_tasks:
        low, high = sorted(rng.choice(n_tasks, 2, replace=False).tolist())
        failures = 0 if relations.add(low, high, wanted) else failures + 1
    return relations.reduced()


class _Relations:
    """Transitive closure of the relations so far; `inner` tasks of chains accept no further ones."""

    def __init__(self, n_tasks: int) -> None:
        self.is_before = np.zeros((n_tasks, n_tasks), np.bool_)
        self.is_closed_left = np.zeros(n_tasks, np.bool_)
        """Tasks that may get no further direct predecessor."""
        self.is_closed_right = np.zeros(n_tasks, np.bool_)
        self.count = 0

    def add(self, low: int, high: int, limit: int) -> bool:
        """Relate `low` before `high`, unless they are related, one is closed or `limit` would be exceeded."""
        if self.is_before[low, high] or self.is_closed_right[low] or self.is_closed_left[high]:
            return False
        before, after = self.is_before[:, low].copy(), self.is_before[high].copy()
        before[low] = after[high] = True
        closure = self.is_before | np.outer(before, after)
        count = int(closure.sum())
        if count > limit:
            return False
        self.is_before, self.count = closure, count
        return True

    def reduced(self) -> NDArray[np.int32]:
        """Relations that do not follow from others, int32 `(m, 2)`."""
        whole = self.is_before.astype(np.float32)
        direct = self.is_before & (whole @ whole < 0.5)
        return np.argwhere(direct).astype(np.int32)


def _add_chains(relations: _Relations, wanted: int, rng: np.random.Generator) -> None:
    """Chains of three to six tasks of neighbouring numbers, at random places, that hold 40 % of all tasks."""
    n_tasks = len(relations.is_before)
    lengths: list[int] = []
    while sum(lengths) < 0.4 * n_tasks:
        lengths.append(min(int(rng.integers(3, 7)), n_tasks - sum(lengths)))
    lengths += [1] * (n_tasks - sum(lengths))
    start = 0
    for place in rng.permutation(len(lengths)).tolist():
        for low in range(start, start + lengths[place] - 1):
            if relations.add(low, low + 1, wanted):
                relations.is_closed_right[low] = relations.is_closed_left[low + 1] = True
        start += lengths[place]


def _add_bottlenecks(relations: _Relations, wanted: int, rng: np.random.Generator) -> None:
    """One task in twenty gets direct predecessors and successors, a seventh of the tasks each, at most 8."""
    n_tasks = len(relations.is_before)
    degree = min(8, max(2, n_tasks // 7))
    for number in range(max(1, n_tasks // 20)):
        share = n_tasks * (2 * number + 1) // (2 * max(1, n_tasks // 20))
        task = min(max(share, degree), n_tasks - degree - 1)
        lower = rng.choice(task, degree, replace=False).tolist()
        upper = (task + 1 + rng.choice(n_tasks - task - 1, degree, replace=False)).tolist()
        for other in lower:
            relations.add(other, task, wanted)
        for other in upper:
            relations.add(task, other, wanted)
