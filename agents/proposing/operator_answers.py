"""Answers that propose a new operator: what they must hold, and those of the offline proposer.

The answer has two parts, a JSON object that describes the operator and its edges, and its first
implementation as Python code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dga2d.agents.proposing import answers, tasks
from dga2d.agents.proposing.composition import Habits, is_iterated, iterate
from dga2d.agents.proposing.errors import ProposalError, abbreviate
from dga2d.agents.proposing.graph_answers import edge_list
from dga2d.agents.proposing.graphs import Contracts, contracts_by_id, incompatibility
from dga2d.agents.proposing.kernel_code import inline_kernels
from dga2d.agents.proposing.prompts import fence
from dga2d.domains.core.contract import Implementation
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph, structure_violation

MAX_TITLE_CHARS, MAX_SUMMARY_CHARS = 80, 300
_ID = re.compile(r"[a-z][a-z0-9_]{2,39}")
_KEYS = ("id", "title", "category", "requires", "provides", "summary", "edges")


@dataclass(frozen=True)
class ProposedOperator:
    """An operator that a model proposes."""

    contract: tasks.OperatorContract
    edges: tuple[Edge, ...]
    """Into the present graph, sorted."""
    source: str


def parse_operator(text: str, task: tasks.OperatorTask) -> ProposedOperator:
    """Return the operator that an answer describes.

    Raises
    ------
    ProposalError
        ``no_change``: the answer is `NO_CHANGE`; ``size``, ``code_block``, ``encoding``, ``json``,
        ``syntax``, ``signature``, ``source_rules``: as for implementations and graphs; ``keys``, ``id``,
        ``title``, ``summary``, ``category``, ``interface``: that part is malformed; ``edges``,
        ``edge_interface``, ``structure``, ``route``: the operator cannot stand in the graph so;
        ``duplicate``: its code runs like another operator's.
    """
    text = answers.clean_answer(text)
    if text.strip() == answers.NO_CHANGE:
        raise ProposalError("no_change", "the proposer sees no operator that is missing")
    description, source = _parts(text)
    source = inline_kernels(source, task.kernels)
    contract = _contract(description, task)
    edges = _operator_edges(description["edges"], contract, task)
    answers.check_code(source)
    digest = answers.normalised_ast_digest(source)
    for other in task.others:
        if answers.normalised_ast_digest(other.source) == digest:
            raise ProposalError("duplicate", f"the code runs exactly like {other.id}")
    return ProposedOperator(contract, edges, source)


def _parts(text: str) -> tuple[dict[str, Any], str]:
    blocks = answers.code_blocks(text)
    descriptions = [block for block in blocks if block.language == "json"]
    codes = [block for block in blocks if block.language in ("python", "python3", "py")]
    if len(blocks) != 2 or len(descriptions) != 1 or len(codes) != 1:
        raise ProposalError(
            "code_block",
            f"expected one fenced json block and one fenced python block, found {len(blocks)} blocks",
        )
    source = codes[0].text.strip("\n") + "\n"
    if not source.strip():
        raise ProposalError("code_block", "the code block is empty")
    answers.refuse_hidden_characters(source)
    description = answers.json_text(descriptions[0].text)
    missing = [key for key in _KEYS if key not in description]
    extra = sorted(abbreviate(key) for key in description if key not in _KEYS)
    if missing or extra:
        raise ProposalError(
            "keys",
            f"expected exactly the keys {', '.join(_KEYS)}; missing: {', '.join(missing) or 'none'}, "
            f"not allowed: {', '.join(extra) or 'none'}",
        )
    return description, source


def _contract(description: dict[str, Any], task: tasks.OperatorTask) -> tasks.OperatorContract:
    name = description["id"]
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise ProposalError(
            "id", f"expected 3 to 40 of a-z, 0-9 and _, a letter first, got {abbreviate(name)}"
        )
    if name in task.taken:
        raise ProposalError("id", f"{name} is or was an operator of this run; choose another id")
    category, categories = description["category"], tasks.operator_categories(task)
    if category not in categories:
        raise ProposalError(
            "category", f"expected one of {', '.join(categories)}, got {abbreviate(category)}"
        )
    requires, provides = description["requires"], description["provides"]
    if requires not in ("none", "partial", "complete") or provides not in ("partial", "complete"):
        raise ProposalError(
            "interface",
            "expected requires to be none, partial or complete and provides to be partial or complete, got "
            f"{abbreviate(requires)} and {abbreviate(provides)}",
        )
    if requires == "complete" and provides == "partial" and category != "perturbation":
        raise ProposalError("interface", "only a perturbation may take a complete solution apart")
    title = _line("title", description["title"], MAX_TITLE_CHARS)
    summary = _line("summary", description["summary"], MAX_SUMMARY_CHARS)
    return tasks.OperatorContract(OperatorId(name), title, summary, str(category), requires, provides)


def _line(key: str, value: object, longest: int) -> str:
    """Return one line of visible text."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise ProposalError(key, f"expected 1 to {longest} characters of text, got {abbreviate(value)}")
    if any(unicodedata.category(char).startswith(("C", "Zl", "Zp")) for char in value):
        raise ProposalError(key, f"expected one line of visible text, got {abbreviate(value)}")
    return " ".join(value.split())


