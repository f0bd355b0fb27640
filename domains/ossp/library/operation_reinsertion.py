"""Local search: single operations leave the schedule and return at their best places.

Method: the operations are taken in random order; each is removed and put back where the longest path through
it is shortest (heads and tails tell for all places at once), ties broken at random. A schedule that would
become longer is left as it was. The search ends after PASSES passes without gain.

Source: H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for the open shop problem,
1993 (insertion).

Complexity: O(N) per operation, O(N²) per pass for N operations.
"""

import numpy as np
from parts.reinsertion import reinsert_all
from parts.schedule import lay_out, prepare

PASSES = 5  # tunable: int 1..1000


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until PASSES passes brought nothing or the share of the budget is spent."""
    budget = env_data["budget"]
    problem, (order, place), links, (_path, _head, _moved, mark) = prepare(env_data)
    makespan = int(lay_out(np.array(state.sequence, dtype=np.int32), problem, (order, place), links))
    work = (mark, np.zeros((3, sum(problem[:2]) + 1), np.int32), np.zeros((7, order.size + 1), np.int32))
    failures = 0
    while failures < PASSES and makespan > env_data["lower_bound"] and not budget.exhausted():
        before = makespan
        makespan = reinsert_all(makespan, problem, order, links, work, env_data)
        failures = 0 if makespan < before else failures + 1
    state.sequence = order
    return state
