"""Hybrid genetic search: crossover of giant tours, split, granular descent with SWAP*, managed diversity.

Individuals are giant tours; split cuts a child into routes whose excess load is penalised; the descent
improves it under the same penalty, which is steered so that about FEASIBLE of the results keep the capacity.
Infeasible results are repaired half of the time. Parents and survivors are chosen by the ranks of their cost
and of their distance to the most similar others; the population starts anew when it stagnates.
Method: memetic algorithm with biased fitness and penalised infeasible solutions.
Source: T. Vidal, T. G. Crainic, M. Gendreau, N. Lahrichi, W. Rei, "A hybrid genetic algorithm for multidepot
and periodic vehicle routing problems" (2012); T. Vidal, "Hybrid genetic search for the CVRP: open-source
implementation and SWAP* neighborhood" (2022); C. Prins, "A simple and effective evolutionary algorithm for
the vehicle routing problem" (2004) for the split. Complexity: dominated by the descents, O(n NEAR) each at
least. Work units: one per 100 pairs looked at.
"""

import numpy as np
from numba import njit
from parts.customers import planar_points
from parts.granular_moves import descend_granular
from parts.rings import new_rings, read_rings, refresh_ring, thread_rings
from parts.routing.near_nodes import nearest_nodes
from parts.swap_star_moves import descend_swap_star

NEAR = 20  # tunable: int 8..40
LEAST = 25  # tunable: int 5..60
BROOD = 40  # tunable: int 10..100
FOUNDERS = 60  # tunable: int 10..200
ELITE = 4  # tunable: int 1..10
CLOSEST = 5  # tunable: int 1..10
FEASIBLE = 0.25  # tunable: float 0.05..0.6
PATIENCE = 8000  # tunable: int 500..50000

CHUNK_PAIRS = 60_000
CHUNK_STEPS = 200_000
PAIRS_PER_UNIT = 100


# exchangeable: crossover
@njit(cache=True)
def crossover(mother, father, rng):
    """A child of two giant tours: a run of the mother's, the rest in the father's order from its end on."""
    size = mother.size
    first, last = int(rng.random() * size), int(rng.random() * size)
    run_length = (last - first) % size + 1
    child = np.empty(size, np.int32)
    is_taken = np.zeros(size + 1, np.uint8)
    for i in range(run_length):
        node = mother[(first + i) % size]
        child[(first + i) % size] = node
        is_taken[node] = 1
    slot = (first + run_length) % size
    for i in range(size):
        node = father[(last + 1 + i) % size]
        if not is_taken[node]:
            child[slot] = node
            slot = (slot + 1) % size
    return child


@njit(cache=True)
def split_tour(tour, rings, dist, demands, capacity, penalty):
    """Cut a giant tour into the routes of least penalised cost and thread them on the rings."""
    n, n_rings = demands.size, rings[5].size
    size = tour.size
    cost, cut = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
    routes = np.zeros(size + 1, np.int64)
    cost[0] = 0.0
    for i in range(size):
        load, length = 0, 0
        for j in range(i, size):
            node = tour[j]
            load += demands[node]
            if j > i and load > 1.5 * capacity:
                break
            length += dist[0, node] if j == i else dist[tour[j - 1], node]
            total = cost[i] + length + dist[node, 0] + penalty * max(load - capacity, 0)
            if total < cost[j + 1]:
                cost[j + 1], cut[j + 1], routes[j + 1] = total, i, routes[i] + 1
    sequence = np.empty(2 * n, np.int32)
    if routes[size] <= n_rings:
        is_start = np.zeros(size + 1, np.uint8)
        stop = size
        while stop > 0:
            stop = cut[stop]
            is_start[stop] = 1
    else:
        is_start, load = np.zeros(size + 1, np.uint8), 0
        for i in range(size):
            load += demands[tour[i]]
            if load > capacity:
                is_start[i], load = 1, demands[tour[i]]
    written = 0
    for i in range(size):
        if i > 0 and is_start[i]:
            sequence[written] = 0
            written += 1
        sequence[written] = tour[i]
        written += 1
    thread_rings(sequence[:written].copy(), rings[0], rings[1], rings[2], n)
    for ring in range(n_rings):
        refresh_ring(ring, rings, demands)


