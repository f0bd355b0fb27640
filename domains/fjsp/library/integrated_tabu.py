"""Integrated tabu search over machines and sequence, restarted from the shaken best schedule.

Method: the best insertion of a critical operation on its own or another machine (Nopt) that is not tabu is
made in every iteration; the operations whose moves are estimated best are rated exactly. It is tabu to bring
an operation back to a machine, or two operations back to an order, that was left recently. After a number of
iterations without gain random moves shake the best schedule and the search starts again.

Source: M. Mastrolilli, L. M. Gambardella, Effective neighbourhood functions for the flexible job shop
problem, 2000; J. Hurink, B. Jurisch, M. Thole, Tabu search for the job-shop scheduling problem with
multi-purpose machines, 1994.

Complexity: O(N) per exactly rated operation and iteration for N operations.
"""

from parts.plans import plan_of, put_plan
from parts.schedule import keep, lay_out, shake
from parts.tabu import improve, open_search

PATIENCE = 10000  # tunable: int 500..100000
EXACT = 3  # tunable: int 1..20
STRENGTH = 10  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    best = (int(calc_makespan_fn(state)), plan_of(env_data, state))
    start = best[1]
    while not search.budget.exhausted() and best[0] > search.target:
        found = improve(search, start, PATIENCE, 0.0)
        best = min(best, found, key=lambda entry: entry[0])
        start = best[1].copy()
        makespan = lay_out(start, *search.arrays[:4])
        shake(STRENGTH, makespan, *search.arrays, search.rng)
        keep(start, *search.arrays[:3:2])
        search.budget.charge(STRENGTH)
    put_plan(env_data, state, best[1])
    return state
