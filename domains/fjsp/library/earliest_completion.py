"""Schedules by dispatching: most work left, then the machine that completes the operation first.

Method: of the next operations of all jobs, the one whose job has the most work left, less the time at which
it could be completed, goes first, both blurred by noise; it goes to the eligible machine that completes it
first. The best of several schedules is returned; the first one is without noise.

Source: R. Haupt, A survey of priority rule-based scheduling, 1989 (most work remaining); F. Pezzella,
G. Morganti, G. Ciaschetti, A genetic algorithm for the flexible job-shop scheduling problem, 2008 (initial
assignments and rules).

Complexity: O(n w) per operation for n jobs and w eligible machines.
"""

import numpy as np
from parts.generic.tries import best_built
from parts.plans import dispatch, prepare, put_plan

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules."""
    shop, options = prepare(env_data)[:2]
    plan = np.empty((2, env_data["total_ops"]), np.int32)

    def plans():
        for restart in range(RESTARTS):
            noise = NOISE if restart else 0.0
            makespan = dispatch(shop, options, env_data["num_machines"], noise, plan, env_data["rng"])
            yield plan.copy(), makespan

    put_plan(env_data, state, best_built(plans(), env_data["budget"]))
    return state
