"""Whether a new kernel is clearly faster: a rule over the pairs of runs that were recorded.

References
----------
W. J. Dixon, A. M. Mood, "The statistical sign test", Journal of the American Statistical Association 41,
1946.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dga2d.events import ImplementationId
from dga2d.events.payloads import KernelPair

LEAST_PAIRS = 6
"""Pairs without which nothing is clear: with fewer the sign test cannot come to its level."""
SIGN_ERROR = 0.02
"""Probability with which a kernel that is no faster wins so many pairs."""
LEAST_FACTOR = 1.02
"""Geometric mean of the old time by the new one from which a gain is worth a change of texts."""
LEAST_HOST_FACTOR = 0.97
"""The same in each implementation: none may become slower than noise explains."""


class Speed(NamedTuple):
    """What the pairs of a measurement come to."""

    factor: float
    """Geometric mean of the old time by the new one."""
    is_faster: bool
    reason: str
    """In words."""


def judge_speed(pairs: Sequence[KernelPair]) -> Speed:
    """Return whether the new kernel is clearly faster over the recorded pairs of runs."""
    if len(pairs) < LEAST_PAIRS:
        return Speed(1.0, False, f"it was timed in {len(pairs)} pairs of runs, {LEAST_PAIRS} are needed")
    factor = _factor(pairs)
    won = sum(pair.after_s < pair.before_s for pair in pairs)
    told = f"{factor:.3f} times as fast in {len(pairs)} pairs of runs, {won} of them faster"
    if factor < LEAST_FACTOR or _sign_test(won, len(pairs)) > SIGN_ERROR:
        return Speed(factor, False, f"it is not clearly faster: {told}")
    hosts = dict.fromkeys(pair.host for pair in pairs)
    slow = [host for host in hosts if _factor(_of(pairs, host)) < LEAST_HOST_FACTOR]
    if slow:
        return Speed(factor, False, f"{slow[0]} becomes slower: {told}")
    return Speed(factor, True, told)


def _of(pairs: Sequence[KernelPair], host: ImplementationId) -> list[KernelPair]:
    return [pair for pair in pairs if pair.host == host]


def _factor(pairs: Sequence[KernelPair]) -> float:
    return math.exp(math.fsum(math.log(pair.before_s / pair.after_s) for pair in pairs) / len(pairs))


def _sign_test(won: int, pairs: int) -> float:
    """Return how likely so many pairs or more are won by chance."""
    return math.fsum(math.comb(pairs, k) for k in range(won, pairs + 1)) / 2.0**pairs
