"""Renders tasks as prompts from the versioned templates in ``agents/prompts``.

The same task gives the same text, byte for byte. Values are inserted, never interpreted: source code and
diagnostics stand in fences longer than any fence they hold themselves.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from dga2d.agents.proposing.answers import function_names, idea_of, parse_source
from dga2d.agents.proposing.graph_answers import addable_edges
from dga2d.agents.proposing.tasks import (
    MOST_OPERATOR_EDGES,
    ConnectTask,
    ImplementTask,
    InitializeTask,
    KernelTask,
    OperatorTask,
    PoolEntry,
    ProgramTask,
    ReflectTask,
    RunFacts,
    Task,
    operator_categories,
)
from dga2d.domains.core.components import evolved_function, split_component
from dga2d.domains.core.contract import Card
from dga2d.domains.source_rules import ALLOWED_IMPORTS
from dga2d.replay.state.graph import END, START

TEMPLATES: dict[type[Task], str] = {
    InitializeTask: "initialize@1",
    ImplementTask: "implement@1",
    ConnectTask: "connect@1",
    ReflectTask: "reflect@1",
    KernelTask: "kernel@1",
}
"""Task → template of its first edition. All versions stay in the folder: logs name them."""
SECOND: dict[type[Task], str] = {ImplementTask: "implement@2", ConnectTask: "connect@2"}
"""Task → template of its second edition."""
THIRD: dict[type[Task], str] = {
    InitializeTask: "initialize@3",
    ImplementTask: "implement@3",
    ConnectTask: "connect@3",
    OperatorTask: "operator@1",
    ProgramTask: "program@1",
}
"""Task → template of its third edition."""
FOURTH: dict[type[Task], str] = {**THIRD, ImplementTask: "implement@4", ConnectTask: "connect@4"}
"""Task → template of its fourth edition, in which more is told of the same facts."""
FIFTH: dict[type[Task], str] = {**FOURTH, ImplementTask: "implement@5", ConnectTask: "connect@5"}
"""Task → template of its fifth edition, which says what it leaves out for length and leaves out otherwise."""
SIXTH: dict[type[Task], str] = {**FIFTH, ImplementTask: "implement@6", OperatorTask: "operator@2"}
"""Task → template of its sixth edition, which says where programs stand and where new operators are put."""
SEVENTH: dict[type[Task], str] = {**SIXTH, ImplementTask: "implement@7"}
"""Task → template of its seventh edition, which says what is compiled when; facts tell the rest."""
EIGHTH: dict[type[Task], str] = {**SEVENTH, ImplementTask: "implement@8", OperatorTask: "operator@3"}
"""Task → template of its eighth edition, which says how to make what rests on the instance only once."""
NINTH: dict[type[Task], str] = {**EIGHTH, ImplementTask: "implement@9"}
"""Task → template of its ninth edition, in which cards show the whole source of a problem's own score."""
TENTH: dict[type[Task], str] = {**NINTH, ImplementTask: "implement@10", OperatorTask: "operator@10"}
"""Task → template of its tenth edition, which says on which instances programs come out alike."""
EDITIONS = {
    2: SECOND,
    3: THIRD,
    4: FOURTH,
    5: FIFTH,
    6: SIXTH,
    7: SEVENTH,
    8: EIGHTH,
    9: NINTH,
    10: TENTH,
}
COMPONENT = "component@1"
"""Template of a program task with a frame."""
CHARS_PER_TOKEN = 4
"""Of prompts, as counted against their bound."""
LEAST_FIRST = (
    "blocks",
    "kernels",
    "examples",
    "feedback",
    "positions",
    "edits",
    "tried",
    "neighbours",
    "gaps",
    "sizes",
)
"""Facts that a prompt over its bound leaves out, one item after the other, in this order."""
FIFTH_LEAST_FIRST = (
    "blocks",
    "kernels",
    "examples",
    "neighbours",
    "edits",
    "sizes",
    "gaps",
    "met",
    "positions",
    "tried",
    "feedback",
)
"""The same from the fifth edition on: what was measured goes last, code of neighbours before it."""
LEFT_OUT = {
    "blocks": "functions of other operators",
    "kernels": "functions to import",
    "examples": "examples of other runs",
    "neighbours": "code of neighbours",
    "edits": "earlier edits",
    "sizes": "sizes of instances",
    "gaps": "gaps by instance",
    "met": "what races came to",
    "positions": "what the operator did by instance",
    "tried": "older trials",
    "feedback": "measurements of your answer",
}
"""Field of the facts → how the fifth edition calls what it leaves out of it."""
OLDEST_FIRST = frozenset({"edits", "tried"})
"""Facts of which the first items are left out first."""
MOST_EDGES = 120
"""Edges that a prompt lists as allowed."""


