"""String removal: take strings of customers out of neighbouring routes and put them back greedily.

The removed customers return in random order, each to the cheapest place with room, passing over a place with
probability BLINK; one that fits nowhere opens a route. The result is kept whatever its length.
Method: one round of ruin and recreate as a kick.
Source: J. Christiaens, G. Vanden Berghe, "Slack induction by string removals for vehicle routing problems"
(2020).
Complexity: O(REMOVED n). Work units: one per customer removed.
"""

import numpy as np

REMOVED = 12  # tunable: int 3..60
STRING = 6  # tunable: int 1..20
BLINK = 0.05  # tunable: float 0.0..0.3


def routes_of(sequence):
    """The routes as lists of customers."""
    routes = [[]]
    for node in sequence.tolist():
        if node == 0:
            routes.append([])
        else:
            routes[-1].append(node)
    return routes


def remove_strings(routes, dist, rng):
    """Take about REMOVED customers out, one string per route, from routes near a random customer."""
    centre = int(rng.integers(1, len(dist)))
    removed, ruined = [], set()
    route_of = {node: r for r, route in enumerate(routes) for node in route}
    for node in (1 + np.argsort(dist[centre, 1:], kind="stable")).tolist():
        r = route_of[node]
        if r in ruined:
            continue
        ruined.add(r)
        size = int(rng.integers(1, min(STRING, len(routes[r])) + 1))
        at = routes[r].index(node)
        low, high = max(at - size + 1, 0), min(at, len(routes[r]) - size)
        first = int(rng.integers(low, high + 1))
        removed += routes[r][first : first + size]
        del routes[r][first : first + size]
        if len(removed) >= REMOVED:
            break
    return removed


# exchangeable: cheapest-place
def cheapest_place(node, routes, loads, demands, capacity, dist, blink, rng):
    """Route and index of the cheapest place with room that is not passed over; (-1, 0) if there is none."""
    best, place = None, (-1, 0)
    for r, route in enumerate(routes):
        if loads[r] + demands[node] > capacity:
            continue
        stops = np.array([0, *route, 0])
        growth = dist[stops[:-1], node] + dist[node, stops[1:]] - dist[stops[:-1], stops[1:]]
        growth = np.where(rng.random(len(growth)) < blink, np.iinfo(np.int64).max, growth)
        i = int(np.argmin(growth))
        if best is None or growth[i] < best:
            best, place = growth[i], (r, i)
    return place


def run(env_data, state, calc_makespan_fn):
    dist = np.array(env_data["dist_matrix"], dtype=np.int64)
    demands, capacity, rng = env_data["demands"], env_data["capacity"], env_data["rng"]
    routes = routes_of(state.sequence)
    removed = remove_strings(routes, dist, rng)
    routes = [route for route in routes if route]
    loads = [sum(int(demands[n]) for n in route) for route in routes]
    for node in rng.permutation(removed).tolist():
        r, i = cheapest_place(node, routes, loads, demands, capacity, dist, BLINK, rng)
        if r < 0:
            r, i = len(routes), 0
            routes.append([])
            loads.append(0)
        routes[r].insert(i, node)
        loads[r] += int(demands[node])
        env_data["budget"].charge(1)
    entries = [node for route in routes for node in (0, *route)][1:]
    state.sequence = np.array(entries, dtype=np.int32)
    return state
