"""Several challengers beside one program on the same instances: p-values that hold for all of them together.

If no challenger is better than the program, the gains of all of them on an instance are as likely to come
with the other sign. All signs of an instance are flipped together, so challengers that are nearly the same
program, as those of one run mostly are, hardly take anything from each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

ALL_FLIPS = 15
"""Most observations whose signs are flipped in every way; of more it is `DRAWN_FLIPS` ways."""
DRAWN_FLIPS = 2**ALL_FLIPS
"""Ways that are drawn, the observed one among them, the same for all tests of as many observations."""
_DIGITS = 40
"""Binary digits with which the largest gain is counted."""
Observation = TypeVar("Observation")


def joint_p_values(challengers: Sequence[Mapping[Observation, float]]) -> list[float]:
    """Return the p-value of each of `challengers`, one-sided and corrected for their number.

    Each is given as gains by observation; one that it lacks counts as 0. At any level a challenger that is
    no better is found better with at most that probability, whichever others are (closed testing, in steps).
    The statistic of one challenger is the smaller p-value of its mean, whose order under flips is that of
    Student's t, and of Wilcoxon's signed ranks. Gains are counted in whole numbers, so that no machine's
    rounding says which of two sums is larger.

    References
    ----------
    P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley, 1993 (the smallest p-value, in
    steps). E. J. G. Pitman, "Significance tests which may be applied to samples from any populations",
    Supplement to the Journal of the Royal Statistical Society 4, 1937 (flipped signs).
    """
    seen = {where: None for gains in challengers for where, gain in gains.items() if gain}
    if not seen:
        return [1.0] * len(challengers)
    flips = _flips(len(seen))
    tails = [_tails(flips, [gains.get(where, 0.0) for where in seen]) for gains in challengers]
    order = sorted(range(len(tails)), key=lambda j: (int(tails[j][0]), j))
    p_values, least, so_far = [1.0] * len(tails), np.full(len(flips), len(flips)), 0.0
    smallest: dict[int, NDArray[np.int64]] = {}
    for j in reversed(order):
        least = np.minimum(least, tails[j])
        smallest[j] = least
    for j in order:
        so_far = max(so_far, float((smallest[j] <= tails[j][0]).sum() / len(flips)))
        p_values[j] = float(f"{so_far:.6g}")
    return p_values


def _flips(n: int) -> NDArray[np.int64]:
    """Return signs, a row for each way to flip those of `n` observations; the first row flips none."""
    if n <= ALL_FLIPS:
        return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    drawn = np.random.Generator(np.random.Philox(n)).integers(0, 2, (DRAWN_FLIPS, n))
    drawn[0] = 0
    return 1 - 2 * drawn


def _tails(flips: NDArray[np.int64], gains: Sequence[float]) -> NDArray[np.int64]:
    """Return for each way to flip how many are at least as extreme."""
    unit = math.ldexp(1.0, math.frexp(max(map(abs, gains)))[1] - _DIGITS)
    observed = np.array([round(gain / unit) for gain in gains], np.int64)
    sizes = np.sort(np.abs(observed[observed != 0]))
    ranks = np.searchsorted(sizes, np.abs(observed), "left") + np.searchsorted(
        sizes, np.abs(observed), "right"
    )
    both = [_at_least(flips @ values) for values in (observed, np.sign(observed) * (ranks + 1))]
    smaller = np.minimum(*both)
    return np.searchsorted(np.sort(smaller), smaller, "right")


def _at_least(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of `sums` how many are at least as large."""
    return sums.size - np.searchsorted(np.sort(sums), sums, "left")
