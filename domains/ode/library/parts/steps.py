"""A step that is proposed by one operator and accepted or refused by another.

The working state: ``t``, ``y`` and ``h``, the next step; ``f``, the slope at (t, y), where it is known. A
proposed step: ``increment`` and ``step``, and, where there are any, ``error`` with its ``order``, and
``f_new``. ``t_lost`` is what rounding took from t: steps of one length, added to a t that grows, are rounded
in the same direction each time, and after a thousand of them y would be the solution at another time.
"""


def commit(work):
    """Take the proposed step, if there is one. Sums are compensated where ``compensation`` is there."""
    if "increment" not in work:
        return
    y, increment = work["y"], work.pop("increment")
    if "compensation" in work:
        corrected = increment + work["compensation"]
        work["y"] = y + corrected
        work["compensation"] = corrected - (work["y"] - y)
    else:
        work["y"] = y + increment
    step, end, t = work.pop("step"), work["end"], work["t"]
    advance = step + work.get("t_lost", 0.0)
    work["t"] = end if end - t - advance <= 1e-14 * end else t + advance
    work["t_lost"] = advance - (work["t"] - t)
    work.pop("error", None)
    work.pop("f", None)
    if "f_new" in work:
        work["f"] = work.pop("f_new")


def refuse(work):
    """Drop the proposed step."""
    for name in ("increment", "step", "error", "f_new"):
        work.pop(name, None)


def propose(work, increment, step, error=None, order=0):
    """Leave a step for a controller, or for the next operator that steps."""
    work["increment"], work["step"] = increment, step
    if error is not None:
        work["error"], work["order"] = error, order


def begin(work, is_implicit=False):
    """Take what is proposed, and return the length of the next step; 0.0 if this operator has nothing to do.

    Where stiffness was looked for, explicit methods leave stiff stretches to implicit ones, and the reverse.
    """
    if "stiff" in work and bool(work["stiff"]) != is_implicit:
        return 0.0
    commit(work)
    left = work["end"] - work["t"] - work.get("t_lost", 0.0)
    if left <= 0.0 or work.get("failed", False):
        return 0.0
    if work["h"] >= left * (1.0 - 1e-10):
        return left
    return min(work["h"], left)


def slope(work, rhs):
    """Return f at (t, y), asked for once."""
    if "f" not in work:
        work["f"] = rhs(work["t"], work["y"])
    return work["f"]
