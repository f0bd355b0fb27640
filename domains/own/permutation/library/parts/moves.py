"""Elementary changes of an order."""


def moved(order, source, target):
    """A copy in which the entry at `source` stands at `target`."""
    changed = order.copy()
    if source < target:
        changed[source:target] = order[source + 1 : target + 1]
    else:
        changed[target + 1 : source + 1] = order[target:source]
    changed[target] = order[source]
    return changed
