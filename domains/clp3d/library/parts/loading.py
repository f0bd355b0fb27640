"""Data for loadings of sequences of boxes into the container."""

import numpy as np
from parts.box_types import box_types
from parts.packing.placement import bin_arrays


def prepare(env_data):
    """Data of the boxes and the work arrays of the placement.

    Boxes: type of each item, sides by type and orientation, first row of each type, volumes,
    container, smallest sides. Arrays: boxes (x0, x1, y0, y1, z0, z1), sorted keys of the candidate
    points, free lengths at them, counts of boxes and points with the largest free lengths, per type
    what is known to refuse it, and which boxes the last loading has left out.
    """
    sides = np.asarray(env_data["item_sizes"])
    kind, turned, first = box_types(sides, np.asarray(env_data["orientation_allowed"]))
    volumes = sides.astype(np.int64).prod(axis=1)
    size = np.array(env_data["bin_size"], dtype=np.int32)
    boxes = kind, turned, first, volumes, size, turned.min(axis=0)
    refused = np.zeros(first.size - 1, np.int64), np.zeros(first.size - 1, np.int64)
    return boxes, (*bin_arrays(1, len(sides)), *refused, np.zeros(len(sides), np.bool_))
