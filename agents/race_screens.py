"""Screens: races that ask what the constants of the incumbent are worth, all of them at once, and what marked
functions of other texts would be worth in it.

A race asks of every contender whether it is better, and has a few pairs for each answer. In a screen each
contender has all constants changed, half of them up and half of them down, such that every constant is up in
half of the contenders and any two are together up as often as apart. So each is judged by all evaluations.
Half of them have a marked function of another text in the same way. Nobody wins a screen; the next race has
a contender whose constants go up the slope that was found, one whose constants go further, and one with the
functions that are clearly worth something besides. Constants that have their present value in a part of the
contenders, too, are those of `race_levels`.

References
----------
G. E. P. Box, J. S. Hunter, "The 2^(k-p) fractional factorial designs", Technometrics 3, 1961 (folded over:
every contender has one that is its opposite). G. E. P. Box, K. B. Wilson, "On the experimental attainment of
optimum conditions", Journal of the Royal Statistical Society B 13, 1951 (steepest ascent).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import stdev
from typing import NamedTuple

import numpy as np

from dga2d.agents.proposing.blocks import read_module
from dga2d.agents.proposing.variation import place_in_range, value_at, value_beside
from dga2d.agents.race_factors import (
    CLEARLY,
    FURTHER,
    LEAST_FACTORS,
    MOST_FACTORS,
    SLOPE,
    WITH_FUNCTIONS,
    FunctionFactor,
    constants_to_ask,
    draw_functions,
    draw_reach,
    values_in_programs,
)
from dga2d.agents.race_levels import ARRAY, after_levels, draw_levels
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_texts import (
    ConstantValues,
    Exchange,
    Exchanges,
    with_changed_texts,
    with_constants,
)
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.generation_state import MeanGain
from dga2d.replay.state.run_state import RunState, ScreenedProgram

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
    """Return whether the race of generation `number` is a screen: the ``screen_patience`` races before left
    the structure of the incumbent as it was, or ``screen_interval`` wants one; the last of them was no
    screen, and another race follows."""
    champion, rules = state.champion, state.settings
    if not rules.screen_instances or "constants" not in rules.moves or champion is None:
        return False
    is_recent = champion.generation >= number - rules.screen_patience
    is_restructured = is_recent and champion.move not in TUNING
    interval = rules.screen_interval
    is_wanted = 0 < 2 * interval <= rules.generations and (number - 2) % interval == 0
    is_asked = is_wanted or not is_restructured
    return state.screened is None and is_asked and number < rules.generations


def most_programs(settings: RunSettings) -> int:
    """Return how many contenders a screen has at most, beside new code."""
    return len(ARRAY) if settings.screen_levels == 3 else 2 * MOST_FACTORS


def draw_screen(material: RaceMaterial) -> list[NewContender]:
    """Return the contenders of a screen, with two levels each with its opposite; none where there is too
    little to ask."""
    if material.state.settings.screen_levels == 3:
        return draw_levels(material)
    functions = draw_functions(material)
    constants = _draw_constants(material, MOST_FACTORS - len(functions))
    factors: list[Factor | FunctionFactor] = [*constants, *functions]
    if len(factors) < LEAST_FACTORS:
        return []
    pair = np.array([[1, 1], [1, -1]])
    design = np.kron(pair, pair) if len(factors) <= 4 else np.kron(pair, np.kron(pair, pair))
    columns = material.draws.permutation(len(design))[: len(factors)]
    signs = 2 * material.draws.integers(2, size=len(factors)) - 1
    half = design[:, columns] * signs
    return [_program(material, factors, row > 0) for row in np.concatenate([half, -half])]


def _program(
    material: RaceMaterial, factors: Sequence[Factor | FunctionFactor], levels: Sequence[bool]
) -> NewContender:
    """Return the incumbent with the high values of some constants and the low ones of the others, and with
    the functions of other texts that are high."""
    values: ConstantValues = {}
    exchanges: Exchanges = {}
    for factor, is_high in zip(factors, levels, strict=True):
        if isinstance(factor, Factor):
            value = factor.high if is_high else factor.low
            values.setdefault(factor.place, {})[factor.tunable.name] = value
        elif is_high:
            exchanges.setdefault(factor.place, []).append(factor.exchange)
    return with_changed_texts(material, values, exchanges, "screen")


def _draw_constants(material: RaceMaterial, most: int) -> list[Factor]:
    """Draw constants of positions that take enough time, and how far each goes up and down."""
    places = [
        (place, tunable, here)
        for place, tunable in constants_to_ask(material)
        if (here := place_in_range(tunable, tunable.value)) is not None
    ]
    count = min(most, len(places))
    factors = []
    for k in sorted(int(k) for k in material.draws.permutation(len(places))[:count]):
        place, tunable, here = places[k]
        reach = draw_reach(material)
        low, high = value_beside(tunable, here - reach), value_beside(tunable, here + reach)
        factors.append(Factor(place, tunable, low, high))
    return factors


def after_screen(material: RaceMaterial) -> list[tuple[NewContender, MeanGain]]:
    """Return the contenders that a screen of this incumbent advises, each with the gain to expect, which
    counts for as many pairs as the screen had: its constants up the slope, further up, and up the slope with
    the functions that are clearly worth something.

    What lies further was not seen: it is expected to gain as much.
    """
    screen = material.state.screened
    if screen is None or screen.base != material.incumbent:
        return []
    if material.state.settings.screen_levels == 3:
        return after_levels(material, screen)
    pairs = len(screen.programs) * screen.instances // 2
    values, expected = _up_the_slope(material, screen.programs)
    found = [(with_constants(material, values, SLOPE), MeanGain(expected, pairs))] if values else []
    further, _ = _up_the_slope(material, screen.programs, material.state.settings.screen_stretch)
    if further != values:
        found.append((with_constants(material, further, FURTHER), MeanGain(expected, pairs)))
    exchanges: Exchanges = {}
    for (place, exchange), worth in _worthy_functions(material, screen.programs):
        exchanges.setdefault(place, []).append(exchange)
        expected += 2.0 * worth
    if exchanges:
        contender = with_changed_texts(material, values, exchanges, WITH_FUNCTIONS)
        found.append((contender, MeanGain(expected, pairs)))
    return found


def _up_the_slope(
    material: RaceMaterial, programs: tuple[ScreenedProgram, ...], stretch: float = 1.0
) -> tuple[ConstantValues, float]:
    """Return the incumbent's constants as a screen advises, those that move, and what that is worth.

    The one that is worth most goes `stretch` times as far as the screen went, the others by what they are
    worth beside it, none beyond its range.
    """
    slopes = tuple(_slopes(material, programs))
    steepest = max((abs(slope.worth) for slope in slopes), default=0.0)
    values: ConstantValues = {}
    expected = 0.0
    for (place, tunable, low, high), worth in slopes if steepest else ():
        here, there = _where(tunable, tunable.value), _where(tunable, high if worth > 0.0 else low)
        value = value_at(tunable, here + stretch * abs(worth) / steepest * (there - here))
        if value != tunable.value:
            values.setdefault(place, {})[tunable.name] = value
            distance = _where(tunable, value) - here
            expected += 2.0 * worth * distance / (_where(tunable, high) - _where(tunable, low))
    return values, expected


def _worthy_functions(
    material: RaceMaterial, programs: tuple[ScreenedProgram, ...]
) -> Iterator[tuple[FunctionFactor, float]]:
    """Yield the functions of a screen that are worth `CLEARLY` more than nothing, and by how much half of
    what they gain is.

    Opposites differ in everything, so that the mean of such a pair is the same for all but for noise and for
    what factors do together: its scatter tells how sure a worth is.
    """
    half = len(programs) // 2
    means = [
        0.5 * (one.gain + other.gain)
        for one, other in zip(programs[:half], programs[half:], strict=True)
        if one.gain is not None and other.gain is not None
    ]
    if len(means) < LEAST_FACTORS:
        return
    error = stdev(means) / math.sqrt(len(means))
    for place, step in enumerate(material.incumbent):
        for number, block in enumerate(read_module(material.texts[step.implementation]).blocks):
            exchange, gains = _gains_of_function(material, programs, place, number, block.text)
            if exchange is not None and all(gains.values()):
                worth = 0.5 * (_mean(gains[True]) - _mean(gains[False]))
                if worth > CLEARLY * error:
                    yield FunctionFactor(place, exchange), worth


def _gains_of_function(
    material: RaceMaterial, programs: tuple[ScreenedProgram, ...], place: int, number: int, text: str
) -> tuple[Exchange | None, dict[bool, list[float]]]:
    """Return what programs have in the place of a function, and the gains of those that have it and of those
    that do not."""
    found, gains = None, dict[bool, list[float]]({False: [], True: []})
    for program in programs:
        module = read_module(material.texts[program.steps[place].implementation])
        block = module.blocks[number]
        if block.text != text:
            found = Exchange(number, module, block)
        if program.gain is not None:
            gains[block.text != text].append(program.gain)
    return found, gains


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _slopes(material: RaceMaterial, programs: tuple[ScreenedProgram, ...]) -> Iterator[Slope]:
    """Yield what a screen found of each constant in which its programs differ; what failed tells nothing."""
    for place, step in enumerate(material.incumbent):
        known = values_in_programs(material, programs, place)
        for tunable in find_tunables(material.texts[step.implementation]):
            gains = dict[Value, list[float]]()
            for program, values in zip(programs, known, strict=True):
                value = values.get(tunable.name)
                if value is not None and program.gain is not None:
                    gains.setdefault(value, []).append(program.gain)
            if place_in_range(tunable, tunable.value) is not None and len(gains) == 2:
                low, high = sorted(gains, key=lambda value: _where(tunable, value))
                worth = 0.5 * (_mean(gains[high]) - _mean(gains[low]))
                yield Slope(Factor(place, tunable, low, high), worth)


def _where(tunable: Tunable, value: Value) -> float:
    """Return where a number that a constant may have lies in its range, 0 to 1."""
    where = place_in_range(tunable, value)
    assert where is not None
    return where
