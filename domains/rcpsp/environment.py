"""What operators see of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def operator_environment(data: Mapping[str, Any]) -> dict[str, Any]:
    """The card's keys for the arrays of a project (see :class:`~dga2d.domains.rcpsp.project.Project`);
    fresh, writable copies.
    """
    durations = np.array(data["durations"], dtype=np.int32)
    capacities = np.array(data["capacities"], dtype=np.int32)
    edges = np.array(data["edges"], dtype=np.int32)
    adjacency = np.zeros((durations.size, durations.size), np.int8)
    adjacency[edges[:, 0], edges[:, 1]] = 1
    return {
        "num_activities": int(durations.size),
        "num_resources": int(capacities.size),
        "durations": durations,
        "requests": np.array(data["requests"], dtype=np.int32),
        "capacities": capacities,
        "adj_matrix": adjacency,
        "edges": edges,
        "upper_bound": int(durations.sum(dtype=np.int64)),
    }
