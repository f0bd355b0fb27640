"""Pools of schedules, (makespan, solution) each, and what comes of joining their members."""


def insert_new(pool, entry, is_same):
    """Put `entry` into the pool in place of its worst member, unless it is worse or there already."""
    makespan, solution = entry
    worst = max(range(len(pool)), key=lambda i: pool[i][0])
    is_copy = any(value == makespan and is_same(solution, member) for value, member in pool)
    if makespan <= pool[worst][0] and not is_copy:
        pool[worst] = entry


def relink_pairs(search, pool, relink, is_same):
    """The best member met while random pairs are joined by ``relink``, both ways, until the target is met or
    the share of the budget is spent.
    """
    best = min(pool, key=lambda entry: entry[0])
    while len(pool) > 1 and best[0] > search.target and not search.budget.exhausted():
        i, j = search.rng.choice(len(pool), 2, replace=False)
        first, second = pool[i][1], pool[j][1]
        for origin, guide in ((first, second), (second, first)):
            if not search.budget.exhausted():
                insert_new(pool, relink(search, origin, guide), is_same)
        best = min(best, *pool, key=lambda entry: entry[0])
    return best