MAX_PREVIOUS_CHARS = 20_000
"""A refused answer is shown up to here."""
CUT = "\n[cut off here]"


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt."""

    text: str
    template: str
    """``<name>@<version>``."""


def render(task: Task) -> Prompt:
    """Return the prompt of a task, in the edition that it asks for."""
    if task.facts is not None:
        return _within_bound(task, task.facts)
    is_second = isinstance(task, ConnectTask) and task.edition == 2
    return _render(task, (SECOND if is_second else TEMPLATES)[type(task)])


def _render(task: Task, name: str) -> Prompt:
    template = _environment().get_template(f"{name}.md")
    text = template.render({**_shareable(task), **_special(task)})
    return Prompt(text.strip() + "\n", name)


def _within_bound(task: Task, facts: RunFacts) -> Prompt:
    """Return the prompt with as many of the facts as its bound leaves room for.

    From the third edition on the answer refused before is shortened as well, after all facts; from the fifth
    on the code of neighbours is shortened to its docstring before it is left out.
    """
    is_component = isinstance(task, ProgramTask) and task.frame
    template = COMPONENT if is_component else EDITIONS[facts.edition][type(task)]
    bound = facts.max_tokens * CHARS_PER_TOKEN
    if facts.edition > 8:
        task = replace(task, card=_with_score(task.card))
    prompt = _render(task, template)
    for field in FIFTH_LEAST_FIRST if facts.edition > 4 else LEAST_FIRST:
        while len(prompt.text) > bound and (items := getattr(facts, field)):
            facts = _with_less(facts, field, items)
            task = replace(task, facts=facts)
            prompt = _render(task, template)
    if facts.edition > 2 and task.previous is not None and (over := len(prompt.text) - bound) > 0:
        cut = task.previous[: max(0, len(task.previous[:MAX_PREVIOUS_CHARS]) - over - len(CUT))]
        prompt = _render(replace(task, previous=f"{cut}{CUT}" if cut else None), template)
    return prompt


def _with_score(card: Card) -> Card:
    """Return the card with the source of the score for its decoder, where there is one."""
    if not card.score_source:
        return card
    told = f"The score and what makes a solution invalid:\n\n{fence(card.score_source, 'python')}\n"
    return replace(card, decoder=told)


def _with_less(facts: RunFacts, field: str, items: Sequence[Any]) -> RunFacts:
    """Return the facts with one item of a field left out, or made shorter."""
    kept: dict[str, Any] = {field: items[1:] if field in OLDEST_FIRST else items[:-1]}
    if facts.edition > 4:
        kept["left_out"] = tuple(dict.fromkeys((*facts.left_out, LEFT_OUT[field])))
        if field == "neighbours":
            kept[field] = _less_code(items)
    return replace(facts, **kept)


def _less_code(entries: Sequence[PoolEntry]) -> tuple[PoolEntry, ...]:
    """Return the entries with the last whole text cut to its docstring, or without the last one."""
    whole = [i for i, entry in enumerate(entries) if _docstring_only(entry) != entry]
    if not whole:
        return tuple(entries[:-1])
    last = whole[-1]
    return (*entries[:last], _docstring_only(entries[last]), *entries[last + 1 :])


def _docstring_only(entry: PoolEntry) -> PoolEntry:
    """Return the entry with its module's docstring for its text."""
    docstring = ast.get_docstring(parse_source(entry.source)) or ""
    return replace(entry, source=f'"""{docstring}"""')


