from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dga2d.agents.proposing.offline import offline_answer
from dga2d.agents.proposing.prompts import answer_schema
from dga2d.agents.proposing.tasks import (
    ConnectTask,
    EdgeCredit,
    HBounds,
    ImplementTask,
    InitializeTask,
    OperatorContract,
    PoolEntry,
)
from dga2d.domains.core.contract import Card
from dga2d.events import ImplementationId, OperatorId

TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "integer": int, "number": float}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """The part of JSON Schema that the answers' schemas use."""
    if not isinstance(value, TYPES[schema["type"]]) or value not in schema.get("enum", [value]):
        return False
    if schema["type"] == "array":
        return all(fits(item, schema["items"]) for item in value)
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        return set(value) == set(schema["required"]) and all(
            fits(value[key], part) for key, part in schema["properties"].items()
        )
    return True


@pytest.fixture
def initialize(card: Card, operators: tuple[OperatorContract, ...]) -> InitializeTask:
    return InitializeTask(card, operators, HBounds(7), (OperatorId("build"), OperatorId("tabu")), 6)


def test_valid_graphs_fit_the_schema_and_unknown_ids_do_not(initialize: InitializeTask) -> None:
    schema = answer_schema(initialize)
    assert schema is not None
    text = offline_answer(initialize, np.random.default_rng(0))
    assert fits(json.loads(text), schema)
    assert not fits(json.loads(text.replace('"tabu"', '"magic"')), schema)
    assert not fits({**json.loads(text), "entry_nodes": ["tabu"]}, schema)
    assert not fits({**json.loads(text), "exit_nodes": ["sketch"]}, schema)


def test_valid_edits_fit_the_schema(card: Card, operators: tuple[OperatorContract, ...]) -> None:
    edges = [("START", "build"), ("build", "tabu"), ("tabu", "END")]
    credits = tuple(EdgeCredit((OperatorId(s), OperatorId(t)), 0.0) for s, t in edges)
    task = ConnectTask(card, operators, credits, None, "delta", 6)
    schema = answer_schema(task)
    assert schema is not None
    assert fits(json.loads(offline_answer(task, np.random.default_rng(0))), schema)
    assert not fits({"add_edges": [["build", "magic"]], "delete_edges": []}, schema)


def test_code_has_no_schema(card: Card, operators: tuple[OperatorContract, ...]) -> None:
    entry = PoolEntry(ImplementationId("tabu.1"), "", 0.0)
    assert answer_schema(ImplementTask(card, operators[4], "add", (entry,), entry)) is None
