"""New implementations out of old ones: searches composed and recomposed, blocks exchanged, tunables varied or
recombined.

Where races set constants (`ImplementTask.structure_only`), what changes constants alone is left to them.

Every variation is drawn from a random stream and keeps the parent's text outside of what it changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dga2d.agents.proposing.answers import near_copy_of, normalised_ast_digest
from dga2d.agents.proposing.blocks import exchange_block, read_module
from dga2d.agents.proposing.composition import Habits, Search, is_iterated, iterate, take_apart
from dga2d.agents.proposing.tasks import ImplementTask, OperatorContract, PoolEntry
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.tunables import Tunable, Value, find_tunables
from dga2d.domains.source_rules import MAX_SOURCE_BYTES

DRAWS = 60
"""Variations drawn before giving up, for each member of the pool and each that asks at the same time; draws
that repeat a known text do not count as answers."""
OTHER_BASES = 0.3
"""Part of the draws that varies other members of the pool than the parent: what raced best by luck, such as a
composed search, must not keep simpler code from being improved."""
MAX_VARIED = 3
"""Most tunables changed in one perturbation."""
ENDLESS = ("intensification", "recombination")
"""Categories of operators that improve as long as they may."""
ITERABLE = ("local_search", *ENDLESS)
"""Categories of operators whose improvement may be repeated from perturbed solutions."""
PATIENCE = (1, 3, 10, 30, 100)
"""Kicks in vain before an iterated search returns to its best solution."""
PARTS, PARTS_OF_ENDLESS = (10, 50, 200), (2, 4, 8, 16)
"""Parts of the budget of which an improvement may use one."""
WARMTH = (0.0, 0.0, 0.05, 0.3)
"""First temperatures at which an iterated search accepts what is worse."""
WHOLE = 1.3
"""Weight of code taken as it is: about that of all compositions of an operator."""
EXCHANGES = 3.0
"""Weight of exchanged blocks, in that of all compositions together."""
SWAP_THEN_PERTURB = 0.4
"""Probability that an exchanged block or a recombination comes with one varied tunable."""

Sources = tuple[str, ...]
Variation = Callable[[np.random.Generator], str | None]
Way = tuple[float, Variation]
"""A kind of variation with its weight."""
Ways = Callable[[PoolEntry, ImplementTask], list[Way]]


def all_ways(base: PoolEntry, task: ImplementTask) -> list[Way]:
    """Return the kinds of variation that `base` allows, with their weights.

    Exchanged blocks come first as a rule: they are few, and none that was tried is drawn again.
    """
    ways = _revisions(base, task) if is_iterated(base.source) else _compositions(base, task)
    if swaps := _block_swaps(base, task):
        varied = 0.0 if task.structure_only else SWAP_THEN_PERTURB
        weight = EXCHANGES * (sum(weight for weight, _ in ways) or 1.0)
        ways.append((weight, lambda rng: _maybe_perturb(swaps[int(rng.integers(len(swaps)))], rng, varied)))
    return ways if task.structure_only else [*ways, *constant_ways(base, task)]


def library_ways(base: PoolEntry, task: ImplementTask) -> list[Way]:
    """Return the kinds of variation with all code of the domain's library for donors, also that of operators
    the run's library leaves out; such code may take the operator's place as it is."""

    def with_unused(own: tuple[Implementation, ...], *categories: str) -> tuple[Implementation, ...]:
        return own + tuple(c for contract, c in task.unused if contract.category in categories)

    richer = replace(
        task,
        perturbations=with_unused(task.perturbations, "perturbation"),
        improvers=with_unused(task.improvers, "local_search"),
        intensifiers=with_unused(task.intensifiers, *ENDLESS),
    )
    ways = all_ways(base, richer)
    if whole := _replacements(task):
        ways.append((WHOLE, lambda rng: _draw(whole, rng)))
    return ways


def _replacements(task: ImplementTask) -> Sources:
    """Return unused implementations that do what the operator does: start, improve or perturb a solution."""

    def kind(contract: OperatorContract) -> tuple[str, str, bool]:
        return contract.requires, contract.provides, contract.category == "perturbation"

    return tuple(c.source for contract, c in task.unused if kind(contract) == kind(task.operator))


def constant_ways(base: PoolEntry, task: ImplementTask) -> list[Way]:
    """Return the kinds of variation that change constants alone, with their weights."""
    tunables = [tunable for tunable in find_tunables(base.source) if tunable.can_vary]
    mates = [entry for entry in task.pool if entry.id != base.id]
    ways: list[Way] = []
    if tunables:
        ways.append((0.5, lambda rng: perturb(base.source, rng)))
    if tunables and (related := [mate for mate in mates if _shared_values(tunables, mate)]):
        ways.append((0.2, lambda rng: _recombine(base, tunables, related, rng)))
        if worse := [mate for mate in related if mate.credit < base.credit]:
            ways.append((0.2, lambda rng: _move_away(base, tunables, worse, rng)))
    return ways


def _compositions(base: PoolEntry, task: ImplementTask) -> list[Way]:
    """Return the iterated searches that `base` can be part of, with their weights."""
    if task.card.repeats or not task.perturbations:
        return []
    category = task.operator.category
    ways: list[Way] = []

    def add(weight: float, category: str, *choices: Sources, starts: bool = False) -> None:
        if all(choices):
            ways.append((weight, lambda rng: _iterate(base, starts, category, choices, task, rng)))

    own = (base.source,)
    improvers, endless = _texts(task.improvers), _texts(task.intensifiers)
    if category in ITERABLE:
        add(0.35, category, own)
        add(0.35, category, own, improvers)
    if category == "local_search":
        add(0.35, "intensification", endless, own)
    if category in ENDLESS:  # searches of another kind, with nothing of its own
        add(0.3, "local_search", improvers)
        add(0.3, "local_search", improvers, improvers)
    if task.operator.is_initialiser:
        add(0.2, "local_search", improvers, starts=True)
        add(0.25, "local_search", improvers, improvers, starts=True)
        add(0.25, "intensification", endless, starts=True)
    return ways


def _revisions(base: PoolEntry, task: ImplementTask) -> list[Way]:
    """Return the searches that differ from `base`, an iterated one, in one part, with their weights."""
    search = take_apart(base.source)
    if search is None:
        return []
    first, *second = search.improvers
    improvers, endless, kicks = map(_texts, (task.improvers, task.intensifiers, task.perturbations))
    starts: Sources = ()
    if search.constructor is not None:
        starts = tuple(entry.source for entry in task.pool if not is_iterated(entry.source))
    ways: list[Way] = []

    def add(weight: float, donors: Sources, revise: Callable[[str, np.random.Generator], Search]) -> None:
        if donors:
            ways.append((weight, lambda rng: _write(revise(_draw(donors, rng), rng), task)))

    def repeat(ranges: Sequence[int]) -> Callable[[str, np.random.Generator], Search]:
        def revise(donor: str, rng: np.random.Generator) -> Search:
            habits = replace(search.habits, parts=int(rng.choice(ranges)))
            return replace(search, improvers=(donor, *second), habits=habits)

        return revise

    add(0.3, kicks, lambda donor, rng: replace(search, perturbation=donor))
    add(0.3, improvers, lambda donor, rng: replace(search, improvers=(first, donor)))
    add(0.2, improvers, repeat(PARTS))
    add(0.2, endless, repeat(PARTS_OF_ENDLESS))
    add(0.2, starts, lambda donor, rng: replace(search, constructor=donor))
    add(0.1, tuple(second), lambda donor, rng: replace(search, improvers=(first,)))
    add(0.1, tuple(second), lambda donor, rng: replace(search, improvers=(donor, first)))
    return ways


def variations(task: ImplementTask, rng: np.random.Generator, ways_of: Ways = all_ways) -> Iterator[str]:
    """Yield different variations of the pool's members, none of which the task would refuse as known or too
    long.

    Most draws vary the task's parent, `OTHER_BASES` of them another member, one of higher credit more often;
    there are `DRAWS` for each. Where others ask for code of the operator at the same time the texts are dealt
    out by their digests, so that none is measured twice.

    Raises
    ------
    ProposalError
        ``syntax``: a member of the pool is not Python.
    """
    known = {_meaning_of(entry.source, task) for entry in (*task.pool, task.parent)}
    others = sorted(
        (entry for entry in task.pool if entry.id != task.parent.id),
        key=lambda entry: (-entry.credit, entry.id),
    )
    bases = [ways for base in (task.parent, *others) if (ways := ways_of(base, task))]
    for _ in range(DRAWS * task.askers * len(bases)):
        ways = bases[_draw_base(len(bases), rng)]
        weights = np.array([weight for weight, _ in ways])
        text = ways[int(rng.choice(len(ways), p=weights / weights.sum()))][1](rng)
        if text is None or (meaning := _meaning_of(text, task)) in known:
            continue
        known.add(meaning)
        if int(meaning, 16) % task.askers != task.rank - 1:
            continue
        if len(text.encode()) <= MAX_SOURCE_BYTES and not _was_tried(text, task):
            yield text


def _meaning_of(source: str, task: ImplementTask) -> str:
    """Return a digest that is equal where two texts are the same to a task, constants aside where it asks for
    structure alone."""
    return normalised_ast_digest(source, keeps_constants=not task.structure_only)


def _was_tried(source: str, task: ImplementTask) -> bool:
    """Return whether a text would be refused as a near copy, or has been measured."""
    name: str = Implementation(OperatorName(task.operator.id), source, "proposed").id
    return name in task.measured or near_copy_of(source, task) is not None


def _draw_base(count: int, rng: np.random.Generator) -> int:
    """Return which of `count` bases is varied: the first, or else each half as often as the one before."""
    if count == 1 or rng.random() >= OTHER_BASES:
        return 0
    weights = 0.5 ** np.arange(count - 1)
    return 1 + int(rng.choice(count - 1, p=weights / weights.sum()))


def perturb(source: str, rng: np.random.Generator, most: int = MAX_VARIED) -> str:
    """Return the text with 1 to `most` of its tunables varied; unchanged where it has none."""
    tunables = [tunable for tunable in find_tunables(source) if tunable.can_vary]
    if not tunables:
        return source
    count = 1 + int(rng.integers(min(most, len(tunables))))
    picked = sorted(int(i) for i in rng.choice(len(tunables), size=count, replace=False))
    return rewrite(source, {tunables[i].name: vary(tunables[i], rng) for i in picked})


def _maybe_perturb(source: str, rng: np.random.Generator, probability: float = SWAP_THEN_PERTURB) -> str:
    return perturb(source, rng, most=1) if rng.random() < probability else source


def _shared_values(tunables: Iterable[Tunable], mate: PoolEntry) -> dict[str, Value]:
    """Return the values of `mate` that differ from the base's and lie in the base's ranges."""
    values = {tunable.name: tunable.value for tunable in find_tunables(mate.source)}
    return {
        tunable.name: values[tunable.name]
        for tunable in tunables
        if tunable.name in values
        and values[tunable.name] != tunable.value
        and tunable.accepts(values[tunable.name])
    }


def _recombine(
    base: PoolEntry, tunables: list[Tunable], mates: list[PoolEntry], rng: np.random.Generator
) -> str:
    """Return the base with each constant of a mate taken over with probability one half."""
    shared = _shared_values(tunables, mates[int(rng.integers(len(mates)))])
    taken = {name: value for name, value in sorted(shared.items()) if rng.random() < 0.5}
    return _maybe_perturb(rewrite(base.source, taken), rng)


def _move_away(
    base: PoolEntry, tunables: list[Tunable], worse: list[PoolEntry], rng: np.random.Generator
) -> str:
    """Return the base with its constants moved on, away from those of a member of lower credit."""
    shared = _shared_values(tunables, worse[int(rng.integers(len(worse)))])
    factor = float(rng.uniform(0.2, 1.0))
    moved = {
        tunable.name: value
        for tunable in tunables
        if tunable.name in shared and (value := step_away(tunable, shared[tunable.name], factor)) is not None
    }
    return rewrite(base.source, moved)


def _iterate(
    base: PoolEntry,
    starts: bool,
    category: str,
    choices: Sequence[Sources],
    task: ImplementTask,
    rng: np.random.Generator,
) -> str | None:
    """Return an iterated search with an improver out of each of `choices` and a perturbation.

    `category` is that of the first improver; the base `starts` the search where it is an initialiser.
    """
    improvers = tuple(_draw(texts, rng) for texts in choices)
    parts = PARTS_OF_ENDLESS if category in ENDLESS else PARTS
    patience, part, warmth = (values[int(rng.integers(len(values)))] for values in (PATIENCE, parts, WARMTH))
    kick, habits = _draw(_texts(task.perturbations), rng), Habits(int(patience), int(part), float(warmth))
    return _write(Search(improvers, kick, base.source if starts else None, habits), task)


def _write(search: Search, task: ImplementTask) -> str | None:
    """Return the text of a search; ``None`` where its parts do not go together."""
    improvers = list(dict.fromkeys(search.improvers))
    habits = replace(search.habits, round_units=task.round_units)
    return iterate(improvers, search.perturbation, habits, search.constructor)


def _draw(texts: Sources, rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]


def _texts(implementations: tuple[Implementation, ...]) -> Sources:
    return tuple(other.source for other in sorted(implementations, key=lambda other: other.id))


def _block_swaps(base: PoolEntry, task: ImplementTask) -> list[str]:
    """Return the base with one exchangeable block replaced, once for each fitting block at hand; without what
    stands in the pool or was tried."""
    target = read_module(base.source)
    if not target.blocks:
        return []
    donors = [entry.source for entry in task.pool if entry.id != base.id]
    donors += [other.source for other in sorted(task.others, key=lambda other: other.id)]
    texts = [
        text
        for block in target.blocks
        for donor in map(read_module, donors)
        for replacement in donor.blocks
        if replacement.text != block.text
        and (text := exchange_block(target, block, donor, replacement)) is not None
    ]
    known = {_meaning_of(entry.source, task) for entry in task.pool}
    return [
        text
        for text in dict.fromkeys(texts)
        if _meaning_of(text, task) not in known and not _was_tried(text, task)
    ]


SIGNIFICANT_DIGITS = 4
"""Digits of a varied float."""


def rewrite(source: str, values: Mapping[str, Value]) -> str:
    """Return the source with new values for some of its tunables; every other byte stays.

    Raises
    ------
    ValueError
        A name is no tunable of the source, or its value is outside the declared range.
    """
    tunables = {tunable.name: tunable for tunable in find_tunables(source)}
    data = source.encode()
    for name in sorted(values, key=lambda key: -tunables[key].start if key in tunables else 0):
        if name not in tunables:
            raise ValueError(f"{name} is not a tunable of this source")
        tunable, value = tunables[name], values[name]
        if not tunable.accepts(value):
            raise ValueError(f"{value!r} is outside the range of {name}")
        if value != tunable.value:
            is_plain_text = isinstance(value, str) and '"' not in value and "\\" not in value
            literal = f'"{value}"' if is_plain_text else repr(value)
            data = data[: tunable.start] + literal.encode() + data[tunable.end :]
    return data.decode()


def vary(tunable: Tunable, rng: np.random.Generator) -> Value:
    """Draw another value within the range: usually a step of about a fifth of it, sometimes anywhere.

    Small integer ranges and choices are drawn evenly from the other values. The tunable must be able to
    vary.
    """
    if tunable.kind == "choice":
        others = [choice for choice in tunable.choices if choice != tunable.value]
        return others[int(rng.integers(len(others)))]
    assert not isinstance(tunable.value, str)
    is_fresh = rng.random() < 0.2 or (tunable.kind == "int" and tunable.high - tunable.low <= 8)
    here = _to_scale(tunable, float(tunable.value))
    there = float(rng.random()) if is_fresh else here + float(rng.normal(0.0, 0.2))
    return _nearest_other(tunable, _from_scale(tunable, min(max(there, 0.0), 1.0)), upwards=there >= here)


def step_away(tunable: Tunable, worse: Value, factor: float) -> Value | None:
    """Return the value moved on by `factor` times its distance from a `worse` value of the same constant.

    ``None`` for choices and where the two values are equal or of different kinds.
    """
    if tunable.kind == "choice" or not tunable.accepts(worse) or worse == tunable.value:
        return None
    here, there = _to_scale(tunable, float(tunable.value)), _to_scale(tunable, float(worse))
    target = min(max(here + factor * (here - there), 0.0), 1.0)
    return _round(tunable, _from_scale(tunable, target))


def _to_scale(tunable: Tunable, value: float) -> float:
    """Return the position of a value in its range: 0 at the lower end, 1 at the upper."""
    if tunable.is_logarithmic:
        return math.log(value / tunable.low) / math.log(tunable.high / tunable.low)
    return (value - tunable.low) / (tunable.high - tunable.low)


def place_in_range(tunable: Tunable, value: Value) -> float | None:
    """Return where a number lies in the range, 0 to 1; ``None`` if it lies outside or there is no range."""
    is_number = tunable.kind != "choice" and isinstance(value, int | float)
    if not is_number or not tunable.can_vary or not tunable.low <= float(value) <= tunable.high:
        return None
    return _to_scale(tunable, float(value))


def value_at(tunable: Tunable, position: float) -> Value:
    """Return the number at a position of the range; 0 and below is its lower end, 1 and above its upper."""
    return _round(tunable, _from_scale(tunable, min(max(position, 0.0), 1.0)))


def value_beside(tunable: Tunable, position: float) -> Value:
    """Return the number at a position of the range, or the next one on its side of the present value if that
    is the same; the present one where the range has no other there."""
    value = value_at(tunable, position)
    if value != tunable.value or tunable.kind != "int":
        return value
    assert isinstance(value, int)
    assert isinstance(tunable.value, int)
    step = 1 if position > _to_scale(tunable, tunable.value) else -1
    return min(max(value + step, int(tunable.low)), int(tunable.high))


def _from_scale(tunable: Tunable, position: float) -> float:
    if tunable.is_logarithmic:
        return tunable.low * math.pow(tunable.high / tunable.low, position)
    return tunable.low + position * (tunable.high - tunable.low)


def _round(tunable: Tunable, value: float) -> Value:
    if tunable.kind == "int":
        return min(max(round(value), int(tunable.low)), int(tunable.high))
    return min(max(float(f"{value:.{SIGNIFICANT_DIGITS}g}"), tunable.low), tunable.high)


def _nearest_other(tunable: Tunable, value: float, *, upwards: bool) -> Value:
    """Return `value` rounded to the kind; if that is the current value, a neighbour of it."""
    rounded = _round(tunable, value)
    if rounded != tunable.value:
        return rounded
    if tunable.kind == "float":
        return tunable.low if tunable.value != tunable.low else tunable.high
    assert isinstance(tunable.value, int)
    is_up = tunable.value < tunable.high if upwards else tunable.value <= tunable.low
    return tunable.value + (1 if is_up else -1)