@njit(cache=True)
def describe(rings, dist, demands, capacity, points):
    """Giant tour (routes by the angle of their centre), successor and predecessor of each customer, with the
    depot as 0, length and excess load of the routes on the rings.
    """
    after, load = rings[0], rings[5]
    n = demands.size
    successor, predecessor = np.zeros(n, np.int32), np.zeros(n, np.int32)
    length, excess = 0, 0
    angles = np.full(load.size, 9.0)
    for ring in range(load.size):
        x, y = 0.0, 0.0
        node, previous = after[n + ring], 0
        while node < n:
            x, y = x + points[node, 0], y + points[node, 1]
            predecessor[node] = previous
            successor[previous] = node
            length += dist[previous, node]
            previous, node = node, after[node]
        length += dist[previous, 0]
        successor[previous] = 0
        excess += max(load[ring] - capacity, 0)
        if previous > 0:
            angles[ring] = np.arctan2(y, x)
    tour, size = np.empty(n - 1, np.int32), 0
    for ring in np.argsort(angles):
        node = after[n + ring]
        while node < n:
            tour[size] = node
            size, node = size + 1, after[node]
    return tour, successor, predecessor, length, excess


@njit(cache=True)
def broken_pairs(successor, predecessor, its_successor, its_predecessor):
    """Share of customers with another neighbour: 0 for equal solutions, mirrored routes included."""
    broken, n = 0, successor.size
    for node in range(1, n):
        a, b = successor[node], predecessor[node]
        c, d = its_successor[node], its_predecessor[node]
        broken += a != c and a != d
        broken += b == 0 and c != 0 and d != 0
    return broken / (n - 1)


