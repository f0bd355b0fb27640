"""A pool of good orders."""

from parts.completion import close_order, lower_bound, open_order, work_arrays


def admit(pool, value, order, capacity):
    """Put an order into the sorted pool unless it is a copy or too long; whether it went in."""
    if any(value == rated and (order == member).all() for rated, member in pool):
        return False
    pool.append((value, order))
    pool.sort(key=lambda entry: entry[0])
    return len(pool) <= capacity or pool.pop()[1] is not order


def improve_pool(env_data, state, calc_makespan_fn, capacity, patience, proposal):
    """Improve `state` until the share of the budget is spent or a lower bound is met.

    ``proposal(pool, failures, times, work)`` gives the makespan of a new order, and the order. After
    `patience` of them in a row that did not enter, the pool starts again with the best order.
    """
    n, budget = env_data["num_jobs"], env_data["budget"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    work, target = work_arrays(times), lower_bound(times)
    pool, failures = [(value, order)], 0
    while n > 2 and pool[0][0] > target and not budget.exhausted():
        if failures >= patience:
            pool, failures = pool[:1], 0
        found = proposal(pool, failures, times, work)
        failures = 0 if admit(pool, *found, capacity) else failures + 1
    return close_order(env_data, state, pool[0][1], pool[0][0], given)
