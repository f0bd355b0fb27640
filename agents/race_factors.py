"""What a screen may ask about: constants of the positions that take the time, and marked functions there."""

from __future__ import annotations

import math
from typing import NamedTuple

from dga2d.agents.proposing.blocks import exchange_block, read_module
from dga2d.agents.race_material import RaceMaterial, busy_places
from dga2d.agents.race_texts import Exchange
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.domains.source_rules import check_source
from dga2d.replay.state.run_state import ScreenedProgram

LEAST_FACTORS, MOST_FACTORS = 3, 8
"""Constants and marked functions of a screen."""
REACH, REACH_DEVIATION = 0.15, 0.4
"""Distance up and down, in parts of a constant's range, and the standard deviation of its logarithm."""
SLOPE, FURTHER = "up the slope", "further up the slope"
"""How contenders are called whose constants a screen advised."""
WITH_FUNCTIONS = "with functions"
"""How one is called that has marked functions besides which a screen advised."""
CLEARLY = 2.0
"""Standard errors by which a function must be worth something to be taken."""


class FunctionFactor(NamedTuple):
    """A marked function that a screen changes."""

    place: int
    """Position of its text in the incumbent."""
    exchange: Exchange
    """What some of the programs have in its place."""


def draw_functions(material: RaceMaterial) -> list[FunctionFactor]:
    """Draw marked functions of positions that take enough time, each with one of another text that fits.

    There are none in runs without evolution.
    """
    rules = material.state.settings
    if not (rules.screen_functions and rules.evolution and "implementation" in rules.moves):
        return []
    fitting: list[list[FunctionFactor]] = []
    for place in sorted(busy_places(material)):
        target = read_module(material.texts[material.incumbent[place].implementation])
        for number, block in enumerate(target.blocks):
            others: dict[str, FunctionFactor] = {}
            for _, source in sorted(material.donors.items()):
                donor = read_module(source)
                for other in donor.blocks:
                    text = exchange_block(target, block, donor, other) if other.text != block.text else None
                    if text is not None and text not in others and not check_source(text):
                        others[text] = FunctionFactor(place, Exchange(number, donor, other))
            if others:
                fitting.append([*others.values()])
    chosen = material.draws.permutation(len(fitting))[: rules.screen_functions]
    return [fitting[k][material.draw(len(fitting[k]))] for k in sorted(int(k) for k in chosen)]


def constants_to_ask(material: RaceMaterial) -> list[tuple[int, Tunable]]:
    """Return the constants of positions that take enough time, each with its position in the incumbent."""
    return [
        (place, tunable)
        for place in sorted(busy_places(material))
        for tunable in find_tunables(material.texts[material.incumbent[place].implementation])
    ]


def draw_reach(material: RaceMaterial) -> float:
    """Return how far a constant goes up and down, in parts of its range."""
    return REACH * math.exp(float(material.draws.normal(0.0, REACH_DEVIATION)))


def values_in_programs(
    material: RaceMaterial, programs: tuple[ScreenedProgram, ...], place: int
) -> list[dict[str, Value]]:
    """Return the constants of the text that each program has at a position, by their names."""
    texts = (material.texts[program.steps[place].implementation] for program in programs)
    return [{tunable.name: tunable.value for tunable in find_tunables(text)} for text in texts]