class Problem:
    """What the descents of one run share."""

    def __init__(self, env_data):
        self.budget, self.rng = env_data["budget"], env_data["rng"]
        self.n, self.capacity = env_data["num_nodes"], env_data["capacity"]
        self.dist = np.array(env_data["dist_matrix"], dtype=np.int32)
        self.demands = np.array(env_data["demands"], dtype=np.int64)
        self.near = nearest_nodes(self.dist, 1, min(NEAR, self.n - 2))
        self.points = planar_points(self.dist)
        self.penalty = float(min(max(self.dist.max() / max(self.demands.max(), 1), 0.1), 1000.0))
        self.outcomes, self.born = [], 0

    def make_rings(self, n_routes):
        least = -(-int(self.demands.sum()) // self.capacity)
        self.rings = new_rings(self.n, min(max(2 * least + 2, n_routes + 2), self.n))
        self.tested, self.cursor = np.full(self.n, -1, np.int64), np.zeros(5, np.int64)
        self.star_tested = np.full(len(self.rings[5]), -1, np.int64)

    def descend(self, penalty):
        """Local optimum under the penalty of what is on the rings; False when the share is used up first."""
        shared = (self.rings, self.dist, self.demands, self.capacity, penalty, self.near)
        order = self.rng.permutation(np.arange(1, self.n)).astype(np.int64)
        self.cursor[:], self.tested[:], self.star_tested[:], self.rings[6][:] = 0, -1, -1, 0
        while True:
            if self.budget.exhausted():
                return False
            seen = self.cursor[3]
            if self.cursor[1] < self.n - 1:
                descend_granular(order, *shared, self.tested, self.cursor, CHUNK_PAIRS)
            elif self.cursor[4] < len(self.star_tested):
                descend_swap_star(*shared, self.star_tested, self.cursor, CHUNK_STEPS)
            else:
                return True
            self.budget.charge(1 + int(self.cursor[3] - seen) // PAIRS_PER_UNIT)
            if self.cursor[1] == 0:
                self.cursor[4] = 0

    def individual(self):
        """What is on the rings, as an individual."""
        tour, successor, predecessor, length, excess = describe(
            self.rings, self.dist, self.demands, self.capacity, self.points
        )
        return Individual(tour, successor, predecessor, int(length), int(excess))

    def steer(self, is_feasible):
        """Remember an outcome; adapt the penalty after every 50."""
        self.outcomes.append(is_feasible)
        if len(self.outcomes) == 50:
            share = sum(self.outcomes) / 50
            if share < FEASIBLE - 0.05:
                self.penalty = min(self.penalty * 1.2, 100_000.0)
            elif share > FEASIBLE + 0.05:
                self.penalty = max(self.penalty * 0.85, 0.1)
            self.outcomes = []


class Individual:
    def __init__(self, tour, successor, predecessor, length, excess):
        self.tour, self.successor, self.predecessor = tour, successor, predecessor
        self.length, self.excess = length, excess

    def distance(self, other):
        return broken_pairs(self.successor, self.predecessor, other.successor, other.predecessor)


class Population:
    """Individuals of one kind (feasible or not) with their distances."""

    def __init__(self):
        self.members, self.distances = [], np.zeros((0, 0))

    def add(self, individual, penalty):
        size = len(self.members)
        grown = np.zeros((size + 1, size + 1))
        grown[:size, :size] = self.distances
        grown[size, :size] = [individual.distance(other) for other in self.members]
        grown[:size, size] = grown[size, :size]
        self.members.append(individual)
        self.distances = grown
        if len(self.members) > LEAST + BROOD:
            while len(self.members) > LEAST:
                self.drop_one(penalty)

    def biased_fitness(self, penalty):
        """Rank by cost plus weighted rank by distance to the closest (small is good), and rank by cost."""
        size = len(self.members)
        cost = np.array([member.length + penalty * member.excess for member in self.members])
        k = min(CLOSEST, size - 1)
        away = (
            np.sort(self.distances + np.diag(np.full(size, 9.0)), axis=1)[:, :k].mean(axis=1) if k else cost
        )
        by_cost, by_distance = np.empty(size), np.empty(size)
        by_cost[np.argsort(cost, kind="stable")] = np.arange(size)
        by_distance[np.argsort(-away, kind="stable")] = np.arange(size)
        return by_cost + (1.0 - min(ELITE, size) / size) * by_distance, by_cost

    def drop_one(self, penalty):
        """Drop a clone if there is one, else the individual of worst fitness, never the cheapest."""
        fitness, by_cost = self.biased_fitness(penalty)
        twins = (self.distances + np.eye(len(fitness)) == 0.0).any(axis=1)
        fitness[twins] += 1e6
        fitness[by_cost == 0] = -1.0
        worst = int(np.argmax(fitness))
        del self.members[worst]
        self.distances = np.delete(np.delete(self.distances, worst, 0), worst, 1)


def tournament(populations, penalty, rng):
    """The fitter of two random individuals."""
    fitness = np.concatenate([p.biased_fitness(penalty)[0] for p in populations if p.members])
    members = populations[0].members + populations[1].members
    one, other = rng.integers(len(members), size=2)
    return members[one if fitness[one] < fitness[other] else other]


def breed(problem, populations):
    """Giant tour of the next child: of two parents, or random while the population is young."""
    if problem.born < FOUNDERS:
        return problem.rng.permutation(np.arange(1, problem.n)).astype(np.int32)
    mother = tournament(populations, problem.penalty, problem.rng)
    father = tournament(populations, problem.penalty, problem.rng)
    return crossover(mother.tour, father.tour, problem.rng)


def run(env_data, state, calc_makespan_fn):
    if env_data["num_nodes"] < 4:
        return state
    problem = Problem(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    problem.make_rings(int((sequence == 0).sum()) + 1)
    rings = problem.rings
    thread_rings(sequence, rings[0], rings[1], rings[2], problem.n)
    for ring in range(len(rings[5])):
        refresh_ring(ring, rings, problem.demands)
    best, best_length = rings[0].copy(), problem.individual().length
    populations = (Population(), Population())
    since, is_repair, is_alive = 0, False, problem.descend(1e6)
    while True:
        individual = problem.individual()
        populations[individual.excess > 0].add(individual, problem.penalty)
        since += 1
        if individual.excess == 0 and individual.length < best_length:
            best, best_length, since = rings[0].copy(), individual.length, 0
        if not is_alive:
            break
        if not is_repair:
            problem.steer(individual.excess == 0)
            problem.born += 1
            if individual.excess > 0 and problem.rng.random() < 0.5:
                is_repair, is_alive = True, problem.descend(10.0 * problem.penalty)
                continue
        is_repair = False
        if since > PATIENCE:
            populations, problem.born, since = (Population(), Population()), 0, 0
        child = breed(problem, populations)
        split_tour(child, rings, problem.dist, problem.demands, problem.capacity, problem.penalty)
        is_alive = problem.descend(problem.penalty)
    state.sequence = read_rings(best, problem.n)
    return state
