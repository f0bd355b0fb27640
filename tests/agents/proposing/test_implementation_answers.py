from __future__ import annotations

import pytest

from dga2d.agents.proposing.answers import parse_implementation
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.tasks import ImplementTask, OperatorContract, PoolEntry
from dga2d.domains.core.contract import Card
from dga2d.events import ImplementationId

GOOD = "LIMIT = 9\n\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n"


@pytest.fixture
def task(card: Card, operators: tuple[OperatorContract, ...], parent_source: str) -> ImplementTask:
    entry = PoolEntry(ImplementationId("tabu.000000000000"), parent_source, 0.1)
    return ImplementTask(card, operators[4], "add", (entry,), entry)


def answer(code: str) -> str:
    return f"```python\n{code}```\n"


def test_the_code_comes_back_as_it_was_written(task: ImplementTask) -> None:
    assert parse_implementation(answer(GOOD), task) == GOOD
    assert parse_implementation(answer("\n\n" + GOOD + "\n\n"), task) == GOOD


def test_code_that_runs_like_a_pool_member_is_refused(task: ImplementTask, parent_source: str) -> None:
    same = parent_source.replace("order", "places").replace("# exchangeable", "# an exchangeable")
    with pytest.raises(ProposalError, match=r"tabu\.000000000000") as refusal:
        parse_implementation(answer(same), task)
    assert refusal.value.stage == "duplicate"
    different = parent_source.replace("ROUNDS = 3", "ROUNDS = 4")
    assert parse_implementation(answer(different), task) == different


BAD = {
    "not python": ("def run(env_data, state, calc_makespan_fn)\n    return state\n", "syntax"),
    "no run": ("def solve(env_data, state, calc_makespan_fn):\n    return state\n", "signature"),
    "two runs": (GOOD + GOOD, "signature"),
    "nested run": (
        "class A:\n    def run(env_data, state, calc_makespan_fn):\n        return state\n",
        "signature",
    ),
    "async run": (GOOD.replace("def run", "async def run"), "signature"),
    "other names": (GOOD.replace("calc_makespan_fn", "score"), "signature"),
    "other order": (GOOD.replace("env_data, state", "state, env_data"), "signature"),
    "more arguments": (GOOD.replace("fn)", "fn, extra)"), "signature"),
    "default": (GOOD.replace("fn)", "fn=None)"), "signature"),
    "star": (GOOD.replace("fn)", "fn, *rest)"), "signature"),
    "keywords": (GOOD.replace("fn)", "fn, **rest)"), "signature"),
    "positional only": (GOOD.replace("fn)", "fn, /)"), "signature"),
    "decorated": (GOOD.replace("def run", "@print\ndef run"), "signature"),
    "import": ("import os\n" + GOOD, "source_rules"),
    "eval": (GOOD.replace("return state", "return eval('state')"), "source_rules"),
    "lambda": ("run = lambda env_data, state, calc_makespan_fn: state\n", "signature"),
}


@pytest.mark.parametrize(("code", "stage"), BAD.values(), ids=BAD)
def test_code_without_the_exact_signature_is_refused(task: ImplementTask, code: str, stage: str) -> None:
    with pytest.raises(ProposalError) as refusal:
        parse_implementation(answer(code), task)
    assert refusal.value.stage == stage


def test_every_breach_of_the_source_rules_is_named_with_its_line(task: ImplementTask) -> None:
    with pytest.raises(ProposalError) as refusal:
        parse_implementation(answer("import os\nimport sys\n" + GOOD), task)
    assert [line.partition(":")[0] for line in refusal.value.diagnostic.split("\n")] == ["line 1", "line 2"]


def test_a_long_diagnostic_is_cut_to_what_fits_a_prompt() -> None:
    assert len(ProposalError("syntax", "x" * 10_000).diagnostic) == 1500