def _operator_edges(value: Any, new: tasks.OperatorContract, task: tasks.OperatorTask) -> tuple[Edge, ...]:
    edges, contracts = edge_list(value, "edges"), {**contracts_by_id(task.operators), new.id: new}
    if not 1 <= len(edges) <= tasks.MOST_OPERATOR_EDGES:
        raise ProposalError("edges", f"expected 1 to {tasks.MOST_OPERATOR_EDGES} edges, got {len(edges)}")
    for edge in edges:
        _check_edge(edge, new, contracts)
    graph = task.graph.with_operator(new.id, new.is_initialiser, edges)
    if violation := structure_violation(graph.edges, task.structure):
        raise ProposalError("structure", violation)
    if new.id not in graph.on_walks(task.max_length):
        raise ProposalError(
            "route", f"no pipeline of at most {task.max_length} operators from START to END passes {new.id}"
        )
    return tuple(sorted(edges))


def _check_edge(edge: Edge, new: tasks.OperatorContract, contracts: Contracts) -> None:
    named = abbreviate(list(edge), 120)
    for end in edge:
        if end not in contracts and end not in (START, END):
            raise ProposalError("edges", f"{abbreviate(end)} is not an operator of the graph")
    if edge[0] == edge[1] or new.id not in edge:
        raise ProposalError("edges", f"{named}: every edge joins {new.id} to START, END or another operator")
    if reason := incompatibility(edge, contracts):
        raise ProposalError("edge_interface", f"{named}: {reason}")


# ---------------------------------------------------------------- the offline proposer


def operator_answers(task: tasks.OperatorTask, rng: np.random.Generator) -> Iterator[str]:
    """Yield searches composed of an improving and a perturbing operator, as new operators."""
    improvers = [op for op in task.others if _category(op, task) in ("local_search", "intensification")]
    kicks = [op for op in task.others if _category(op, task) == "perturbation"]
    pairs = [(improver, kick) for improver in improvers for kick in kicks if not is_iterated(improver.source)]
    for index in rng.permutation(len(pairs)):
        improver, kick = pairs[int(index)]
        patience, parts = (int(rng.choice(values)) for values in ((1, 3, 10, 30), (4, 16, 50, 200)))
        source = iterate(
            [improver.source], kick.source, Habits(patience, parts, round_units=task.round_units)
        )
        if source is not None:
            yield _answer(improver, kick, source, task)


def _category(implementation: Implementation, task: tasks.OperatorTask) -> str:
    return task.categories.get(OperatorId(implementation.operator), "")


def _answer(improver: Implementation, kick: Implementation, source: str, task: tasks.OperatorTask) -> str:
    base = f"iterated_{improver.operator}"[:36]
    name = next(n for i in range(1, 1000) if (n := f"{base}_{i}"[:40]) not in task.taken)
    new = tasks.OperatorContract(
        OperatorId(name),
        f"Iterated {improver.operator} kicked by {kick.operator}"[:MAX_TITLE_CHARS],
        f"Repeats {improver.operator} from solutions that {kick.operator} perturbed.",
        "intensification",
        "complete",
        "complete",
    )
    return operator_answer(new, edges_beside_incumbent(new, task), source)


def operator_answer(new: tasks.OperatorContract, edges: Sequence[Edge], source: str) -> str:
    """Return the answer that proposes an operator, as `parse_operator` reads it."""
    description = {
        "id": new.id,
        "title": new.title,
        "category": new.category,
        "requires": new.requires,
        "provides": new.provides,
        "summary": new.summary,
        "edges": [list(edge) for edge in edges],
    }
    return f"{fence(json.dumps(description, indent=1), 'json')}\n\n{fence(source, 'python')}\n"


def edges_beside_incumbent(new: tasks.OperatorContract, task: tasks.OperatorTask) -> list[Edge]:
    """Return edges that join an operator to those of the incumbent: as late in it as it fits, a perturbation
    before its last position. Where it fits nowhere, they come from all operators that it may follow."""
    known = {**contracts_by_id(task.operators), new.id: new}

    def into(sources: Iterable[OperatorId]) -> list[Edge]:
        found = ((o, new.id) for o in dict.fromkeys(sources) if o != new.id)
        return [edge for edge in found if incompatibility(edge, known) is None]

    def out_of(targets: Iterable[OperatorId]) -> list[Edge]:
        found = ((new.id, o) for o in dict.fromkeys(targets))
        return [edge for edge in found if incompatibility(edge, known) is None]

    walk = [o for o in task.incumbent if o in known]  # the graph need not hold the baseline's
    if new.is_initialiser:
        return [(START, new.id), *out_of([END, *walk])[: tasks.MOST_OPERATOR_EDGES - 1]]
    first = len(walk) - 1 if new.category == "perturbation" else len(walk)
    for place in range(first, 0, -1):
        before, behind = into(reversed(walk[:place])), out_of([*walk[place:], END])
        if before and behind:
            behind = behind[: tasks.MOST_OPERATOR_EDGES // 2]
            return before[: tasks.MOST_OPERATOR_EDGES - len(behind)] + behind
    return into(known)[: tasks.MOST_OPERATOR_EDGES - 1] + out_of([END])


def graph_with(graph: OperatorGraph, proposed: ProposedOperator) -> OperatorGraph:
    """Return the graph with a proposed operator in it."""
    new = proposed.contract
    return graph.with_operator(new.id, new.is_initialiser, proposed.edges)
