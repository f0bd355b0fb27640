"""Contenders of a race that bring a text of their own: other constants, or a marked function of another text.

No model is asked for them. What other constants do is told apart from what the text does (`configured`); a
text with a function of another one counts as a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from dga2d.agents.proposing.blocks import Block, Module, exchange_block, read_module
from dga2d.agents.proposing.variation import place_in_range, rewrite, vary
from dga2d.agents.race_material import (
    Configured,
    NewContender,
    RaceMaterial,
    busy_places,
    with_implementations,
)
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.domains.source_rules import check_source
from dga2d.events import ImplementationId
from dga2d.events.payloads import RaceMove
from dga2d.replay.state.run_state import program_key

ConstantValues = dict[int, dict[str, Value]]
"""Values of constants by their names, by the position of their text in the incumbent."""


class Exchange(NamedTuple):
    """A marked function of a text that gives way to one of another text."""

    number: int
    """Of the function among the marked ones of its text, from 0."""
    donor: Module
    replacement: Block


Exchanges = dict[int, list[Exchange]]
"""By the position of the text in the incumbent."""
MOST_CONSTANTS = 3
"""Most constants that one contender changes."""
MODEL_DRAWS = 5
"""Values of a constant that are drawn to take the one that looks best."""
BANDWIDTH = 0.15
"""Standard deviation of the kernels over a constant's range."""


def set_constants(material: RaceMaterial) -> NewContender | None:
    """Set one to three constants anywhere in the incumbent to other values."""
    places: list[tuple[int, Tunable]] = [
        (i, tunable)
        for i, step in enumerate(material.incumbent)
        for tunable in find_tunables(material.texts[step.implementation])
        if tunable.can_vary
    ]
    if not places:
        return None
    count = 1 + material.draw(min(MOST_CONSTANTS, len(places)))
    values: ConstantValues = {}
    for k in sorted(int(k) for k in material.draws.choice(len(places), size=count, replace=False)):
        place, tunable = places[k]
        values.setdefault(place, {})[tunable.name] = _draw_value(material, place, tunable)
    return with_constants(material, values)


def with_constants(material: RaceMaterial, values: ConstantValues, why: str = "") -> NewContender:
    """Return the incumbent with other constants; `why` they were chosen is told before them."""
    return with_changed_texts(material, values, {}, why)


def with_changed_texts(
    material: RaceMaterial, values: ConstantValues, exchanges: Exchanges, why: str
) -> NewContender:
    """Return the incumbent with other constants and marked functions; `why` they were chosen is told first.

    Functions that do not fit together, and constants of functions that are gone, are left out.
    """
    configured, taken, told = [], {}, list[str]()
    for place in sorted(values.keys() | exchanges.keys()):
        step = material.incumbent[place]
        source, exchanged = _with_functions(material.texts[step.implementation], exchanges.get(place, ()))
        left = {tunable.name for tunable in find_tunables(source)}
        constants = {name: value for name, value in values.get(place, {}).items() if name in left}
        written = rewrite(source, constants) if constants else source
        text = Implementation(OperatorName(step.operator), written, f"configured:{step.implementation}")
        configured.append(Configured(text, step.implementation, {} if exchanged else constants))
        taken[place] = ImplementationId(text.id)
        told += [f"another {name} in {step.operator}" for name in exchanged]
        told += [f"{name} = {value} in {step.operator}" for name, value in constants.items()]
    change = f"{why}: {', '.join(told)}" if why else ", ".join(told)
    move: RaceMove = "implementation" if any(exchanges.values()) else "constants"
    return NewContender(move, change, with_implementations(material.incumbent, taken), tuple(configured))


def _with_functions(source: str, exchanges: Iterable[Exchange]) -> tuple[str, list[str]]:
    """Return a text with the functions of others that fit, and their names."""
    names = []
    for number, donor, replacement in exchanges:
        target = read_module(source)
        changed = exchange_block(target, target.blocks[number], donor, replacement)
        if changed is not None and not check_source(changed):
            source = changed
            names.append(replacement.name)
    return source, names


def _draw_value(material: RaceMaterial, place: int, tunable: Tunable) -> Value:
    """Draw several values for a constant and return the one that earlier races favour most.

    Measured is the ratio of two densities over the constant's range: of values that survived the first round
    of their race, the present one among them, and of those that did not.

    References
    ----------
    J. Bergstra et al., "Algorithms for hyper-parameter optimization", NeurIPS 2011 (tree-structured Parzen
    estimators).
    """
    drawn = [vary(tunable, material.draws) for _ in range(MODEL_DRAWS)]
    text = material.state.unconfigured(material.incumbent[place].implementation)
    tried = [
        (where, stayed)
        for name, constant, value, stayed in material.state.tried_constants
        if (name, constant) == (text, tunable.name) and (where := place_in_range(tunable, value)) is not None
    ]
    here = place_in_range(tunable, tunable.value)
    if not tried or here is None:
        return drawn[0]
    tried.append((here, True))

    def ratio(value: Value) -> float:
        where = place_in_range(tunable, value)
        assert where is not None
        mass = {True: 1.0, False: 1.0}
        for other, stayed in tried:
            mass[stayed] += math.exp(-0.5 * ((where - other) / BANDWIDTH) ** 2)
        return float(f"{mass[True] / mass[False]:.9g}")

    return max(drawn, key=ratio)


def with_exchanged_blocks(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent with a marked function of one of its texts exchanged for each fitting one of the
    pools' texts that has not raced there, in a drawn order.

    The position that takes most of the time comes first; those below ``share_effort`` have no turn. There is
    none in runs without evolution.
    """
    state, steps = material.state, material.incumbent
    if not state.settings.evolution or "implementation" not in state.settings.moves:
        return
    for place in busy_places(material):
        old = steps[place]
        found = tuple(_exchanges(material, old.implementation).items())
        for number in material.draws.permutation(len(found)):
            source, change = found[int(number)]
            text = Implementation(OperatorName(old.operator), source, f"exchanged:{old.implementation}")
            changed = with_implementations(steps, {place: ImplementationId(text.id)})
            if program_key(changed) not in state.raced and not check_source(source):
                told, brought = f"{change} at position {place + 1}", Configured(text, old.implementation, {})
                yield NewContender("implementation", told, changed, (brought,))


def _exchanges(material: RaceMaterial, implementation: ImplementationId) -> dict[str, str]:
    """Return the texts that an implementation becomes by one exchange, each with what is exchanged."""
    target = read_module(material.texts[implementation])
    found: dict[str, str] = {}
    for donor_id, donor_text in sorted(material.donors.items()) if target.blocks else ():
        donor = read_module(donor_text)
        for block, replacement in product(target.blocks, donor.blocks):
            if replacement.text != block.text:
                text = exchange_block(target, block, donor, replacement)
                if text is not None:
                    found.setdefault(text, f"{block.name} of {donor_id}")
    return found
