"""Contenders of a race that put their parts together at once: an operator with marked functions, each of them
taken from any text that has it, and with other constants.

A walk is changed by one step at a time, and so is a text; where two functions are worth something only
together, or only with other constants, every single step loses. No model is asked for what is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterator

from dga2d.agents.proposing.blocks import Block, Module, exchange_block, read_module
from dga2d.agents.proposing.variation import ENDLESS, rewrite, value_at, vary
from dga2d.agents.race_material import (
    Configured,
    NewContender,
    RaceMaterial,
    Steps,
    busy_places,
    may_replace,
    operators_of,
)
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.domains.source_rules import check_source
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
from dga2d.replay.state.run_state import RunState, program_key

ASSEMBLED = "assembled"
"""How such a contender's change begins."""
ATTEMPTS = 20
"""Texts assembled before a race goes without one: most may repeat what has raced, or not be allowed. Of the
texts of an opening twice as many besides."""
IN_PLACE = 3
"""One in so many takes the place of a search, with all else as it is; the others stand behind the first
position alone."""

Donors = dict[str, tuple[tuple[Module, Block], ...]]
"""Marked functions of the pools' texts by their names, each text of one once."""


def with_assembled_texts(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent's first position with an assembled text alone behind it or, more seldom, the
    incumbent with one in the place of the operator that takes most of the time of those it may replace. Where
    there are searches that use all the time they get, only they are assembled.

    There is none in runs without evolution.
    """
    state, steps = material.state, material.incumbent
    if not state.settings.evolution or "implementation" not in state.settings.moves:
        return
    attempts = ATTEMPTS + 2 * opening_texts(state)
    donors = marked_functions(material)
    bases = _bases(material, donors)
    endless = [operator for operator in bases if material.contracts[operator].category in ENDLESS]
    operators = endless or [*bases]
    raced = {program_key(steps), *state.raced}
    for _ in range(attempts if bases else 0):
        operator = operators[material.draw(len(operators))]
        members = bases[operator]
        made = _assemble(material, operator, members[material.draw(len(members))], donors)
        changed = beside_or_in_place(material, operator, made, material.draw(IN_PLACE) > 0)
        key, is_walk = program_key(changed), material.is_walk(operators_of(changed))
        if is_walk and key not in raced and not check_source(made.text.source):
            raced.add(key)
            told = f"{ASSEMBLED}: {' → '.join(operators_of(changed))}"
            yield NewContender("implementation", told, changed, (made,))


def opening_texts(state: RunState) -> int:
    """Return how many assembled texts a race has beside its other contenders: the first one alone has any."""
    return state.settings.race_opening if state.champion is None else 0


def beside_or_in_place(
    material: RaceMaterial, operator: OperatorId, made: Configured, is_alone: bool
) -> Steps:
    """Return the incumbent's first position with a text alone behind it, or the incumbent with the text in
    the place of what its operator may replace."""
    steps, place = material.incumbent, place_for(material, operator)
    step = Step(operator=operator, implementation=ImplementationId(made.text.id))
    return (steps[0], step) if is_alone else (*steps[:place], step, *steps[place + 1 :])


def marked_functions(material: RaceMaterial) -> Donors:
    """Return the marked functions of the pools' texts."""
    found: dict[str, dict[str, tuple[Module, Block]]] = {}
    for _, source in sorted(material.donors.items()):
        module = read_module(source)
        for block in module.blocks:
            found.setdefault(block.name, {}).setdefault(block.text, (module, block))
    return {name: tuple(texts.values()) for name, texts in found.items()}


def _bases(material: RaceMaterial, donors: Donors) -> dict[OperatorId, list[ImplementationId]]:
    """Return the members of pools that have a marked function of which there is another text, by operator,
    where it may replace one of the incumbent's."""
    found: dict[OperatorId, list[ImplementationId]] = {}
    for operator, pool in sorted(material.state.pools.items()):
        if place_for(material, operator) == 0:
            continue
        for name in pool:
            if any(len(donors[block.name]) > 1 for block in read_module(material.donors[name]).blocks):
                found.setdefault(operator, []).append(name)
    return found


def place_for(material: RaceMaterial, operator: OperatorId) -> int:
    """Return the position behind the first whose operator may be replaced by another, the one that takes most
    of the time; 0 where there is none."""
    new, contracts = material.contracts[operator], material.contracts
    places = busy_places(material, first=1)
    return next((i for i in places if may_replace(new, contracts[material.incumbent[i].operator])), 0)


def _assemble(
    material: RaceMaterial, operator: OperatorId, base: ImplementationId, donors: Donors
) -> Configured:
    """Return a text with each marked function drawn from those that fit, its own among them, and about half
    of its constants drawn anew."""
    own = source = material.donors[base]
    for number in range(len(read_module(own).blocks)):
        target = read_module(source)
        block = target.blocks[number]
        others = (donor for donor in donors[block.name] if donor[1].text != block.text)
        texts = [exchange_block(target, block, *donor) for donor in others]
        fitting = [source, *dict.fromkeys(text for text in texts if text is not None)]
        source = fitting[material.draw(len(fitting))]
    constants = {
        tunable.name: _draw_value(material, tunable)
        for tunable in find_tunables(source)
        if tunable.can_vary and material.draw(2)
    }
    written = rewrite(source, constants) if constants else source
    text = Implementation(OperatorName(operator), written, f"assembled:{base}")
    return Configured(text, base, constants if source == own else {})


def _draw_value(material: RaceMaterial, tunable: Tunable) -> Value:
    if tunable.kind == "choice":
        return vary(tunable, material.draws)
    return value_at(tunable, float(material.draws.random()))
