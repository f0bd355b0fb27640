"""Perturbation: random moves of critical operations.

Method: a number of times, a random operation of a critical path moves to a random eligible machine, at a
random place that closes no cycle, or changes places with its neighbour on its machine.

Source: H. R. Lourenço, Job-shop scheduling: computational study of local search and large-step optimization
methods, 1995; P. Brandimarte, Routing and scheduling in a flexible job shop by tabu search, 1993 (moves).

Complexity: O(N) per move for N operations.
"""

from parts.plans import plan_of, prepare, put_plan
from parts.schedule import keep, lay_out, shake

MOVES = 8  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    """Make MOVES random moves, fewer if the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    plan = plan_of(env_data, state)
    makespan = lay_out(plan, *arrays[:4])
    for _ in range(MOVES):
        makespan = shake(1, makespan, *arrays, rng)
        budget.charge(1)
        if budget.exhausted():
            break
    keep(plan, *arrays[:3:2])
    put_plan(env_data, state, plan)
    return state
