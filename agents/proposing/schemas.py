"""JSON schemas of answers, for endpoints that can be held to one (structured output).

A schema only helps a model to the right shape: the rules of the parsers apply to its answer all the same.
Every object is closed and requires all its keys, as strict modes demand; lengths of lists are left to the
parsers, since strict modes do not know them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dga2d.agents.proposing.tasks import ConnectTask, InitializeTask, Task
from dga2d.replay.state.graph import END, START


def answer_schema(task: Task) -> dict[str, Any] | None:
    """The JSON schema of the answer to a task; ``None`` where the answer is a code block."""
    if isinstance(task, InitializeTask):
        return _graph_schema(task)
    if isinstance(task, ConnectTask):
        nodes = _one_of([START, END, *(op.id for op in task.operators)])
        edges = _list(_list(nodes))
        return _closed({"add_edges": edges, "delete_edges": edges})
    return None


def _graph_schema(task: InitializeTask) -> dict[str, Any]:
    every = _one_of(op.id for op in task.operators)
    entries = _one_of(op.id for op in task.operators if op.is_initialiser)
    exits = _one_of(op.id for op in task.operators if op.provides == "complete")
    return _closed(
        {
            "H": _closed({"operator_limit": {"type": "integer"}, "temperature": {"type": "number"}}),
            "operators": _list(every),
            "entry_nodes": _list(entries),
            "exit_nodes": _list(exits),
            "edges": _list(_list(every)),
        }
    )


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
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