def _shareable(task: Task) -> dict[str, Any]:
    values = {field.name: getattr(task, field.name) for field in fields(task)}
    if task.previous is not None and len(task.previous) > MAX_PREVIOUS_CHARS:
        values["previous"] = f"{task.previous[:MAX_PREVIOUS_CHARS]}{CUT}"
    return values


def _special(task: Task) -> dict[str, Any]:
    """Return the values that a template needs besides the task's own fields."""
    if isinstance(task, InitializeTask):
        return {"example": _example_graph(task)}
    if isinstance(task, ImplementTask):
        return {
            "environment": sorted(task.card.environment.items()),
            "allowed_imports": sorted(ALLOWED_IMPORTS - {"__future__"}),
            "example": _text("example@1.txt"),
            "ideas": {entry.id: idea_of(entry.source) for entry in task.pool},
            "functions": {
                entry.id: names
                for entry in task.pool
                if entry != task.parent and (names := function_names(entry.source))
            },
        }
    if isinstance(task, OperatorTask):
        return {
            "environment": sorted(task.card.environment.items()),
            "allowed_imports": sorted(ALLOWED_IMPORTS - {"__future__"}),
            "example": _text("example@1.txt"),
            "categories": operator_categories(task),
            "most_edges": MOST_OPERATOR_EDGES,
        }
    if isinstance(task, ProgramTask):
        return {
            **_frame_parts(task.frame),
            "environment": sorted(task.card.environment.items()),
            "allowed_imports": sorted(ALLOWED_IMPORTS - {"__future__"}),
        }
    if isinstance(task, ReflectTask | KernelTask):
        return {}
    if task.facts is not None:
        return {"allowed": addable_edges(task)[:MOST_EDGES]}
    return {}


def _frame_parts(frame: str) -> dict[str, str]:
    """Return the function asked for, its signature, the text that it begins with and the skeleton."""
    if not frame:
        return {}
    head, skeleton = split_component(frame)
    function = evolved_function(frame)
    return {
        "function": function.name,
        "signature": f"def {function.name}({', '.join(argument.arg for argument in function.args.args)}):",
        "rule": head,
        "skeleton": skeleton,
    }


def _example_graph(task: InitializeTask) -> str:
    """Return an answer of the right shape: the baseline's own chain."""
    chain = list(task.baseline)
    lines = {
        "H": {"operator_limit": task.bounds.operator_limit_max, "temperature": task.bounds.usual_temperature},
        "operators": sorted(set(chain)),
        "entry_nodes": chain[:1],
        "exit_nodes": chain[-1:],
        "edges": [list(pair) for pair in pairwise(chain)],
    }
    body = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in lines.items())
    return f"{{\n{body}\n}}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["fenced"] = fence
    return environment


def _text(name: str) -> str:
    return (files("dga2d.agents.prompts") / name).read_text(encoding="utf-8")


def fence(text: str, language: str) -> str:
    """Return `text` as a fenced block whose fence is longer than every run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def answer_schema(task: Task) -> dict[str, Any] | None:
    """Return the JSON schema of the answer to a task; ``None`` where the answer is a code block."""
    if isinstance(task, InitializeTask):
        return _graph_schema(task)
    if isinstance(task, ConnectTask):
        nodes = _one_of([START, END, *(op.id for op in task.operators)])
        edges = _list(_list(nodes))
        return _object_schema({"add_edges": edges, "delete_edges": edges})
    return None


def _graph_schema(task: InitializeTask) -> dict[str, Any]:
    every = _one_of(op.id for op in task.operators)
    entries = _one_of(op.id for op in task.operators if op.is_initialiser)
    exits = _one_of(op.id for op in task.operators if op.provides == "complete")
    return _object_schema(
        {
            "H": _object_schema({"operator_limit": {"type": "integer"}, "temperature": {"type": "number"}}),
            "operators": _list(every),
            "entry_nodes": _list(entries),
            "exit_nodes": _list(exits),
            "edges": _list(_list(every)),
        }
    )


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one_of(words: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": sorted(words)}
