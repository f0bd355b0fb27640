"""Statistics of paired comparisons over seeds and instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

RESAMPLES = 10_000
LEVEL = 0.95
ERROR = 0.05
"""Of the test that says when a baseline is beaten."""


@dataclass(frozen=True)
class Gain:
    """What one program gains on another, in percentage points of the gap."""

    mean: float
    low: float
    high: float
    """Bounds of the 95 % interval."""
    p: float
    """Two-sided, of Wilcoxon's signed-rank test over instances; 1 where nothing differs."""
    won: int
    lost: int
    """Pairs of seed and instance."""

    @property
    def sign(self) -> int:
        """1 where significantly better, −1 where significantly worse, else 0."""
        return int(self.low > 0.0) - int(self.high < 0.0)

    def __str__(self) -> str:
        text = f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f})"
        return f"**{text}**" if self.sign else text


def gain_of(before: NDArray[np.float64], after: NDArray[np.float64]) -> Gain:
    """Return what `after` gains on `before`, gaps in percent of shape `(seeds, instances)`.

    The interval draws seeds and instances anew, independently of each other.

    References
    ----------
    A. B. Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1(2), 2007.
    """
    gains = before - after
    seeds, instances = gains.shape
    rng = np.random.default_rng(0)
    rows = rng.multinomial(seeds, np.full(seeds, 1.0 / seeds), size=RESAMPLES) / seeds
    columns = rng.multinomial(instances, np.full(instances, 1.0 / instances), size=RESAMPLES) / instances
    means = np.einsum("ri,ij,rj->r", rows, gains, columns, optimize=True)
    low, high = np.quantile(means, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    won, lost = int((gains > 0.0).sum()), int((gains < 0.0).sum())
    return Gain(float(gains.mean()), float(low), float(high), _p_value(gains.mean(axis=0)), won, lost)


def is_beaten(baseline: NDArray[np.float64], program: NDArray[np.float64]) -> bool:
    """Return whether a program is better than the baseline by a one-sided Wilcoxon test over instances."""
    gains = baseline - program
    return bool(gains.any()) and float(wilcoxon(gains, alternative="greater").pvalue) < ERROR


def _p_value(gains: NDArray[np.float64]) -> float:
    return float(wilcoxon(gains).pvalue) if gains.any() else 1.0


def ratio_of_means(above: Sequence[float], below: Sequence[float]) -> str:
    """Return mean(above) / mean(below) with its interval; seeds are drawn in pairs."""
    a, b = np.array(above), np.array(below)
    drawn = np.random.default_rng(0).integers(len(a), size=(RESAMPLES, len(a)))
    low, high = np.quantile(a[drawn].mean(axis=1) / b[drawn].mean(axis=1), [0.025, 0.975])
    return f"{a.mean() / b.mean():.2f} ({low:.2f} to {high:.2f})"
