"""A project as arrays, and bounds that follow from it."""

import numpy as np


def prepare(env_data):
    """Arrays of a project.

    project: durations; requests, capacities and guard bits in the lanes of int64 words, where one
    subtraction compares all resources of a word (a lane that has too little left borrows its guard bit).
    before, after: where the predecessors (successors) of each activity begin, and they themselves.
    horizon: number of periods that every schedule and search for a start fits into.
    """
    durations = np.asarray(env_data["durations"]).astype(np.int64)
    n = durations.size
    lanes = []
    words, used = 0, 63
    for capacity in np.asarray(env_data["capacities"]).tolist():
        width = capacity.bit_length() + 1
        if used + width > 63:
            words, used = words + 1, 0
        lanes.append((words - 1, used, width, capacity))
        used += width
    need = np.zeros((n, words), np.int64)
    capacity, guard = np.zeros(words, np.int64), np.zeros(words, np.int64)
    for (word, shift, width, units), requests in zip(lanes, np.asarray(env_data["requests"]).T, strict=True):
        need[:, word] += requests.astype(np.int64) << shift
        capacity[word] += units << shift
        guard[word] += 1 << (shift + width - 1)
    networks = []
    for this, other in ((1, 0), (0, 1)):
        edges = np.asarray(env_data["edges"])
        edges = edges[np.argsort(edges[:, this], kind="stable")]
        first = np.searchsorted(edges[:, this], np.arange(n + 1)).astype(np.int32)
        networks.append((first, np.ascontiguousarray(edges[:, other]).astype(np.int32)))
    horizon = int(durations.sum() + durations.max() + 1)
    return (durations, need, capacity, guard), networks[0], networks[1], horizon


def longest_tails(durations, after):
    """Longest path from the start of each activity to the end of the project, int64."""
    first, others = after[0].tolist(), after[1].tolist()
    tails = [-1] * durations.size
    open_ends = [0, durations.size - 1]
    while open_ends:
        x = open_ends[-1]
        behind = others[first[x] : first[x + 1]]
        missing = [y for y in behind if tails[y] < 0]
        open_ends += missing
        if not missing:
            tails[x] = int(durations[x]) + max([tails[y] for y in behind], default=0)
            open_ends.pop()
    return np.array(tails, np.int64)


def shortest_possible(env_data, tails):
    """A lower bound of the makespan: the longest path, or the work on a resource over its capacity."""
    work = np.asarray(env_data["durations"]).astype(np.int64) @ np.asarray(env_data["requests"])
    loads = -(-work // np.maximum(np.asarray(env_data["capacities"]), 1))
    return int(max(tails[0], loads.max()))


def set_up(env_data):
    """Project, predecessors and successors as :func:`prepare` makes them, longest tails, a lower bound of the
    makespan, and room for what is left of the resources: int64 (words, periods).
    """
    project, before, after, horizon = prepare(env_data)
    tails = longest_tails(project[0], after)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    return project, before, after, tails, shortest_possible(env_data, tails), free


def open_search(env_data, state):
    """What :func:`set_up` gives, room for justification, the list of `state`, and room for finish times."""
    arrays = set_up(env_data)
    n, horizon = arrays[0][0].size, arrays[5].shape[1]
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    return *arrays, work, np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
