"""Calls and evaluations of every method when nothing fails: the published figures."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.agents.methods.dry_run import DryRun

from dga2d.agents.methods import get_method


@pytest.mark.parametrize(
    ("method", "size", "calls", "made", "evaluations"),
    [
        ("random", 10, 500, 500, 501),
        ("eoh", 10, 500, 500, 501),  # 2N + 48 N
        ("eoh", 5, 110, 110, 111),  # 2N + 20 N, the defaults of the authors
        ("eoh", 4, 110, 110, 111),  # the last generation is cut
        ("reevo", 10, 500, 498, 301),  # 30 + 18 · 26 calls; 1 + 30 + 18 · 15 evaluations
        ("mcts-ahd", 10, 500, 500, 251),  # two calls per evaluation
        ("mcts-ahd", 10, 501, 500, 251),
        ("meoh", 20, 500, 500, 501),
        ("tree", 10, 500, 500, 501),
    ],
)
def test_calls_and_evaluations_are_those_published(
    method: str, size: int, calls: int, made: int, evaluations: int
) -> None:
    """Every method evaluates the library's own program besides, at no call."""
    dry = DryRun(get_method(method), calls, size)
    end = dry.run()
    assert (dry.made, len(end.programs)) == (made, evaluations)


def test_the_rounds_of_eoh() -> None:
    dry = DryRun(get_method("eoh"), 500)
    dry.run()
    phases = Counter(plan.phase for plan in dry.plans)
    assert phases == {"seeds": 1, "initial": 2, "generation": 48}
    children = Counter(a.variation for plan in dry.plans[3:] for a in plan.asks)
    assert set(children) == {"e1", "e2", "m1", "m2"}
    assert all(90 < count < 150 for count in children.values())
    shown = {a.variation: len(a.parents) for plan in dry.plans[3:] for a in plan.asks}
    assert shown == {"e1": 2, "e2": 2, "m1": 1, "m2": 1}


def test_the_rounds_of_reevo() -> None:
    dry = DryRun(get_method("reevo"), 500)
    dry.run()
    phases = Counter(plan.phase for plan in dry.plans)
    assert phases == {"seeds": 1, "initial": 1, "crossover": 18, "mutation": 18}
    crossover, mutation = dry.plans[2], dry.plans[3]
    assert Counter(a.purpose for a in crossover.asks) == {"reflect": 10, "program": 10}
    assert [a.after for a in crossover.asks[10:]] == list(range(10))
    assert [(a.purpose, a.after) for a in mutation.asks] == [("reflect", None), *[("program", 0)] * 5]


def test_a_mutation_of_reevo_is_told_all_hints_and_what_was_known_before() -> None:
    method = get_method("reevo")
    dry = DryRun(method, 82)
    dry.run()
    second = next(i for i, plan in enumerate(dry.plans) if i > 3 and plan.phase == "mutation")
    before = dry.searches[second - 1]
    notes = method.notes(before, dry.plans[second].asks[0])
    assert notes == ("4/0", *(f"5/{slot}" for slot in range(10)))


def test_pairs_of_reevo_are_a_worse_and_a_better_program() -> None:
    dry = DryRun(get_method("reevo"), 200)
    dry.run()
    for search, plan in zip(dry.searches, dry.plans[1:], strict=False):
        if plan.phase != "crossover":
            continue
        for ask in plan.asks:
            worse, better = (search.programs[name].score for name in ask.parents)
            assert worse < better


def test_children_of_reevo_replace_the_population_and_the_elite_returns() -> None:
    dry = DryRun(get_method("reevo"), 200, 4)
    dry.run()
    after = [s for s, plan in zip(dry.searches, dry.plans, strict=True) if plan.phase == "crossover"]
    for search in after:
        assert {search.programs[name].round for name in search.population} == {search.round - 1}
    best = max(dry.searches[-1].programs.values(), key=lambda p: p.score)
    assert dry.searches[-1].archive == (best.id,)


def test_every_program_of_mcts_ahd_is_described_before_it_is_evaluated() -> None:
    dry = DryRun(get_method("mcts-ahd"), 60)
    dry.run()
    for plan in dry.plans[1:]:
        assert [(a.purpose, a.after) for a in plan.asks] == [("program", None), ("describe", 0)]
    assert [plan.asks[0].variation for plan in dry.plans[1:5]] == ["i1", "e1", "e1", "e1"]


def test_a_child_of_mcts_ahd_that_fails_is_tried_again_three_times() -> None:
    dry = DryRun(get_method("mcts-ahd"), 40)
    end = dry.run(fails=frozenset({7, 8, 9}))
    tried = [p.variation for p in sorted(end.programs.values(), key=lambda p: p.number)]
    assert tried[6] == tried[7] == tried[8]
    assert not {program.id for program in end.programs.values() if program.failed} & set(end.tree)


def test_the_first_survivors_of_meoh_come_after_a_quarter_of_a_population() -> None:
    dry = DryRun(get_method("meoh"), 500, 20)
    dry.run()
    assert [len(plan.asks) for plan in dry.plans[:4]] == [1, 5, 20, 20]
    operators = [a.variation for plan in dry.plans[2:] for a in plan.asks]
    assert operators[:6] == ["e1", "e2", "m1", "m2", "e1", "e2"]


def test_what_fails_does_not_fill_the_buffer_of_meoh() -> None:
    dry = DryRun(get_method("meoh"), 100, 8)
    dry.run(fails=frozenset({5, 6}))  # the seed is 1, the first buffer 2 and 3
    assert [len(plan.asks) for plan in dry.plans[:4]] == [1, 2, 8, 2]
