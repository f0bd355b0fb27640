"""Priorities of activities, and lists drawn by them."""

import numpy as np
from numba import njit
from parts.eligible import list_chosen
from parts.project import longest_tails
from parts.sequences.precedence import count_waits


def count_followers(after):
    """Number of direct and indirect successors of each activity, int64."""
    first, others = after
    n = first.size - 1
    known = [0] * n
    open_ends = [0, n - 1]
    while open_ends:
        x = open_ends[-1]
        behind = others[first[x] : first[x + 1]].tolist()
        missing = [y for y in behind if known[y] == 0]
        open_ends += missing
        if not missing:
            known[x] = 1 << x
            for y in behind:
                known[x] |= known[y]
            open_ends.pop()
    return np.array([reached.bit_count() - 1 for reached in known], np.int64)


# exchangeable: priority-rule
def rule_keys(rule, durations, heads, tails, followers, next_work):
    """Keys of a priority rule, small ones first, float64.

    `heads` and `tails` are the longest paths from the start and to the end, own duration included;
    `followers` counts direct and indirect successors, `next_work` sums the durations of the direct ones.
    """
    if rule == "lft":  # latest finish time
        keys = durations - tails
    elif rule == "lst":  # latest start time
        keys = -tails
    elif rule == "slack":  # least slack of the latest over the earliest start
        keys = durations - tails - heads
    elif rule == "mts":  # most total successors
        keys = -followers
    elif rule == "grpw":  # greatest rank positional weight
        keys = -durations - next_work
    else:  # shortest duration
        keys = durations
    return keys.astype(np.float64)


def all_keys(rule, durations, before, after):
    """Keys of a priority rule for all activities; exchange `before` and `after` for lists from the end."""
    heads, tails = longest_tails(durations, before), longest_tails(durations, after)
    next_work = [durations[after[1][after[0][x] : after[0][x + 1]]].sum() for x in range(durations.size)]
    return rule_keys(rule, durations, heads, tails, count_followers(after), np.array(next_work))


@njit(cache=True)
def sampled_list(order, keys, bias, before, after, rng):
    """Write a list into `order`: each place goes to one of the activities whose predecessors are listed.

    Small `keys` come first: with a negative `bias` always the smallest one; otherwise the chance grows with
    (1 + regret) to the power of `bias`, the regret being the distance to the worst choice at hand.
    """
    first, others = after
    n = order.size
    waits_for, weights = np.empty(n, np.int64), np.empty(n, np.float64)
    count = count_waits(before[0], waits_for, order)
    for i in range(n):
        j = i
        if count > i + 1:
            worst = keys[order[i]]
            for k in range(i, count):
                worst = max(worst, keys[order[k]])
                if keys[order[k]] < keys[order[j]]:
                    j = k
            if bias >= 0.0:
                total = 0.0
                for k in range(i, count):
                    total += (1.0 + worst - keys[order[k]]) ** bias
                    weights[k] = total
                draw = rng.random() * total
                j = i
                while j + 1 < count and weights[j] <= draw:
                    j += 1
        count = list_chosen(i, j, order, count, first, others, waits_for)


def sample_in_chunks(budget, target, passes, chunk, schedules, sample):
    """Call ``sample(count, since, value)``, which returns the new best makespan, for `passes` passes.

    At most `chunk` at once, until the budget is spent or `target` met; a pass is charged `schedules` units.
    """
    value, done = 2**40, 0
    while done < passes and value > target and not (done and budget.exhausted()):
        count = min(passes - done, chunk)
        value = sample(count, done, value)
        budget.charge(schedules * count)
        done += count
