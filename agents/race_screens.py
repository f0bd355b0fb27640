"""Screens: races that ask what the constants of the incumbent are worth, all of them at once.

A race asks of every contender whether it is better, and has a few pairs for each answer. In a screen each
contender has all constants changed, half of them up and half of them down, such that every constant is up in
half of the contenders and any two are together up as often as apart. So each is judged by all evaluations.
Nobody wins a screen; the next race has a contender whose constants go up the slope that was found.

References
----------
G. E. P. Box, J. S. Hunter, "The 2^(k-p) fractional factorial designs", Technometrics 3, 1961 (folded over:
every contender has one that is its opposite). G. E. P. Box, K. B. Wilson, "On the experimental attainment of
optimum conditions", Journal of the Royal Statistical Society B 13, 1951 (steepest ascent).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dga2d.agents.proposing.variation import place_in_range, value_at, value_beside
from dga2d.agents.race_material import NewContender, RaceMaterial, busy_places
from dga2d.agents.race_texts import ConstantValues, with_constants
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.replay.state.generation_state import MeanGain
from dga2d.replay.state.run_state import RunState, ScreenedProgram

LEAST_FACTORS, MOST_FACTORS = 3, 8
"""Constants of a screen."""
MOST_PROGRAMS = 2 * MOST_FACTORS
"""Contenders of a screen, beside new code."""
REACH, REACH_DEVIATION = 0.15, 0.4
"""Distance up and down, in parts of a constant's range, and the standard deviation of its logarithm."""
SLOPE = "up the slope"
"""How a contender is called whose constants a screen advised."""
TUNING = ("constants", "share")
"""Kinds of contenders that leave the structure of the incumbent as it is."""


class Factor(NamedTuple):
    """A constant that a screen changes."""

    place: int
    """Position of its text in the incumbent."""
    tunable: Tunable
    """With its present value."""
    low: Value
    """What half of the programs have, below the present value or, at the lower end of its range, it."""
    high: Value
    """What the others have."""


class Slope(NamedTuple):
    """What a screen found of a constant."""

    factor: Factor
    worth: float
    """Half of what programs with the high value gained beyond those with the low one, a fraction."""


def screen_is_due(state: RunState, number: int) -> bool:
    """Return whether the race of generation `number` is a screen: the race before left the structure of the
    incumbent as it was and was no screen itself, and another race follows."""
    champion, rules = state.champion, state.settings
    if not rules.screen_instances or "constants" not in rules.moves or champion is None:
        return False
    is_restructured = champion.generation == number - 1 and champion.move not in TUNING
    return state.screened is None and not is_restructured and number < rules.generations


def draw_screen(material: RaceMaterial) -> list[NewContender]:
    """Return the contenders of a screen, each with its opposite; none where there are too few constants."""
    factors = _draw_factors(material)
    if len(factors) < LEAST_FACTORS:
        return []
    pair = np.array([[1, 1], [1, -1]])
    design = np.kron(pair, pair) if len(factors) <= 4 else np.kron(pair, np.kron(pair, pair))
    columns = material.draws.permutation(len(design))[: len(factors)]
    signs = 2 * material.draws.integers(2, size=len(factors)) - 1
    half = design[:, columns] * signs
    found = []
    for row in np.concatenate([half, -half]):
        values: ConstantValues = {}
        for factor, is_high in zip(factors, row > 0, strict=True):
            value = factor.high if is_high else factor.low
            values.setdefault(factor.place, {})[factor.tunable.name] = value
        found.append(with_constants(material, values, "screen"))
    return found


def _draw_factors(material: RaceMaterial) -> list[Factor]:
    """Draw constants of positions that take enough time, and how far each goes up and down."""
    places = [
        (place, tunable, here)
        for place in sorted(busy_places(material))
        for tunable in find_tunables(material.texts[material.incumbent[place].implementation])
        if (here := place_in_range(tunable, tunable.value)) is not None
    ]
    count = min(MOST_FACTORS, len(places))
    factors = []
    for k in sorted(int(k) for k in material.draws.permutation(len(places))[:count]):
        place, tunable, here = places[k]
        reach = REACH * math.exp(float(material.draws.normal(0.0, REACH_DEVIATION)))
        low, high = value_beside(tunable, here - reach), value_beside(tunable, here + reach)
        factors.append(Factor(place, tunable, low, high))
    return factors


def up_the_slope(material: RaceMaterial) -> tuple[NewContender, MeanGain] | None:
    """Return the incumbent with its constants moved as the last screen advises, and the gain to expect.

    The one that is worth most goes as far as the screen went, the others by what they are worth beside it.
    The gain counts for as many pairs as the screen had. ``None`` where there was no screen of this incumbent,
    or it found nothing.
    """
    screen = material.state.screened
    if screen is None or screen.base != material.incumbent:
        return None
    slopes = tuple(_slopes(material, screen.programs))
    steepest = max((abs(slope.worth) for slope in slopes), default=0.0)
    values: ConstantValues = {}
    expected = 0.0
    for (place, tunable, low, high), worth in slopes if steepest else ():
        here, there = _where(tunable, tunable.value), _where(tunable, high if worth > 0.0 else low)
        value = value_at(tunable, here + abs(worth) / steepest * (there - here))
        if value != tunable.value:
            values.setdefault(place, {})[tunable.name] = value
            distance = _where(tunable, value) - here
            expected += 2.0 * worth * distance / (_where(tunable, high) - _where(tunable, low))
    if not values:
        return None
    pairs = len(screen.programs) * screen.instances // 2
    return with_constants(material, values, SLOPE), MeanGain(expected, pairs)


def _slopes(material: RaceMaterial, programs: tuple[ScreenedProgram, ...]) -> Iterator[Slope]:
    """Yield what a screen found of each constant in which its programs differ; what failed tells nothing."""
    for place, step in enumerate(material.incumbent):
        known = {
            program.steps[place].implementation: {
                t.name: t.value for t in find_tunables(material.texts[program.steps[place].implementation])
            }
            for program in programs
        }
        for tunable in find_tunables(material.texts[step.implementation]):
            gains = dict[Value, list[float]]()
            for program in programs:
                value = known[program.steps[place].implementation].get(tunable.name)
                if value is not None and program.gain is not None:
                    gains.setdefault(value, []).append(program.gain)
            if place_in_range(tunable, tunable.value) is not None and len(gains) == 2:
                low, high = sorted(gains, key=lambda value: _where(tunable, value))
                means = [math.fsum(gains[value]) / len(gains[value]) for value in (low, high)]
                yield Slope(Factor(place, tunable, low, high), 0.5 * (means[1] - means[0]))


def _where(tunable: Tunable, value: Value) -> float:
    """Return where a number that a constant may have lies in its range, 0 to 1."""
    where = place_in_range(tunable, value)
    assert where is not None
    return where
