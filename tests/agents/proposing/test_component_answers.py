"""Answers that hold one function of a skeleton, and the offline proposer's."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.program_answers import component_answers, parse_program, put_into, terms_of
from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import ProgramTask, RunFacts, ShownProgram
from dga2d.domains.core.components import components_of, split_component
from dga2d.domains.core.registry import get_domain
from dga2d.domains.source_rules import check_source
from dga2d.events import ImplementationId

FRAME = components_of(get_domain("tsp"))[0].source
HEAD = split_component(FRAME)[0]
SIGNATURE = "def guide(length, penalty, mean_length, nearest):"
GOOD = f'"""Long ones."""\n\nfrom numba import njit\n\n\n@njit(cache=True)\n{SIGNATURE}\n    return length\n'


def task_for(domain: str = "tsp", variation: str = "i1", *heads: str) -> ProgramTask:
    parents = tuple(
        ShownProgram(ImplementationId(f"program.{i}"), head, "", "", "1 %", -0.01)
        for i, head in enumerate(heads)
    )
    return ProgramTask(
        card=get_domain(domain).card,
        variation=variation,
        instruction="Do.",
        parents=parents,
        shows_scores=False,
        notes=(),
        operators=(),
        code=(),
        facts=RunFacts(budget="1 s", instances="few", max_tokens=100_000, edition=3),
        frame=components_of(get_domain(domain))[0].source,
    )


def test_a_function_is_put_into_the_skeleton() -> None:
    source = parse_program(f"```python\n{GOOD}```\n", FRAME)
    assert split_component(source) == (GOOD, split_component(FRAME)[1])


def test_a_skeleton_that_is_answered_is_not_taken() -> None:
    changed = FRAME.replace("NEIGHBOURS = 10", "NEIGHBOURS = 20")
    assert put_into(FRAME, changed) == FRAME


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def other(length):\n    return length\n", "expected exactly one def guide"),
        (GOOD.replace(", nearest", ""), "expected exactly one def guide"),
        (GOOD.replace("@njit(cache=True)\n", ""), "expected @njit"),
        (GOOD + "\n\ndef search(x):\n    return x\n", "uses these names itself: search"),
        (GOOD + "\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n", "itself: run"),
    ],
)
def test_what_does_not_fit_the_skeleton_is_refused(answer: str, told: str) -> None:
    with pytest.raises(ProposalError, match=told):
        parse_program(f"```python\n{answer}```\n", FRAME)


@pytest.mark.parametrize("domain", ["jsp", "tsp", "cvrp"])
def test_the_offline_proposer_varies_and_recombines(domain: str) -> None:
    rule = split_component(task_for(domain).frame)[0]
    first, second = islice(component_answers(task_for(domain), np.random.default_rng(1)), 2)
    for variation, heads in [("i1", ()), ("e2", (first, second)), ("m1", (rule,)), ("m2", (first,))]:
        answers = [
            list(islice(component_answers(task_for(domain, variation, *heads), np.random.default_rng(2)), 3))
            for _ in range(2)
        ]
        assert answers[0] == answers[1]
        assert len({*answers[0], *heads}) == 3 + len(heads)
        for answer in answers[0]:
            assert check_source(parse_program(f"```python\n{answer}```\n", task_for(domain).frame)) == ()
    crossed = next(component_answers(task_for(domain, "e2", first, second), np.random.default_rng(2)))
    assert {*terms_of(crossed)} <= {*terms_of(first), *terms_of(second)}


def test_terms_are_read_back() -> None:
    assert terms_of(FRAME) == ("length / (1.0 + penalty)",)
    answer = next(component_answers(task_for(), np.random.default_rng(3)))
    assert len(terms_of(answer)) == answer.count("tunable")


def test_the_prompt_shows_rule_and_skeleton_and_nothing_of_the_library() -> None:
    text = render(task_for("tsp", "m1", GOOD)).text
    assert HEAD.rstrip() in text
    assert SIGNATURE in text
    assert "def run(env_data" in text
    assert "building blocks" not in text.lower()
