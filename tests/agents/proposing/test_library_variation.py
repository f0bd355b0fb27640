"""The offline proposer on the real operator libraries: their texts are data, nothing of them is run here."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest

from dga2d.agents.proposing.answers import normalised_ast_digest, parse_implementation
from dga2d.agents.proposing.blocks import Block, exchange_block, read_module
from dga2d.agents.proposing.composition import Habits, Search, is_iterated, iterate, take_apart
from dga2d.agents.proposing.tasks import ImplementTask, OperatorContract, PoolEntry
from dga2d.agents.proposing.variation import variations
from dga2d.domains.core.contract import Card, Implementation, OperatorName
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.tunables import find_tunables, tunable_faults
from dga2d.events import ImplementationId, OperatorId

CARD = Card("t", "o", "e", "d", {}, "c")
OPERATOR = OperatorContract(OperatorId("op"), "t", "s", "local_search", "complete", "complete")
SOURCES = {
    f"{domain}/{implementation.origin.removeprefix('library:')}": implementation.source
    for domain in domain_names()
    for operator in get_domain(domain).operators()
    for implementation in operator.implementations
}
FIRST = {min(name for name in SOURCES if name.startswith(f"{domain}/")) for domain in domain_names()}
VARIED = [
    pytest.param(name, marks=() if name in FIRST else pytest.mark.long if number % 3 else pytest.mark.slow)
    for number, (name, source) in enumerate(sorted(SOURCES.items()))
    if "# tunable: " in source
]
"""What is varied: a file of each domain, a third of the others if slow, all if long."""


@cache
def blocks_of(name: str) -> tuple[Block, ...]:
    """Return the exchangeable blocks of a library file."""
    return tuple(read_module(SOURCES[name]).blocks)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if number % 6 else ())
        for number, name in enumerate(sorted(SOURCES))
    ],
)
def test_every_marker_of_a_library_file_declares_a_usable_tunable(name: str) -> None:
    source = SOURCES[name]
    assert tunable_faults(source) == ()
    assert len(find_tunables(source)) == source.count("# tunable:")
    assert len(blocks_of(name)) == source.count("# exchangeable:")


@pytest.mark.parametrize("name", VARIED)
def test_a_library_file_with_tunables_has_different_valid_variants(name: str) -> None:
    task = task_of(SOURCES[name])
    found: list[str] = []
    for variant, _ in zip(variations(task, np.random.default_rng(1)), range(3), strict=False):
        assert parse_implementation(f"```python\n{variant}```\n", task) == variant
        found.append(variant)
    assert found
    assert len({normalised_ast_digest(source) for source in (*found, task.parent.source)}) == len(found) + 1


def test_what_was_measured_before_is_not_proposed_again() -> None:
    entry = PoolEntry(ImplementationId("op.000000000000"), SOURCES[min(FIRST)], 0.0)
    task = ImplementTask(CARD, OPERATOR, "add", (entry,), entry)
    found = tuple(islice(variations(task, np.random.default_rng(1)), 4))
    names = [Implementation(OperatorName(OPERATOR.id), text, "proposed").id for text in found]
    lost = replace(task, measured=frozenset({ImplementationId(names[0]), ImplementationId(names[2])}))
    assert tuple(islice(variations(lost, np.random.default_rng(1)), 2)) == (found[1], found[3])


@pytest.mark.slow
def test_what_is_too_long_for_a_text_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = composed("jsp")
    found = list(islice(variations(task, np.random.default_rng(1)), 6))
    sizes = sorted(len(text.encode()) for text in found)
    assert sizes[-1] > sizes[2]
    monkeypatch.setattr("dga2d.agents.proposing.variation.MAX_SOURCE_BYTES", sizes[2])
    short = list(islice(variations(task, np.random.default_rng(1)), 3))
    assert short == [text for text in found if len(text.encode()) <= sizes[2]][:3]


def test_those_who_ask_at_the_same_time_are_dealt_different_texts() -> None:
    entry = PoolEntry(ImplementationId("op.000000000000"), SOURCES[min(FIRST)], 0.0)
    task = ImplementTask(CARD, OPERATOR, "add", (entry,), entry, askers=3)
    dealt = [
        {
            normalised_ast_digest(text)
            for stream in range(2)
            for text in islice(variations(replace(task, rank=rank), np.random.default_rng(stream)), 2)
        }
        for rank in (1, 2, 3)
    ]
    assert all(len(texts) > 1 for texts in dealt)
    assert len(set.union(*dealt)) == sum(map(len, dealt))


@pytest.mark.slow
def test_blocks_of_the_same_name_have_the_same_signature_within_a_domain() -> None:
    for domain in domain_names():
        blocks: dict[str, list[Block]] = {}
        for name in sorted(SOURCES):
            if name.startswith(f"{domain}/"):
                for block in blocks_of(name):
                    blocks.setdefault(block.name, []).append(block)
        for name, same in blocks.items():
            assert len({block.signature for block in same}) == 1, (domain, name)


@pytest.mark.parametrize(
    ("domain", "annealing", "names"),
    [
        ("cvrp", "simulated_annealing", ["reconnection"]),
        ("fjsp", "critical_annealing", ["random-move", "move-screening"]),
        ("jsp", "critical_block_annealing", ["neighbourhood"]),
        ("mis", "simulated_annealing", ["insertion-choice", "completion"]),
    ],
)
def test_the_annealing_of_a_basic_baseline_can_be_rebuilt_block_by_block(
    domain: str, annealing: str, names: list[str]
) -> None:
    """Each named block has another form in the basic library, also after the others were exchanged."""
    basic = [op for op in get_domain(domain).operators() if op.tier == "basic"]
    assert get_domain(domain).basic_baseline()[-1].operator == annealing
    donors = [read_module(c.source) for op in basic if op.id != annealing for c in op.implementations]
    (start,) = (op.implementations[0].source for op in basic if op.id == annealing)
    for order in (names, names[::-1]):
        text = start
        for name in order:
            target = read_module(text)
            (block,) = (block for block in target.blocks if block.name == name)
            found = {
                exchange_block(target, block, donor, other)
                for donor in donors
                for other in donor.blocks
                if other.text != block.text
            }
            text = next(filter(None, sorted(found, key=str)))
            assert {block.name for block in read_module(text).blocks} >= {*names}
        assert parse_implementation(f"```python\n{text}```\n", task_of(start)) == text


def rebuilding(domain: str, annealing: str) -> ImplementTask:
    """A task for the annealing of a basic baseline, with all that the basic library has."""
    basic = [op for op in get_domain(domain).operators() if op.tier == "basic"]
    by_category: dict[str, list[Implementation]] = {}
    for op in basic:
        by_category.setdefault(op.category, []).extend(op.implementations if op.id != annealing else ())
    (start,) = (op.implementations[0] for op in basic if op.id == annealing)
    return replace(
        task_of(start.source),
        others=tuple(c for group in by_category.values() for c in group),
        perturbations=tuple(by_category["perturbation"]),
        improvers=tuple(by_category["local_search"]),
        structure_only=True,
        near_copy_lines=3,
    )


def test_blocks_are_exchanged_before_searches_are_composed_and_each_once() -> None:
    task = rebuilding("mis", "simulated_annealing")

    def firsts(task: ImplementTask, count: int) -> list[str]:
        return [next(variations(task, np.random.default_rng(seed))) for seed in range(count)]

    exchanged = {text for text in firsts(task, 20) if not is_iterated(text)}
    assert len(exchanged) == 2
    assert sum(text in exchanged for text in firsts(task, 20)) > 10
    names = {Implementation(OperatorName(OPERATOR.id), text, "proposed").id for text in exchanged}
    measured = replace(task, measured=frozenset(map(ImplementationId, names)))
    assert all(map(is_iterated, firsts(measured, 6)))


def test_other_members_of_the_pool_are_varied_too() -> None:
    """The parent is a composed search; every exchange in the annealing alone comes from the other member."""
    task = rebuilding("mis", "simulated_annealing")
    kick, improver = task.perturbations[0].source, task.improvers[0].source
    text = iterate([improver], kick, Habits(10, 50, 0.0))
    assert text is not None
    search = PoolEntry(ImplementationId("op.000000000001"), text, 1.0)
    both = replace(task, parent=search, pool=(*task.pool, search))
    found = [next(variations(both, np.random.default_rng(seed))) for seed in range(40)]
    alone = sum(not is_iterated(text) for text in found)
    assert 4 <= alone <= 20
    with_parent_alone = replace(both, pool=(search,))
    assert all(
        is_iterated(next(variations(with_parent_alone, np.random.default_rng(seed)))) for seed in range(6)
    )


def task_of(source: str) -> ImplementTask:
    """A task that asks for another form of a text."""
    entry = PoolEntry(ImplementationId("op.000000000000"), source, 0.0)
    return ImplementTask(CARD, OPERATOR, "add", (entry,), entry)


def test_no_searches_are_composed_for_walks_that_are_repeated() -> None:
    entry = PoolEntry(
        ImplementationId("op.000000000000"), "def run(env_data, state, calc):\n    return state\n", 0.0
    )
    other = Implementation(
        OperatorName("other"), "def run(env_data, state, calc):\n    return None\n", "library:o"
    )
    task = ImplementTask(CARD, OPERATOR, "add", (entry,), entry, perturbations=(other,), improvers=(other,))
    assert next(variations(task, np.random.default_rng(1)), None) is not None
    repeated = replace(task, card=replace(CARD, repeats=True))
    assert next(variations(repeated, np.random.default_rng(1)), None) is None


def composed(domain: str) -> tuple[ImplementTask, Search]:
    """A task whose parent is an iterated search of the library's code, and its parts."""
    by_category: dict[str, list[Implementation]] = {}
    for operator in get_domain(domain).operators():
        by_category.setdefault(operator.category, []).extend(operator.implementations)
    improvers, kicks = by_category["local_search"], by_category["perturbation"]
    habits = Habits(10, 50, 0.05, round_units=3)
    text = iterate([c.source for c in improvers[:2]], kicks[0].source, habits)
    assert text is not None
    entry, search = PoolEntry(ImplementationId("op.000000000000"), text, 0.0), take_apart(text)
    assert search is not None
    donors = tuple(by_category["intensification"])
    task = ImplementTask(CARD, OPERATOR, "add", (entry,), entry, round_units=3, structure_only=True)
    return replace(task, perturbations=tuple(kicks), improvers=tuple(improvers), intensifiers=donors), search


