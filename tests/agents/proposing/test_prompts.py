from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files

import jinja2
import pytest

from dga2d.agents.proposing.answers import code_blocks, normalised_ast_digest, parse_implementation
from dga2d.agents.proposing.graph_answers import parse_graph
from dga2d.agents.proposing.prompts import TEMPLATES, _environment, fence, render
from dga2d.agents.proposing.tasks import (
    ConnectTask,
    EdgeCredit,
    HBounds,
    ImplementTask,
    InitializeTask,
    OperatorContract,
    PoolEntry,
    Task,
)
from dga2d.domains.core.contract import Card
from dga2d.events import ImplementationId, OperatorId

BASELINE = (OperatorId("build"), OperatorId("descend"), OperatorId("tabu"))
TASKS = ("initialize", "add", "replace", "connect", "delta")


@pytest.fixture
def tasks(card: Card, operators: tuple[OperatorContract, ...], parent_source: str) -> dict[str, Task]:
    pool = tuple(
        PoolEntry(ImplementationId(f"tabu.{n}"), parent_source.replace("ROUNDS = 3", f"ROUNDS = {n}"), n / 10)
        for n in (5, 4)
    )
    edge = (OperatorId("build"), OperatorId("tabu"))
    add = ImplementTask(card, operators[4], "add", pool, pool[0], summary="tabu: 80 % of the time")
    connect = ConnectTask(card, operators, (EdgeCredit(edge, -0.5),), edge, "replace", 6)
    return {
        "initialize": InitializeTask(card, operators, HBounds(6), BASELINE, 8),
        "add": add,
        "replace": replace(add, mode="replace", removed=pool[1].id),
        "connect": connect,
        "delta": replace(connect, mode="delta", remove=None),
    }


@pytest.mark.parametrize("kind", TASKS)
def test_a_prompt_holds_the_card_and_is_the_same_every_time(tasks: dict[str, Task], kind: str) -> None:
    prompt = render(tasks[kind])
    assert prompt == render(replace(tasks[kind]))
    assert re.fullmatch(r"(initialize|implement|connect)@\d+", prompt.template)
    for fact in (tasks[kind].card.title, tasks[kind].card.encoding, tasks[kind].card.constraints):
        assert fact in prompt.text
    assert "refused" not in prompt.text
    assert "None" not in prompt.text
    assert prompt.text.isascii() or kind in ("add", "replace")


@pytest.mark.parametrize("kind", TASKS)
def test_a_diagnostic_is_quoted_in_the_next_prompt(tasks: dict[str, Task], kind: str) -> None:
    again = replace(tasks[kind], diagnostic="line 3: {{ 7 * 7 }} ``` {% raw %}", attempt=1)
    text = render(again).text
    assert "refused" in text
    assert any(block.text.strip() == again.diagnostic for block in code_blocks(text))


@pytest.mark.parametrize("kind", TASKS)
def test_a_refused_answer_is_shown_again_but_not_without_end(tasks: dict[str, Task], kind: str) -> None:
    again = replace(tasks[kind], diagnostic="no", attempt=1, previous="```python\nx = 1\n```")
    assert again.previous in [block.text.rstrip("\n") for block in code_blocks(render(again).text)]
    long = render(replace(again, previous="y" * 100_000)).text
    assert 20_000 < len(long) - len(render(replace(again, previous="")).text) < 20_100


def test_the_implementation_prompt_says_what_code_has_to_know(tasks: dict[str, Task]) -> None:
    text = render(tasks["add"]).text
    for needed in (
        "def run(env_data, state, calc_makespan_fn):",
        'env_data["cost"]',
        'env_data["rng"]',
        "budget.exhausted()",
        "budget.charge(units)",
        "heapq, itertools, math, numba",
        "@njit(cache=True)",
        "# tunable: int",
        "tabu: 80 % of the time",
        "- tabu.4: +0.400\n",
    ):
        assert needed in text
    assert "Your code joins the pool." in text
    assert "takes the place of tabu.4" in render(tasks["replace"]).text


def test_the_parents_code_stands_in_the_prompt_byte_for_byte(tasks: dict[str, Task]) -> None:
    task = tasks["add"]
    assert isinstance(task, ImplementTask)
    tricky = replace(task.parent, source=task.parent.source + '\nTEXT = """\n```\n{{ x }}\n\n\n\n````\n"""\n')
    blocks = code_blocks(render(replace(task, parent=tricky)).text)
    assert tricky.source in [block.text for block in blocks]


def test_the_example_of_the_initial_graph_is_a_valid_answer(tasks: dict[str, Task]) -> None:
    task = tasks["initialize"]
    assert isinstance(task, InitializeTask)
    (example,) = (block.text for block in code_blocks(render(task).text) if block.language == "json")
    assert parse_graph(example, task).edges == (
        ("START", "build"),
        ("build", "descend"),
        ("descend", "tabu"),
        ("tabu", "END"),
    )


def test_the_code_example_is_a_valid_answer(tasks: dict[str, Task]) -> None:
    task = tasks["add"]
    assert isinstance(task, ImplementTask)
    example = code_blocks(render(task).text)[0].text
    assert "imaginary" in render(task).text
    assert normalised_ast_digest(parse_implementation(fence(example, "python"), task))


def test_a_missing_value_is_an_error_and_not_an_empty_line() -> None:
    for name in TEMPLATES.values():
        with pytest.raises(jinja2.UndefinedError):
            _environment().get_template(f"{name}.md").render({})


def test_every_template_file_has_a_version_and_belongs_to_the_package() -> None:
    names = [
        entry.name for entry in files("dga2d.agents.prompts").iterdir() if not entry.name.startswith("_")
    ]
    assert {f"{name}.md" for name in TEMPLATES.values()} <= set(names)
    assert all(re.fullmatch(r"[a-z]+@\d+\.(md|txt)", name) for name in names)


def test_proposing_is_imported_without_torch_and_numba() -> None:
    code = (
        "import sys, dga2d.agents.proposing; "
        "print([m for m in ('torch', 'numba', 'transformers', 'httpx') if m in sys.modules])"
    )
    outcome = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert outcome.stdout.strip() == "[]", outcome.stderr
