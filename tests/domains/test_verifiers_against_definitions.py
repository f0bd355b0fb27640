"""Each verifier against the plainest definition of its problem, on valid and on broken solutions.

The definitions below read the arrays that operators see, and nothing of the domains' code: schedules are
found operation by operation from all earlier ones, projects period by period, packings cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise, permutations, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.domains.cvrp import specimens as cvrp
from tests.domains.fjsp import specimens as fjsp
from tests.domains.fssp import specimens as fssp
from tests.domains.jsp import specimens as jsp
from tests.domains.maxcut import specimens as maxcut
from tests.domains.mis import specimens as mis
from tests.domains.ossp import specimens as ossp
from tests.domains.packing import specimens as packing
from tests.domains.rcpsp import specimens as rcpsp
from tests.domains.salbp1 import specimens as salbp1
from tests.domains.tsp import specimens as tsp

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.registry import domain_names, get_domain

Environment = Mapping[str, Any]
Entries = list[int]


def length_of_a_tour(env: Environment, cities: Entries, _: State) -> float | None:
    if sorted(cities) != list(range(env["num_nodes"])):
        return None
    points = [env["coords"][city] for city in cities]
    edges = zip(points, [*points[1:], points[0]], strict=True)
    return sum(int(math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) + 0.5) for a, b in edges)


def length_of_routes(env: Environment, nodes: Entries, _: State) -> float | None:
    routes = [part.split() for part in f" {' '.join(map(str, nodes))} ".split(" 0 ")]
    customers = sorted(int(customer) for route in routes for customer in route)
    loads = [sum(env["demands"][int(c)] for c in route) for route in routes if not _has_strangers(env, route)]
    if customers != list(range(1, env["num_nodes"])) or [] in routes or max(loads) > env["capacity"]:
        return None
    path = [0, *nodes, 0]
    return sum(int(env["dist_matrix"][a, b]) for a, b in pairwise(path))


def _has_strangers(env: Environment, route: list[str]) -> bool:
    return any(not 0 <= int(customer) < env["num_nodes"] for customer in route)


class Operation(NamedTuple):
    job: int
    machine: int
    time: int


def makespan(operations: Iterable[Operation]) -> int:
    """When the last operation ends: each starts when all earlier ones of its job or machine have ended."""
    ended: list[tuple[Operation, int]] = []
    for operation in operations:
        shared = [
            end for other, end in ended if other.job == operation.job or other.machine == operation.machine
        ]
        ended.append((operation, max(shared, default=0) + operation.time))
    return max(end for _, end in ended)


def _counted(jobs: Entries) -> list[tuple[int, int]]:
    """Each entry with the number of equal ones before it."""
    return [(job, jobs[:place].count(job)) for place, job in enumerate(jobs)]


def job_shop(env: Environment, jobs: Entries, _: State) -> float | None:
    if sorted(jobs) != sorted(list(range(env["num_jobs"])) * env["num_machines"]):
        return None
    machines, times = env["machines_matrix"].tolist(), env["times_matrix"].tolist()
    return makespan(Operation(job, machines[job][k], times[job][k]) for job, k in _counted(jobs))


def flow_shop(env: Environment, jobs: Entries, _: State) -> float | None:
    if sorted(jobs) != sorted(list(range(env["num_jobs"])) * env["num_machines"]):
        return None
    times = env["processing_times"].tolist()
    return makespan(Operation(job, k, times[k][job]) for job, k in _counted(jobs))


def open_shop(env: Environment, visits: Entries, _: State) -> float | None:
    n_machines = env["num_machines"]
    if sorted(visits) != list(range(env["num_jobs"] * n_machines)):
        return None
    times = env["ossp_times"].reshape(-1).tolist()
    return makespan(Operation(visit // n_machines, visit % n_machines, times[visit]) for visit in visits)


def flexible_shop(env: Environment, jobs: Entries, state: State) -> float | None:
    counts = env["op_counts"].tolist()
    chosen: Any = state.metadata.get("machine_alloc")
    if sorted(jobs) != [job for job, count in enumerate(counts) for _ in range(count)]:
        return None
    if not _is_table(chosen, (env["num_jobs"], env["max_ops"])):
        return None
    operations = []
    for job, k in _counted(jobs):
        machine = int(chosen[job, k])
        time = env["processing_matrix"][job, k, machine] if 0 <= machine < env["num_machines"] else math.inf
        if math.isinf(time):
            return None
        operations.append(Operation(job, machine, int(time)))
    return makespan(operations)


def _is_table(value: Any, shape: tuple[int, ...]) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "iu" and value.shape == shape


def project(env: Environment, activities: Entries, _: State) -> float | None:
    durations, requests, capacities = (env[key].tolist() for key in ("durations", "requests", "capacities"))
    if sorted(activities) != list(range(len(durations))):
        return None
    used = [[0] * len(capacities) for _ in range(sum(durations) + 1)]
    ends: dict[int, int] = {}
    for activity in activities:
        before = [u for u, v in env["edges"].tolist() if v == activity]
        if any(u not in ends for u in before):
            return None
        start = max((ends[u] for u in before), default=0)
        while any(
            used[period][r] + requests[activity][r] > capacity
            for period in range(start, start + durations[activity])
            for r, capacity in enumerate(capacities)
        ):
            start += 1
        for period in range(start, start + durations[activity]):
            used[period] = [u + q for u, q in zip(used[period], requests[activity], strict=True)]
        ends[activity] = start + durations[activity]
    return max(ends.values())


def stations_of_a_line(env: Environment, tasks: Entries, _: State) -> float | None:
    times, edges = env["times"].tolist(), env["edges"].tolist()
    if sorted(tasks) != list(range(env["num_tasks"])):
        return None
    if any(tasks.index(before) > tasks.index(after) for before, after in edges):
        return None
    station: dict[int, int] = {}
    loads: list[int] = []
    for task in tasks:
        place = max((station[before] for before, after in edges if after == task), default=0)
        while place < len(loads) and loads[place] + times[task] > env["cycle_time"]:
            place += 1
        loads += [0] * (place == len(loads))
        loads[place] += times[task]
        station[task] = place
    return len(loads)


def weight_of_a_cut(env: Environment, sides: Entries, _: State) -> float | None:
    if len(sides) != env["num_nodes"] or not set(sides) <= {0, 1}:
        return None
    offsets, neighbors, weights = (env[key].tolist() for key in ("offsets", "neighbors", "edge_weights"))
    twice = 0
    for vertex, side in enumerate(sides):
        for place in range(offsets[vertex], offsets[vertex + 1]):
            twice += weights[place] * (sides[neighbors[place]] != side)
    return twice // 2


def size_of_a_set(env: Environment, chosen: Entries, _: State) -> float | None:
    if len(chosen) != env["num_vertices"] or not set(chosen) <= {0, 1}:
        return None
    if any(chosen[u] and chosen[v] and env["adj"][u, v] for u in range(len(chosen)) for v in range(u)):
        return None
    return sum(chosen)


Cell = tuple[int, ...]


class Bin:
    """A bin as the set of its unit cells that are taken."""

    def __init__(self, size: list[int]) -> None:
        self._size = size
        self._corners: set[Cell] = {(0, 0, 0)}
        self.taken: set[Cell] = set()

    def place(self, orientations: list[list[int]]) -> bool:
        """Put a box at the first corner, by z, y, x, where one of its orientations fits."""
        for corner in sorted(self._corners, key=lambda corner: corner[::-1]):
            for sides in orientations:
                cells = set(product(*(range(c, c + side) for c, side in zip(corner, sides, strict=True))))
                is_inside = all(
                    c + side <= most for c, side, most in zip(corner, sides, self._size, strict=True)
                )
                if is_inside and not cells & self.taken:
                    self.taken |= cells
                    for axis, side in enumerate(sides):
                        shifted = list(corner)
                        shifted[axis] += side
                        self._corners.add(tuple(shifted))
                    return True
        return False


def bins_and_share(env: Environment, items: Entries, _: State) -> float | None:
    sizes = env["item_sizes"].tolist()
    if sorted(items) != list(range(len(sizes))):
        return None
    bins: list[Bin] = []
    for item in items:
        if not any(some.place([sizes[item]]) for some in bins):
            bins.append(Bin(env["bin_size"].tolist()))
            assert bins[-1].place([sizes[item]])
    return len(bins) + 0.1 * (1 - len(bins[-1].taken) / _volume(env))


def fill_rate(env: Environment, items: Entries, _: State) -> float | None:
    sizes, allowed = env["item_sizes"].tolist(), env["orientation_allowed"].tolist()
    if sorted(items) != list(range(len(sizes))):
        return None
    container = Bin(env["bin_size"].tolist())
    for item in items:
        turns = [[sizes[item][axis] for axis in axes] for axes in permutations(range(3))]
        container.place([turn for turn, is_allowed in zip(turns, allowed[item], strict=True) if is_allowed])
    return 100 * len(container.taken) / _volume(env)


def _volume(env: Environment) -> int:
    return math.prod(map(int, env["bin_size"]))


class Problem(NamedTuple):
    objective: Callable[[Environment, Entries, State], float | None]
    """By definition; ``None`` for what is no solution."""
    instance: Callable[[int], Instance]
    solution: Callable[[Instance, int], State]


def _between(seed: int, low: int, high: int) -> int:
    """A small number that differs from seed to seed."""
    return low + int(np.random.default_rng([seed, high]).integers(high - low + 1))


def _sequences(make: Callable[[Instance, int], NDArray[np.int32]]) -> Callable[[Instance, int], State]:
    return lambda instance, seed: State(make(instance, seed))


def _sizes(seed: int) -> tuple[int, int]:
    return _between(seed, 1, 5), _between(seed, 1, 4)


PROBLEMS = {
    "tsp": Problem(
        length_of_a_tour, lambda s: tsp.random_cities((_between(s, 3, 14),), s), _sequences(tsp.random_tour)
    ),
    "cvrp": Problem(
        length_of_routes,
        lambda s: cvrp.random_instance(_between(s, 1, 8), s, 2.0, 3),
        _sequences(cvrp.random_sequence),
    ),
    "jsp": Problem(
        job_shop, lambda s: jsp.random_instance(*_sizes(s), s, s % 2), _sequences(jsp.random_sequence)
    ),
    "fssp": Problem(
        flow_shop, lambda s: fssp.random_instance(*_sizes(s), s, s % 2), _sequences(fssp.random_sequence)
    ),
    "ossp": Problem(
        open_shop, lambda s: ossp.random_instance(*_sizes(s), s, s % 2), _sequences(ossp.random_sequence)
    ),
    "fjsp": Problem(flexible_shop, lambda s: fjsp.random_instance(*_sizes(s), s, s % 2), fjsp.random_state),
    "rcpsp": Problem(
        project,
        lambda s: rcpsp.random_instance(_between(s, 1, 9), _between(s, 1, 3), s, s % 2),
        _sequences(rcpsp.random_sequence),
    ),
    "salbp1": Problem(
        stations_of_a_line,
        lambda s: salbp1.random_instance(_between(s, 1, 12), s),
        _sequences(salbp1.random_sequence),
    ),
    "maxcut": Problem(
        weight_of_a_cut,
        lambda s: maxcut.random_instance(_between(s, 2, 10), _between(s, 0, 20), s),
        _sequences(maxcut.random_sides),
    ),
    "mis": Problem(
        size_of_a_set,
        lambda s: mis.random_graph(_between(s, 1, 12), _between(s, 0, 90), s),
        _sequences(mis.random_set),
    ),
    "binpack3d": Problem(
        bins_and_share,
        lambda s: packing.bins_and_items(_between(s, 1, 14), _between(s, 1, 6), s),
        packing.random_order,
    ),
    "clp3d": Problem(
        fill_rate,
        lambda s: packing.container_and_boxes(_between(s, 1, 16), _between(s, 1, 5), s),
        packing.random_order,
    ),
}


def broken(array: NDArray[np.int32], data: st.DataObject) -> Any:
    """`array`, or something like it: other entries, another order, another length, another kind."""
    kind = data.draw(
        st.sampled_from(("as it is", "swap", "set", "copy", "drop", "more", "order", "nonsense"))
    )
    changed: NDArray[np.int32] = array.copy()
    flat = changed.reshape(-1)
    place = st.integers(0, max(flat.size - 1, 0))
    i, j = data.draw(place), data.draw(place)
    if kind == "nonsense":
        makers: tuple[Callable[[NDArray[np.int32]], Any], ...] = (
            *(lambda a: None, lambda a: a.tolist(), lambda a: a.astype(float), lambda a: a.astype(bool)),
            *(
                lambda a: a.reshape(1, *a.shape),
                lambda a: a.astype(object),
                lambda a: a[:0],
                lambda a: "0" * a.size,
            ),
        )
        return data.draw(st.sampled_from(makers))(changed)
    if not flat.size:
        return changed
    if kind == "swap":
        flat[i], flat[j] = flat[j], flat[i]
    elif kind == "set":
        edges = (-(2**31), -1, 0, 1, 2, 2**31 - 1, int(flat.max()) + 1)
        flat[i] = data.draw(st.sampled_from(edges))
    elif kind == "copy":
        flat[i] = flat[j]
    elif kind == "drop" and changed.ndim == 1:
        return np.delete(changed, i)
    elif kind == "more" and changed.ndim == 1:
        return np.insert(changed, i, flat[j])
    elif kind == "order":
        flat[:] = np.random.default_rng(i).permutation(flat)
    return changed


@pytest.mark.parametrize("name", PROBLEMS)
@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**31))
def test_a_verifier_says_what_the_definition_says(name: str, data: st.DataObject, seed: int) -> None:
    domain, problem = get_domain(name), PROBLEMS[name]
    instance = problem.instance(seed)
    state = problem.solution(instance, seed)
    if data.draw(st.booleans()):
        key = data.draw(st.sampled_from(("sequence", *state.metadata)))
        if key == "sequence":
            state.sequence = broken(state.sequence, data)
        else:
            state.metadata[key] = broken(state.metadata[key], data)
    expected = None
    if type(state.sequence) is np.ndarray and state.sequence.dtype == np.int32 and state.sequence.ndim == 1:
        expected = problem.objective(domain.environment(instance), state.sequence.tolist(), state)
    verdict = domain.verify(instance, state)
    assert verdict.is_feasible is (expected is not None), (expected, verdict, state.sequence)
    if expected is not None:
        assert verdict.objective == pytest.approx(expected, rel=1e-12), state.sequence


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_solutions_that_are_broken_were_solutions_before(name: str) -> None:
    """So that the test above does not compare refusals only."""
    domain, problem = get_domain(name), PROBLEMS[name]
    for seed in range(20):
        instance = problem.instance(seed)
        assert domain.verify(instance, problem.solution(instance, seed)).is_feasible


def test_no_domain_is_left_out() -> None:
    """But those whose answers are measured by an oracle, not decoded."""
    decoded = {name for name in domain_names() if not hasattr(get_domain(name), "oracle_data")}
    assert set(PROBLEMS) == decoded
