"""Screens of three levels: a constant has its present value, one below and one above, or two other choices.

With two values, one on either side, a constant whose present value is as good as the higher one and whose
lower end is ruinous looks steeper than all others, and what follows moves hardly anything else. Here each
value is compared with the present one. Any two constants have each pair of their values equally often
together; a marked function stands beside them with the present one and one of another text.

References
----------
G. Taguchi, "System of Experimental Design", 1987 (the orthogonal array of eighteen rows, and columns with
fewer levels than it has room for). G. E. P. Box, K. B. Wilson, "On the experimental attainment of optimum
conditions", Journal of the Royal Statistical Society B 13, 1951 (steepest ascent).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dga2d.agents.proposing.blocks import Module, read_module
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
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_texts import (
    ConstantValues,
    Exchange,
    Exchanges,
    with_changed_texts,
    with_constants,
)
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.replay.state.generation_state import MeanGain
from dga2d.replay.state.run_state import Screened, ScreenedProgram

ARRAY = (
    "00000000",
    "00111111",
    "00222222",
    "01001122",
    "01112200",
    "01220011",
    "02010212",
    "02121020",
    "02202101",
    "10022110",
    "10100221",
    "10211002",
    "11012021",
    "11120102",
    "11201210",
    "12021201",
    "12102012",
    "12210120",
)
"""Rows of levels: the first of two, the others of three, any two of them together equally often."""
LIKELY = 1.5
"""Standard errors by which another value must be better than the present one to be taken."""

Factor = tuple[int, str]
"""Position in the incumbent, and the name of a constant or the number of a marked function there."""
Levels = dict[Factor, list[Value | None]]
"""What each program has of it, in the order of the programs; ``None`` where it is gone."""


class LevelFactor(NamedTuple):
    """A constant that a screen changes."""

    place: int
    """Position of its text in the incumbent."""
    tunable: Tunable
    values: tuple[Value, Value, Value]
    """The present one, and two others; where there are none, the present one again."""


class Worth(NamedTuple):
    """What another value of a constant, or another function, gained beyond the present one."""

    gain: float
    """A fraction, mean over the programs that have it less that over those that have the present one."""
    error: float
    """Its standard error, from what the sum of all factors leaves unexplained."""


# ---------------------------------------------------------------- the screen


def draw_levels(material: RaceMaterial) -> list[NewContender]:
    """Return the contenders of a screen; none where there is too little to ask."""
    functions = draw_functions(material)
    constants = _draw_constants(material, MOST_FACTORS - max(1, len(functions)))
    if len(constants) + len(functions) < LEAST_FACTORS:
        return []
    columns = [1 + int(k) for k in material.draws.permutation(len(ARRAY[0]) - 1)]
    places = [0, *columns] if functions else columns  # the first function's is that of two levels
    factors: list[LevelFactor | FunctionFactor] = [*functions, *constants]
    asked = [(factor, places[k], material.draws.permutation(3)) for k, factor in enumerate(factors)]
    programs = []
    for row in ARRAY:
        values: ConstantValues = {}
        exchanges: Exchanges = {}
        for factor, column, order in asked:
            level = int(order[int(row[column])]) if column else int(row[0])
            if isinstance(factor, LevelFactor) and level:
                values.setdefault(factor.place, {})[factor.tunable.name] = factor.values[level]
            elif isinstance(factor, FunctionFactor) and level == 1:
                exchanges.setdefault(factor.place, []).append(factor.exchange)
        programs.append(with_changed_texts(material, values, exchanges, "screen"))
    return programs


def _draw_constants(material: RaceMaterial, most: int) -> list[LevelFactor]:
    """Draw constants, and their other values: numbers a drawn distance to either side, or two choices."""
    places = [(place, tunable) for place, tunable in constants_to_ask(material) if tunable.can_vary]
    drawn = []
    for k in sorted(int(k) for k in material.draws.permutation(len(places))[:most]):
        place, tunable = places[k]
        here = place_in_range(tunable, tunable.value)
        if here is None:
            others = [choice for choice in tunable.choices if choice != tunable.value]
            order = material.draws.permutation(len(others))
            one, other = [*(others[int(i)] for i in order[:2]), tunable.value][:2]
        else:
            reach = draw_reach(material)
            one, other = value_beside(tunable, here - reach), value_beside(tunable, here + reach)
        drawn.append(LevelFactor(place, tunable, (tunable.value, one, other)))
    return drawn


# ---------------------------------------------------------------- what it advises


def after_levels(material: RaceMaterial, screen: Screened) -> list[tuple[NewContender, MeanGain]]:
    """Return the contenders that a screen of the incumbent advises, each with the gain to expect.

    They have the constants that are likely better, the same further on where the other side is no better, and
    besides the functions that are clearly worth something. What is expected is a standard error less than
    what was seen, and counts for as many pairs as a value had; what lies further is expected to gain as much.
    """
    worths = _worths(screen.programs, _levels(material, screen.programs))
    chosen = _likely_better(material, worths)
    seen, pairs = [worth for _, _, worth in chosen], len(screen.programs) * screen.instances // 3
    values: ConstantValues = {}
    further: ConstantValues = {}
    for (place, tunable), value, _ in chosen:
        values.setdefault(place, {})[tunable.name] = value
        beyond = _beyond(material, tunable, value, worths[place, tunable.name])
        further.setdefault(place, {})[tunable.name] = beyond
    found = [(with_constants(material, values, SLOPE), MeanGain(_expected(seen), pairs))] if values else []
    if further != values:
        found.append((with_constants(material, further, FURTHER), MeanGain(_expected(seen), pairs)))
    exchanges: Exchanges = {}
    for place, exchange, worth in _worthy_functions(material, screen.programs, worths):
        exchanges.setdefault(place, []).append(exchange)
        seen.append(worth)
    if exchanges:
        contender = with_changed_texts(material, values, exchanges, WITH_FUNCTIONS)
        found.append((contender, MeanGain(_expected(seen), pairs)))
    return found


def _expected(seen: Sequence[Worth]) -> float:
    return math.fsum(worth.gain for worth in seen) - math.sqrt(math.fsum(w.error**2 for w in seen))


def _likely_better(
    material: RaceMaterial, worths: dict[Factor, dict[Value, Worth]]
) -> list[tuple[tuple[int, Tunable], Value, Worth]]:
    """Return the constants of which another value is likely better than the present one, with the best."""
    found = []
    for place, step in enumerate(material.incumbent):
        for tunable in find_tunables(material.texts[step.implementation]):
            others = {v: w for v, w in worths.get((place, tunable.name), {}).items() if tunable.accepts(v)}
            if others:
                value = max(others, key=lambda v: others[v].gain)
                if others[value].gain > LIKELY * others[value].error:
                    found.append(((place, tunable), value, others[value]))
    return found


def _beyond(material: RaceMaterial, tunable: Tunable, value: Value, worths: dict[Value, Worth]) -> Value:
    """Return a value further on than `value`, seen from the present one, if that is no choice and what lies
    on its other side is no better than it; else `value`."""
    here, there = place_in_range(tunable, tunable.value), place_in_range(tunable, value)
    if here is None or there is None or any(w.gain > 0.0 for v, w in worths.items() if v != value):
        return value
    return value_at(tunable, here + material.state.settings.screen_stretch * (there - here))


def _worthy_functions(
    material: RaceMaterial, programs: tuple[ScreenedProgram, ...], worths: dict[Factor, dict[Value, Worth]]
) -> Iterator[tuple[int, Exchange, Worth]]:
    """Yield the functions of other texts that are clearly worth something."""
    modules = _modules(material, programs)
    for place, step in enumerate(material.incumbent):
        for number, _ in enumerate(read_module(material.texts[step.implementation]).blocks):
            for text, worth in worths.get((place, str(number)), {}).items():
                if worth.gain > CLEARLY * worth.error:
                    donor = next(module for module in modules[place] if module.blocks[number].text == text)
                    yield place, Exchange(number, donor, donor.blocks[number]), worth


def _levels(material: RaceMaterial, programs: tuple[ScreenedProgram, ...]) -> Levels:
    """Return the constants and functions in which the programs differ, and what each program has of them; the
    incumbent's own comes first, before the programs'."""
    found: Levels = {}
    modules = _modules(material, programs)
    for place, step in enumerate(material.incumbent):
        own = material.texts[step.implementation]
        for number, block in enumerate(read_module(own).blocks):
            blocks = (module.blocks[number].text for module in modules[place])
            found[place, str(number)] = [block.text, *blocks]
        known = values_in_programs(material, programs, place)
        for tunable in find_tunables(own):
            found[place, tunable.name] = [
                tunable.value,
                *(values.get(tunable.name) for values in known),
            ]
    return {factor: values for factor, values in found.items() if len(set(values)) > 1}


def _modules(material: RaceMaterial, programs: tuple[ScreenedProgram, ...]) -> list[list[Module]]:
    """Return what each program has at each position of the incumbent."""
    return [
        [read_module(material.texts[program.steps[place].implementation]) for program in programs]
        for place in range(len(material.incumbent))
    ]


def _worths(programs: tuple[ScreenedProgram, ...], levels: Levels) -> dict[Factor, dict[Value, Worth]]:
    """Return what each other value gained beyond the present one; programs that failed tell nothing.

    The model is a sum of one term for each factor; with balanced columns its least squares are the means.
    """
    gains = {i: program.gain for i, program in enumerate(programs) if program.gain is not None}
    if not gains:
        return {}
    mean = math.fsum(gains.values()) / len(gains)
    left, freedom = dict(gains), len(gains) - 1
    groups = dict[Factor, dict[Value | None, list[int]]]()
    means = dict[Factor, dict[Value | None, float]]()
    for factor, (_, *values) in levels.items():
        groups[factor] = {}
        for i in gains:
            groups[factor].setdefault(values[i], []).append(i)
        means[factor] = {v: math.fsum(gains[i] for i in own) / len(own) for v, own in groups[factor].items()}
        freedom -= len(means[factor]) - 1
        for i in gains:
            left[i] -= means[factor][values[i]] - mean
    unexplained = math.fsum((rest - mean) ** 2 for rest in left.values())
    deviation = math.sqrt(unexplained / freedom) if freedom > 0 else math.inf
    worths = dict[Factor, dict[Value, Worth]]()
    for factor, (present, *_) in levels.items():
        for value, own in groups[factor].items() if present in groups[factor] else ():
            if value is not None and value != present:
                error = deviation * math.sqrt(1.0 / len(own) + 1.0 / len(groups[factor][present]))
                gain = means[factor][value] - means[factor][present]
                worths.setdefault(factor, {})[value] = Worth(gain, error)
    return worths
