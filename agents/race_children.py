"""Contenders of a race whose texts have two parents among those that went far in the races before.

A child is the text of one parent with about half of the marked functions and constants of the other; some of
its functions are any text's, and half of its constants are moved. What is together in the best of many texts
that were assembled at random is so tried in other combinations. No model is asked.

References
----------
M. López-Ibáñez et al., "The irace package", Operations Research Perspectives 3, 2016: what races next is
drawn around the best of the race before. J. H. Holland, "Adaptation in Natural and Artificial Systems", 1975
(recombination). That texts are recombined is our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dga2d.agents.proposing.blocks import exchange_block, read_module
from dga2d.agents.proposing.variation import ENDLESS, rewrite, vary
from dga2d.agents.race_assemblies import (
    ATTEMPTS,
    IN_PLACE,
    Donors,
    beside_or_in_place,
    marked_functions,
    place_for,
)
from dga2d.agents.race_material import Configured, NewContender, RaceMaterial, operators_of
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.tunables import Value, find_tunables
from dga2d.domains.source_rules import check_source
from dga2d.events.payloads import Step
from dga2d.replay.state.run_state import program_key

CHILD = "child"
"""How such a contender's change begins."""
PARENTS = 6
"""Texts that may be parents, those of the latest and best programs that went far."""
FROM_OTHER, FROM_ANY = 0.5, 0.2
"""Probabilities with which a function is the other parent's, or that of any text."""
MOVED = 0.5
"""Probability with which a constant is moved, whichever parent it is from."""


def with_children(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield children of the programs that went far in the races before, behind the incumbent's first position
    alone or, more seldom, in the place of the operator that takes most of the time.

    There is none in runs without evolution, and before a race has been over.
    """
    state = material.state
    if not state.settings.evolution or "implementation" not in state.settings.moves:
        return
    donors, parents = marked_functions(material), _parents(material)
    raced = {program_key(material.incumbent), *state.raced}
    for _ in range(ATTEMPTS if parents else 0):
        one = parents[material.draw(len(parents))]
        others = [parent for parent in parents if parent != one] or [one]
        made = _child(material, one, others[material.draw(len(others))], donors)
        changed = beside_or_in_place(material, one.operator, made, material.draw(IN_PLACE) > 0)
        key = program_key(changed)
        is_walk = material.is_walk(operators_of(changed))
        if is_walk and key not in raced and not check_source(made.text.source):
            raced.add(key)
            told = f"{CHILD}: {' → '.join(operators_of(changed))}"
            yield NewContender("implementation", told, changed, (made,))


def _parents(material: RaceMaterial) -> list[Step]:
    """Return the steps of programs that went far whose text has a marked function and may replace one of the
    incumbent's; only searches that use all the time they get where there are any."""
    steps = dict.fromkeys(step.model_copy(update={"share": None}) for p in material.state.far for step in p)
    found = [
        step
        for step in steps
        if place_for(material, step.operator) and read_module(material.texts[step.implementation]).blocks
    ]
    endless = [step for step in found if material.contracts[step.operator].category in ENDLESS]
    return (endless or found)[:PARENTS]


def _child(material: RaceMaterial, one: Step, other: Step, donors: Donors) -> Configured:
    """Return the text of `one` with functions and constants of `other`, and some changed."""
    own = source = material.texts[one.implementation]
    second = material.texts[other.implementation]
    for number in range(len(read_module(own).blocks)):
        target = read_module(source)
        block, u = target.blocks[number], float(material.draws.random())
        if u < FROM_OTHER:
            mate = read_module(second)
            given = [(mate, function) for function in mate.blocks]
        else:
            given = [*donors.get(block.name, ())] if u < FROM_OTHER + FROM_ANY else []
        texts = [exchange_block(target, block, *donor) for donor in given if donor[1].text != block.text]
        fitting = [*dict.fromkeys(text for text in texts if text is not None)]
        source = fitting[material.draw(len(fitting))] if fitting else source
    values = {tunable.name: tunable.value for tunable in find_tunables(second)}
    constants: dict[str, Value] = {}
    for tunable in find_tunables(source):
        mates = values.get(tunable.name, tunable.value)
        is_mates = material.draw(2) > 0 and tunable.accepts(mates)
        value = mates if is_mates else tunable.value
        if tunable.can_vary and float(material.draws.random()) < MOVED:
            value = vary(replace(tunable, value=value), material.draws)
        if value != tunable.value:
            constants[tunable.name] = value
    written = rewrite(source, constants) if constants else source
    text = Implementation(OperatorName(one.operator), written, f"child:{one.implementation}")
    return Configured(text, one.implementation, constants if source == own else {})
