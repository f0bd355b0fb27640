"""Contenders of a race: what lies near the incumbent, what the generation brought, and new constants.

Everything is drawn from the state, the texts it names and one random stream; no model is asked.

References
----------
M. Birattari, T. Stützle, L. Paquete, K. Varrentrapp, "A racing algorithm for configuring metaheuristics",
GECCO 2002: candidates that compete on common instances. What is drawn here is our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from dga2d.agents.agent import open_basis, present_graph
from dga2d.agents.gate import evidence
from dga2d.agents.pool_edits import contribution
from dga2d.agents.proposing.variation import ENDLESS
from dga2d.agents.race_assemblies import opening_texts, with_assembled_texts
from dga2d.agents.race_children import with_children
from dga2d.agents.race_material import (
    NewContender,
    RaceMaterial,
    Steps,
    busy_places,
    may_replace,
    operators_of,
    with_implementations,
)
from dga2d.agents.race_screens import after_screen
from dga2d.agents.race_texts import set_constants, with_exchanged_blocks
from dga2d.agents.scoring import best_implementations
from dga2d.events import OperatorId
from dga2d.events.payloads import RaceMove, Step
from dga2d.replay.state.run_state import MoveRecord, RunState, program_key
from dga2d.replay.streams import choose

DRAWS = 20
"""Draws of a move before it is given up for this race: most may repeat what has raced before."""
CODE_SHARE = 3
"""At most one contender in this many brings new code."""
SHARE_DEVIATION = 1.0
"""Standard deviation of the logarithm of the factor by which a share is moved."""
SMALL_SHARE = 0.2
"""Share of an operator that is put into a walk, relative to the others."""
LEAST_SHARE = 0.02
"""Smallest share relative to one that was never moved; its inverse is the largest."""
PRIOR_STAYED, PRIOR_ENTERED = 3.0, 12.0
"""Contenders of every move that are taken to have survived and entered before the first race."""
CONSTANTS_FIRST = 3.0
"""Weight of other constants beside all other moves, where only what was ahead counts as having survived."""


def draw_proposals(
    material: RaceMaterial, count: int, screen: Sequence[NewContender] = ()
) -> list[NewContender]:
    """Return at most `count` contenders: not the incumbent, none twice, none that has lost before.

    Beside those of a `screen` there is new code alone. The texts of an opening are not counted.
    """
    state, moves = material.state, material.state.settings.moves
    known = {program_key(material.incumbent), *state.raced}
    found: list[NewContender] = []

    def enter(proposal: NewContender | None) -> bool:
        if proposal is None or len(found) >= count or proposal.move not in moves:
            return False
        key = program_key(proposal.steps)
        is_new = key not in known
        if is_new:
            known.add(key)
            found.append(proposal)
        return is_new

    for proposal, _ in after_screen(material):
        enter(proposal)
    for proposal in _returning(material) if not screen else ():
        enter(proposal)
    for proposal in tuple(_with_new_code(material))[: max(1, count // CODE_SHARE)]:
        enter(proposal)
    if screen:
        return [*found, *screen]
    for proposal in islice(with_children(material), state.settings.race_children):
        enter(proposal)
    for proposal in islice(_with_untried(material), state.settings.race_sweep):
        enter(proposal)
    for proposal in islice(_with_substitutes(material), state.settings.race_substitutes):
        enter(proposal)
    for proposal in islice(with_exchanged_blocks(material), state.settings.race_blocks):
        enter(proposal)
    for proposal in islice(_with_less(material), state.settings.race_drops):
        enter(proposal)
    assemblies = state.settings.race_assemblies
    assembled = tuple(islice(with_assembled_texts(material), assemblies + opening_texts(state)))
    count += max(0, len(assembled) - assemblies)
    for proposal in assembled:
        enter(proposal)
    for steps in material.rivals:
        enter(NewContender("sampled", "sampled by the policy", steps))
    weights = {move: move_weight(state, move) for move in sorted(MOVES.keys() & moves)}
    while weights and len(found) < count:
        total, u = sum(weights.values()), float(material.draws.random())
        move = tuple(weights)[choose([weight / total for weight in weights.values()], u)]
        if not any(enter(MOVES[move](material)) for _ in range(DRAWS)):
            del weights[move]
    return found


def _returning(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield new code that is ahead of the incumbent so far, the best first; then what was ahead in the last
    race: its finalist, and what the runners-up change, put into whichever is ahead of them."""
    state = material.state
    rules = state.settings
    may_race = (
        old
        for old in state.promising
        if program_key(old.steps) not in state.raced and material.is_walk(operators_of(old.steps))
    )
    ranked = sorted(may_race, key=lambda old: -old.gain.shrunken(rules.race_shrinkage))
    for old in ranked[: rules.race_memory]:
        told = (
            f"ahead on {old.gain.pairs} pairs so far" if old.gain.pairs else "was ahead of another incumbent"
        )
        yield NewContender("code", told, old.steps)
    if state.finalist:
        yield NewContender("finalist", "ahead in the last race, not clearly", state.finalist)
    leader = state.finalist or material.incumbent
    for steps in state.runners_up:
        joined = _with_changes(state.outrun, steps, leader)
        if material.is_walk(operators_of(joined)):
            yield NewContender("finalist", "close in the last race, with what was ahead of it", joined)


