"""A pool of good orders."""


def admit(pool, value, order, capacity):
    """Put an order into the sorted pool unless it is a copy or too long; whether it went in."""
    if any(value == rated and (order == member).all() for rated, member in pool):
        return False
    pool.append((value, order))
    pool.sort(key=lambda entry: entry[0])
    return len(pool) <= capacity or pool.pop()[1] is not order
