"""Beam search that fills the order from both ends.

Method: a node is a beginning and an end of the order, with the heads and tails of the machines and their idle
times. It grows at the end at which fewer jobs keep the bound below the best makespan known, or else at the
one with the larger bounds. The children with the least bound plus weighted idle time form the next level; the
weight (0: bound alone) falls as the order fills. The width doubles from run to run up to MAX_WIDTH.

Source: L. Libralesso, P. A. Focke, A. Secardin, V. Jost, Iterative beam search algorithms for the permutation
flowshop, 2022.

Complexity: O(w n² m) per run of width w for n jobs on m machines.
"""

import numpy as np
from numba import njit

MAX_WIDTH = 64  # tunable: int 1..4096
IDLE_WEIGHT = 0.0  # tunable: float 0.0..10.0
CHUNK_OPERATIONS = 4_000_000  # operations computed in one kernel call


# exchangeable: node-guide
@njit(cache=True)
def node_guide(bound, idle, filled, n_machines, weight):
    """Rating of a node, the least survives: its bound, its idle time and the share of jobs it has placed."""
    return bound + weight * (1.0 - filled) * idle / n_machines


@njit(cache=True)
def append_job(job, times, step, free, after):
    """Heads `after` when `job` follows heads `free` (step 1), or tails likewise (step -1); the idle time."""
    m = free.size
    idle, done = 0, 0
    for i in range(m):
        k = i if step == 1 else m - 1 - i
        if done > free[k]:
            idle += done - free[k]
        done = max(done, free[k]) + times[k, job]
        after[k] = done
    return idle


@njit(cache=True)
def expand(first, last, known, filled, weight, times, nodes, row, bounds, guides, side):
    """Rate the children of nodes first..last - 1 at the better side of each; infinite where there is none."""
    ends, rest, idle, free, _order, _placed = nodes
    m, n = times.shape
    for node in range(first, last):
        count, total = np.zeros(2, np.int64), np.zeros(2, np.int64)
        for end in range(2):
            near, far = ends[node, end], ends[node, 1 - end]
            for job in range(n):
                guides[end, job] = np.inf
                if not free[node, job]:
                    continue
                wait = append_job(job, times, 1 - 2 * end, near, row)
                bound = 0
                for k in range(m):
                    bound = max(bound, row[k] + rest[node, k] - times[k, job] + far[k])
                total[end] += bound
                if bound < known:
                    count[end] += 1
                    guides[end, job] = node_guide(bound, idle[node] + wait, filled, m, weight)
        side[node] = 1 if count[1] < count[0] or (count[1] == count[0] and total[1] > total[0]) else 0
        bounds[node] = guides[side[node]]


@njit(cache=True)
def breed(children, old, new, side, times):
    """Write the nodes of `children` (node of `old` times jobs plus job) to `new`."""
    n = times.shape[1]
    ends, rest, idle, free, order, placed = new
    for i in range(children.size):
        node, job = children[i] // n, children[i] % n
        end = side[node]
        ends[i], rest[i], free[i] = old[0][node], old[1][node], old[3][node]
        order[i], placed[i] = old[4][node], old[5][node]
        idle[i] = old[2][node] + append_job(job, times, 1 - 2 * end, old[0][node, end], ends[i, end])
        rest[i] -= times[:, job]
        free[i, job] = False
        order[i, placed[i, 0] if end == 0 else n - 1 - placed[i, 1]] = job
        placed[i, end] += 1


def level(width, times):
    """Arrays of the nodes of a level: heads and tails, unplaced work per machine, idle time, unplaced jobs,
    the order and the numbers of jobs placed at its two ends."""
    m, n = times.shape
    ends, rest = np.zeros((width, 2, m), np.int32), np.zeros((width, m), np.int32)
    order, placed = np.zeros((width, n), np.int32), np.zeros((width, 2), np.int64)
    return ends, rest, np.zeros(width, np.int64), np.ones((width, n), np.bool_), order, placed


def beam(width, known, times, budget):
    """The shortest order found with a makespan below `known`, or None; None too when the share is spent."""
    m, n = times.shape
    nodes, children = level(width, times), level(width, times)
    nodes[1][0] = times.sum(axis=1)
    count, row, guides = 1, np.zeros(m, np.int32), np.zeros((2, n))
    rated, side = np.zeros((width, n)), np.zeros(width, np.int64)
    for placed in range(n):
        chunk = max(1, CHUNK_OPERATIONS // (2 * times.size))
        for first in range(0, count, chunk):
            last = min(first + chunk, count)
            expand(first, last, known, (placed + 1) / n, IDLE_WEIGHT, times, nodes, row, rated, guides, side)
            budget.charge(last - first)
            if budget.exhausted():
                return None
        flat = rated[:count].ravel()
        count = min(width, int(np.isfinite(flat).sum()))
        if count == 0:
            return None
        chosen = np.argpartition(flat, count - 1)[:count]
        breed(chosen, nodes, children, side, times)
        nodes, children = children, nodes
    return nodes[4][int(nodes[0][:count].sum(axis=1).max(axis=1).argmin())].copy()


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best order of the beams of width 1, 2, 4, ..., MAX_WIDTH within the share."""
    m = env_data["num_machines"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    best = np.argsort(-times.sum(axis=0), kind="stable").astype(np.int32)
    state.sequence = np.repeat(best, m)
    value, width = calc_makespan_fn(state), 1
    while width <= MAX_WIDTH and not env_data["budget"].exhausted():
        order = beam(width, value, times, env_data["budget"])
        if order is not None:
            previous, state.sequence = state.sequence, np.repeat(order, m)
            rated = calc_makespan_fn(state)
            if rated < value:
                value = rated
            else:
                state.sequence = previous
        width *= 2
    return state