def _with_changes(base: Steps, changed: Steps, other: Steps) -> Steps:
    """Return `other` with what `changed` has changed of `base`, position by position; `changed` itself where
    they differ in length."""
    if not len(base) == len(changed) == len(other):
        return changed
    return tuple(new if new != old else kept for old, new, kept in zip(base, changed, other, strict=True))


def move_weight(state: RunState, move: str) -> float:
    """Return how likely a move is drawn, relative to others: as often as its contenders survived the first
    round of a race so far, all alike at first. Under ``race_credit = "ahead"`` ties are no survivors, and
    other constants come first."""
    record = state.moves.get(move, MoveRecord())
    if state.settings.race_credit == "stays":
        return (record.stayed + PRIOR_STAYED) / (record.entered + PRIOR_ENTERED)
    factor = CONSTANTS_FIRST if move == "constants" else 1.0
    return factor * (record.ahead + PRIOR_STAYED) / (record.entered + PRIOR_ENTERED)


def _with_new_code(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent with each implementation that joined a pool in this generation: as it was measured
    there by the gate, where that counts in the race; else in place of another where its operator is in the
    walk, or at a drawn place where it fits."""
    _, basis = open_basis(material.state)
    measured = evidence(material.state)
    for operator, pool in sorted(material.state.pools.items()):
        for new in sorted(set(pool) - set(basis.pools.get(operator, ()))):
            step = Step(operator=operator, implementation=new)
            places = [i for i, old in enumerate(material.incumbent) if old.operator == operator]
            if known := [steps for steps in measured if any(s.implementation == new for s in steps)]:
                yield NewContender("code", f"new code {new}", known[0])
            elif places:
                taken = {places[material.draw(len(places))]: new}
                yield NewContender("code", f"new code {new}", with_implementations(material.incumbent, taken))
            elif walks := [w for w in _neighbours(material, operator) if material.is_walk(operators_of(w))]:
                steps = walks[material.draw(len(walks))]
                filled = tuple(step if s.operator == operator else s for s in steps)
                yield NewContender("code", f"new code {new}", filled)


def _with_untried(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent with each operator that no contender has brought to it yet, in a drawn order and at
    a drawn place."""
    if "walk" not in material.state.settings.moves:
        return
    operators = present_graph(material.state).operators
    for number in material.draws.permutation(len(operators)):
        operator = operators[int(number)]
        walks = [w for w in _neighbours(material, operator) if material.is_walk(operators_of(w))]
        if not walks or any(program_key(walk) in material.state.raced for walk in walks):
            continue
        chosen = walks[material.draw(len(walks))]
        yield NewContender("walk", f"untried operator: {' → '.join(operators_of(chosen))}", chosen)


def _with_substitutes(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent with another operator of the same kind in the place of one, in each of its
    implementations that has not raced there: searches that use all the time they get, in a drawn order, then
    others.

    The position that takes most of the time comes first; those below ``share_effort`` have no turn.
    """
    state, steps = material.state, material.incumbent
    if "walk" not in state.settings.moves:
        return
    for place in busy_places(material):
        old = steps[place]
        others = [
            old.model_copy(update={"operator": operator, "implementation": implementation})
            for operator in present_graph(state).operators
            if operator != old.operator
            and may_replace(material.contracts[operator], material.contracts[old.operator])
            for implementation in state.pools.get(operator, ())
        ]
        drawn = [others[int(number)] for number in material.draws.permutation(len(others))]
        for step in sorted(drawn, key=lambda step: material.contracts[step.operator].category not in ENDLESS):
            changed = (*steps[:place], step, *steps[place + 1 :])
            if program_key(changed) not in state.raced and material.is_walk(operators_of(changed)):
                yield NewContender(
                    "walk", f"another of its kind: {' → '.join(operators_of(changed))}", changed
                )


def _with_less(material: RaceMaterial) -> Iterator[NewContender]:
    """Yield the incumbent with less in it: its beginning and one position alone, the one that takes most of
    the time first; then without one position, the one first whose part of the time exceeds its part of the
    improvement by most. A position that was never measured counts as if they were
    equal. What has raced, and positions below ``share_effort``, have no turn.
    """
    state, steps = material.state, material.incumbent
    if "walk" not in state.settings.moves or len(steps) < 3:
        return
    places = busy_places(material, first=1)
    found: list[Steps] = [(steps[0], steps[i]) for i in places]
    found += [steps[:i] + steps[i + 1 :] for i in sorted(places, key=lambda i: (-_excess(material, i), i))]
    for less in found:
        if program_key(less) not in state.raced and material.is_walk(operators_of(less)):
            yield NewContender("walk", f"less of it: {' → '.join(operators_of(less))}", less)


def _excess(material: RaceMaterial, place: int) -> float:
    """Return by how much the mean part of the time that a position takes exceeds that of the improvement."""
    known = contribution(material.state, material.incumbent[place].implementation)
    return (known.effort - known.gain) / known.runs if known.runs else 0.0


def _step(material: RaceMaterial, operator: OperatorId) -> Step:
    """Return a step with the implementation of highest credit."""
    return best_implementations((operator,), material.state.pools, material.state.credits)[0]


def _exchange_implementation(material: RaceMaterial) -> NewContender | None:
    """Put another member of its pool in the place of an implementation."""
    others = [
        (i, other)
        for i, step in enumerate(material.incumbent)
        for other in material.state.pools.get(step.operator, ())
        if other != step.implementation
    ]
    if not others:
        return None
    place, other = others[material.draw(len(others))]
    change = f"{other} at position {place + 1}"
    return NewContender("implementation", change, with_implementations(material.incumbent, {place: other}))


def _neighbours(material: RaceMaterial, operator: OperatorId) -> Iterator[Steps]:
    """Yield the incumbent with `operator` put in or in the place of another; not all fit.

    Where shares may be moved, half of what is put in gets a small part of the budget: with an equal one it
    would be a tax on the rest.
    """
    steps, new = material.incumbent, _step(material, operator)
    is_small = "share" in material.state.settings.moves and material.draw(2)
    put_in = new.model_copy(update={"share": SMALL_SHARE}) if is_small else new
    for i in range(len(steps) + 1):
        yield _insert(steps, i, put_in)
    for i in range(len(steps)):
        yield (*steps[:i], new, *steps[i + 1 :])


def _change_walk(material: RaceMaterial) -> NewContender | None:
    """Insert, exchange or drop an operator, run one again, or change the order of two."""
    steps = material.incumbent
    n = len(steps)
    kinds: tuple[tuple[str, Callable[[], Iterator[Steps]]], ...] = (
        ("another operator", lambda: _neighbours(material, _any_operator(material))),
        ("another operator", lambda: _neighbours(material, _any_operator(material))),
        ("an operator less", lambda: (steps[:i] + steps[i + 1 :] for i in range(n))),
        ("an operator again", lambda: (_insert(steps, i, step) for i in range(n + 1) for step in steps)),
        ("another order", lambda: (_swap(steps, i, j) for i in range(n) for j in range(i))),
    )
    change, neighbours = kinds[material.draw(len(kinds))]
    fitting = [other for other in neighbours() if material.is_walk(operators_of(other))]
    if not fitting:
        return None
    chosen = fitting[material.draw(len(fitting))]
    return NewContender("walk", f"{change}: {' → '.join(operators_of(chosen))}", chosen)


def _any_operator(material: RaceMaterial) -> OperatorId:
    operators = present_graph(material.state).operators
    return operators[material.draw(len(operators))]


def _insert(steps: Steps, place: int, step: Step) -> Steps:
    return (*steps[:place], step, *steps[place:])


def _swap(steps: Steps, i: int, j: int) -> Steps:
    changed = list(steps)
    changed[i], changed[j] = changed[j], changed[i]
    return tuple(changed)


def _cross_over(material: RaceMaterial) -> NewContender | None:
    """Join the beginning of the incumbent to the end of a rival, or the other way round."""
    rivals = [*material.rivals, *([material.state.finalist] if material.state.finalist else [])]
    rivals = [rival for rival in rivals if rival != material.incumbent]
    if not rivals:
        return None
    rival = rivals[material.draw(len(rivals))]
    head, tail = (material.incumbent, rival) if material.draw(2) else (rival, material.incumbent)
    steps = (*head[: 1 + material.draw(len(head))], *tail[material.draw(len(tail)) :])
    if not material.is_walk(operators_of(steps)):
        return None
    return NewContender("crossover", f"with {' → '.join(operators_of(rival))}", steps)


def _move_share(material: RaceMaterial) -> NewContender | None:
    """Give one position a larger or smaller part of the budget, of those that account for enough effort.

    Who ends by itself leaves its part to others whatever it is.
    """
    steps, least = material.incumbent, material.state.settings.share_effort
    shares = [contribution(material.state, step.implementation) for step in steps]
    places = [i for i, share in enumerate(shares) if not share.runs or share.effort >= least * share.runs]
    if len(places) < 2:
        return None
    place = places[material.draw(len(places))]
    factor = math.exp(float(material.draws.normal(0.0, SHARE_DEVIATION)))
    share = float(f"{min(max((steps[place].share or 1.0) * factor, LEAST_SHARE), 1.0 / LEAST_SHARE):.3g}")
    moved = (*steps[:place], steps[place].model_copy(update={"share": share}), *steps[place + 1 :])
    return NewContender(
        "share", f"share {share:g} for {steps[place].operator} at position {place + 1}", moved
    )


MOVES: Mapping[RaceMove, Callable[[RaceMaterial], NewContender | None]] = {
    "constants": set_constants,
    "walk": _change_walk,
    "implementation": _exchange_implementation,
    "crossover": _cross_over,
    "share": _move_share,
}
