"""Instances, random solutions and a plain decoder for the tests of the vehicle routing problem."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.cvrp.reader import RoutingData

E13 = """NAME : eil13
COMMENT : (Eilon et al)
TYPE : CVRP
DIMENSION : 13
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT: LOWER_ROW
DISPLAY_DATA_TYPE: NO_DISPLAY
CAPACITY : 6000
EDGE_WEIGHT_SECTION
     9    14    21    23    22    25    32    36    38    42
    50    52     5    12    22    21    24    31    35    37
    41    49    51     7    17    16    23    26    30    36
    36    44    46    10    21    30    27    37    43    31
    37    39    19    28    25    35    41    29    31    29
     9    10    16    22    20    28    30     7    11    13
    17    25    27    10    16    10    18    20     6     6
    14    16    12    12    20     8    10    10
DEMAND_SECTION
1 0
2 1200
3 1700
4 1500
5 1400
6 1700
7 1400
8 1200
9 1900
10 1800
11 1600
12 1700
13 1100
DEPOT_SECTION
 1
 -1
EOF
"""
"""The set's smallest instance as CVRPLIB prints it, explicit lower rows with free line breaks."""


def routing_data(n_customers: int, seed: int, slack: float = 3.0, largest: int = 20) -> RoutingData:
    """Random points, some of them twins, and demands; about `slack` customers of mean demand fit a route."""
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, 100, size=(n_customers + 1, 2)).astype(np.float64)
    demands = rng.integers(0 if seed % 3 == 0 else 1, largest + 1, n_customers + 1)
    demands[0] = 0
    capacity = max(int(slack * demands.sum() / n_customers), int(demands.max()), 1)
    return RoutingData(coords, "EUC_2D", None, demands.astype(np.int64), capacity)


def random_instance(n_customers: int, seed: int, slack: float = 3.0, largest: int = 20) -> Instance:
    data = routing_data(n_customers, seed, slack, largest)
    return Instance("cvrp", "random", f"{n_customers}-{seed}", {"routing": data})


def random_routes(instance: Instance, seed: int) -> list[list[int]]:
    """Customers in random order, a new route where the load or a coin says so."""
    data: RoutingData = instance.data["routing"]
    rng = np.random.default_rng(seed)
    routes: list[list[int]] = [[]]
    load = 0
    for customer in rng.permutation(np.arange(1, len(data.demands))).tolist():
        demand = int(data.demands[customer])
        if routes[-1] and (load + demand > data.capacity or rng.random() < 0.1):
            routes.append([])
            load = 0
        routes[-1].append(customer)
        load += demand
    return routes


def sequence_of(routes: list[list[int]]) -> NDArray[np.int32]:
    return np.array([node for route in routes for node in (0, *route)][1:], dtype=np.int32)


def random_sequence(instance: Instance, seed: int) -> NDArray[np.int32]:
    return sequence_of(random_routes(instance, seed))


def plain_length(data: RoutingData, sequence: list[int]) -> float:
    """The card's decoder in plain Python for planar points, 999999999 for what it calls invalid."""
    assert data.coords is not None
    text = " ".join(map(str, sequence))
    routes = [[int(token) for token in part.split()] for part in f" {text} ".split(" 0 ")]
    if sorted(node for route in routes for node in route) != list(range(1, len(data.demands))):
        return 999_999_999.0
    total = 0
    for route in routes:
        if not route or sum(int(data.demands[node]) for node in route) > data.capacity:
            return 999_999_999.0
        stops = [data.coords[node] for node in (0, *route, 0)]
        for (xa, ya), (xb, yb) in pairwise(stops):
            total += int(math.sqrt((xa - xb) ** 2 + (ya - yb) ** 2) + 0.5)
    return float(total)