def told(search: Search) -> list[str | None]:
    """What each part says of itself, the perturbation last; code that parts share has no order of its own."""
    return [ast.get_docstring(ast.parse(part)) for part in (*search.improvers, search.perturbation)]


@pytest.mark.parametrize("domain", ["jsp", pytest.param("cvrp", marks=pytest.mark.slow)])
def test_an_iterated_search_is_varied_in_one_part(domain: str) -> None:
    task, search = composed(domain)
    found = list(islice(variations(task, np.random.default_rng(1)), 6))
    (*before, usual), ways = told(search), set()
    for text in found:
        assert parse_implementation(f"```python\n{text}```\n", task) == text
        revised = take_apart(text)
        assert revised is not None
        *improvers, kick = told(revised)
        new = {*improvers} - {*before}
        assert len(new) + (kick != usual) <= 1
        ways.add("kick" if kick != usual else "improver" if new else "order")
    assert {"kick", "improver"} <= ways
    assert found[:2] == list(islice(variations(task, np.random.default_rng(1)), 2))


def test_an_initialisers_search_may_begin_with_another_one() -> None:
    task, search = composed("jsp")
    starts = [c for op in get_domain("jsp").operators() if op.is_initialiser for c in op.implementations]
    text = iterate(search.improvers, search.perturbation, search.habits, starts[0].source)
    assert text is not None
    entry = PoolEntry(ImplementationId("op.000000000000"), text, 0.0)
    mates = tuple(PoolEntry(ImplementationId(c.id), c.source, 0.0) for c in starts[1:])
    richer = replace(task, parent=entry, pool=(entry, *mates))
    found = [take_apart(text) for text in islice(variations(richer, np.random.default_rng(1)), 6)]
    begun = {revised.constructor for revised in found if revised is not None}
    assert len(begun) > 1
