"""Contenders of a race that bring a text of their own: other constants, or a marked function of another text.

No model is asked for them. What other constants do is told apart from what the text does (`configured`); a
text with a function of another one counts as a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from dga2d.agents.proposing.blocks import exchange_block, read_module
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
from dga2d.replay.state.run_state import program_key

ConstantValues = dict[int, dict[str, Value]]
"""Values of constants by their names, by the position of their text in the incumbent."""
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
    configured, taken = [], {}
    for place, constants in values.items():
        step = material.incumbent[place]
        source = rewrite(material.texts[step.implementation], constants)
        text = Implementation(OperatorName(step.operator), source, f"configured:{step.implementation}")
        configured.append(Configured(text, step.implementation, constants))
        taken[place] = ImplementationId(text.id)
    change = ", ".join(
        f"{name} = {value} in {material.incumbent[place].operator}"
        for place, constants in values.items()
        for name, value in constants.items()
    )
    told = f"{why}: {change}" if why else change
    return NewContender("constants", told, with_implementations(material.incumbent, taken), tuple(configured))


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
