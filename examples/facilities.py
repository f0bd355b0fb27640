"""Capacitated facility location with single sourcing: an assignment with constraints, scored with numba.

dga2d evolve examples/facilities.py --work 20000 --generations 8 --test
"""

import numpy as np
from numba import njit

import dga2d


class FacilityLocation(dga2d.Problem):
    """Capacitated facility location, each customer served by one facility.

    The solution says which facility serves each customer. The score is the cost of opening the facilities
    that are used, plus what it costs to serve each customer from its facility. The demand of a facility's
    customers may not exceed its capacity.
    """

    fields = {
        "costs": "cost of serving customer i from facility j",
        "opening": "cost of opening each facility",
        "demand": "demand of each customer",
        "capacity": "demand that each facility can serve",
    }

    def instances(self):
        """Customers and facilities on a square; capacities of 2 to 5 times what is needed on the whole."""
        return {f"c60f15-{number:02d}": self.draw(number, 60, 15) for number in range(30)}

    def draw(self, number, customers, facilities):
        """An instance drawn like those of Cornuéjols, Sridharan and Thizy (1991)."""
        rng = np.random.default_rng([customers, facilities, number])
        homes, places = rng.random((customers, 2)), rng.random((facilities, 2))
        distances = np.linalg.norm(homes[:, None] - places[None], axis=2)
        demand = rng.integers(5, 36, customers)
        size = rng.integers(10, 161, facilities)
        capacity = np.ceil(size * (2 + number % 4) * demand.sum() / size.sum()).astype(int)
        opening = rng.integers(0, 91, facilities) + rng.integers(100, 111, facilities) * np.sqrt(capacity)
        return {
            "costs": np.round(10 * distances * demand[:, None]),
            "opening": np.round(opening),
            "demand": demand,
            "capacity": np.maximum(capacity, 36),
        }

    def encoding(self, instance):
        """The solution is a facility for each customer."""
        return dga2d.Assignment(*instance.costs.shape)

    def score(self, instance, facility):
        """Cost of opening and serving, to be small."""
        return total_cost(instance.costs, instance.opening, facility)

    def check(self, instance, facility):
        """By how much capacities are exceeded."""
        return excess(instance.demand, instance.capacity, facility)


@njit(cache=True)
def total_cost(costs, opening, facility):
    is_open = np.zeros(opening.size, np.bool_)
    cost = 0.0
    for i in range(facility.size):
        cost += costs[i, facility[i]]
        is_open[facility[i]] = True
    for j in range(opening.size):
        if is_open[j]:
            cost += opening[j]
    return cost


@njit(cache=True)
def excess(demand, capacity, facility):
    left = capacity.copy()
    for i in range(facility.size):
        left[facility[i]] -= demand[i]
    over = 0
    for j in range(left.size):
        over += max(-left[j], 0)
    return over
