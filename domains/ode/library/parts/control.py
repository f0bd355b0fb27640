"""What the step controllers share."""

import numpy as np
from parts.steps import commit, refuse


def scaled_error(work, relative, absolute):
    """Return the proposed step's error in units of the tolerance, root mean square; infinite if it is not
    finite; ``None`` where no error was estimated."""
    if "error" not in work:
        return None
    error, y = work["error"], work["y"]
    scale = absolute + relative * np.maximum(np.abs(y), np.abs(y + work["increment"]))
    size = float(np.sqrt(np.mean((error / scale) ** 2)))
    return size if np.isfinite(size) else np.inf


def decide(work, size, factor):
    """Accept the step if `size` is at most 1, and change the step by `factor`."""
    step = work["step"]
    if size <= 1.0:
        commit(work)
        factor = 1.0 if 1.0 <= factor < 1.2 else factor  # the matrices of implicit methods stay
        work["h"] = step * min(max(factor, 0.2), 5.0 if not work.get("refused", False) else 1.0)
        work["refused"] = False
        return
    refuse(work)
    work["refused"] = True
    work["h"] = step * (0.2 if not np.isfinite(size) else min(max(factor, 0.1), 0.9))
    if work["h"] <= 1e-15 * max(work["t"], 1e-10 * work["end"]):
        work["failed"] = True
