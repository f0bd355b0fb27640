"""First fit: every item goes into the first bin that has a feasible point for it."""

import numpy as np
from numba import njit
from parts.packing.placement import bin_arrays, fill_bins


@njit(cache=True)
def first_fit(sequence, items, arrays, free):
    """Score of a permutation by the card's rule; `free` receives the empty volume of each bin."""
    size = items[2]
    n_bins = fill_bins(sequence, items, arrays, free, np.empty(sequence.size, np.int32))
    return n_bins + 0.1 * (free[n_bins - 1] / (np.int64(size[0]) * size[1] * size[2]))


@njit(cache=True)
def read_bins(sequence, items, arrays, free, member, n_member):
    """The contents of the bins of a permutation, in the order of their placement; the number of bins."""
    bin_of = np.empty(sequence.size, np.int32)
    n_bins = fill_bins(sequence, items, arrays, free, bin_of)
    n_member[:n_bins] = 0
    for item in sequence:
        b = bin_of[item]
        member[b, n_member[b]] = item
        n_member[b] += 1
    return n_bins


def open_packing(env_data, state):
    """What a search begins with: all that `prepare` gives; sequence, empty volume of each bin, score."""
    items, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    free = np.zeros(best.size, np.int64)
    return items, arrays, best, free, first_fit(best, items, arrays, free)


def prepare(env_data):
    """Data of the items (sides, volumes, bin, smallest sides) and the work arrays of the placement.

    Arrays by bin: boxes (x0, x1, y0, y1, z0, z1), sorted keys of the candidate points, free lengths at them,
    counts of boxes and points with the largest free lengths.
    """
    sizes = np.array(env_data["item_sizes"], dtype=np.int32)
    volumes = sizes.astype(np.int64).prod(axis=1)
    size = np.array(env_data["bin_size"], dtype=np.int32)
    capacity = int(size.astype(np.int64).prod())
    most = int(np.searchsorted(np.cumsum(np.sort(volumes)), capacity, side="right"))
    return (sizes, volumes, size, sizes.min(axis=0)), bin_arrays(len(sizes), most)
