"""An endpoint that reads its prompts and answers usefully: graphs, edges and code that pass every check."""

from __future__ import annotations

import json
import re
from itertools import product

from tests.fakes.behaviours import answer
from tests.fakes.endpoint import Asked, Exchange


def obliging(exchange: Exchange, asked: Asked) -> None:
    """Answers what was asked for."""
    answer(exchange, asked, useful(asked.prompt, asked.number), reasoning="let me think")


def useful(prompt: str, number: int) -> str:
    """A graph with choices, an edge that is not there yet, or the shown code with one constant more."""
    if "`add_edges`" in prompt:
        return json.dumps({"add_edges": [new_edge(prompt, number)], "delete_edges": []})
    if "```python" in prompt:
        source = re.findall(r"^```python\n(.*?)^```", prompt, re.MULTILINE | re.DOTALL)[-1]
        return f"Here you are:\n\n```python\n{source}\n_VARIANT = {number}\n```\n"
    return json.dumps(graph(prompt))


def graph(prompt: str) -> dict[str, object]:
    """Two ways to begin, two ways to go on, and back and forth between these."""
    limit = int(re.findall(r"`operator_limit`\): \d+ to (\d+)", prompt)[0])
    listed = re.findall(r"^### (\w+)\n.*Requires (\w+), provides complete", prompt, re.MULTILINE)
    half = limit // 2
    entries = [name for name, requires in listed if requires == "none"][:half]
    others = [name for name, requires in listed if requires == "complete"][:half]
    inner = [list(pair) for pair in product(others, others) if pair[0] != pair[1]]
    return {
        "H": {"operator_limit": limit, "temperature": 0.7},
        "operators": [*entries, *others],
        "entry_nodes": entries,
        "exit_nodes": others,
        "edges": [[entry, others[0]] for entry in entries] + inner,
    }


def new_edge(prompt: str, number: int) -> list[str]:
    """Some edge to an operator that improves complete solutions, absent so far."""
    complete = r"^- (\w+) \([\w ]+\): requires (\w+), provides complete"
    listed = re.findall(complete, prompt, re.MULTILINE)
    there = set(re.findall(r"^- (\w+) -> (\w+):", prompt, re.MULTILINE))
    targets = [name for name, requires in listed if requires == "complete"]
    pairs = product([name for name, _ in listed], targets)
    free = [pair for pair in pairs if pair not in there and pair[0] != pair[1]]
    return list(free[number % len(free)]) if free else ["START", "END"]
