"""Whatever a model answers, a parser gives a value or a `ProposalError` with an encodable diagnostic."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.agents.proposing.answers import parse_implementation
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import parse_edges, parse_graph
from dga2d.agents.proposing.offline import offline_answer
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

CARD = Card("t", "o", "e", "d", {}, "c")
OPERATORS = (
    OperatorContract(OperatorId("build"), "t", "s", "initialisation", "none", "complete"),
    OperatorContract(OperatorId("tabu"), "t", "s", "intensification", "complete", "complete"),
    OperatorContract(OperatorId("shake"), "t", "s", "perturbation", "complete", "complete"),
)
EDGES = (("START", "build"), ("build", "tabu"), ("tabu", "shake"), ("shake", "tabu"), ("tabu", "END"))
SOURCE = (
    "A = 3  # tunable: int 1..99\n\n\n"
    "def run(env_data, state, calc_makespan_fn):\n    return [state for x in range(A)][0]\n"
)
INITIALIZE = InitializeTask(CARD, OPERATORS, HBounds(3), (OperatorId("build"), OperatorId("tabu")), 4)
CONNECT = ConnectTask(
    CARD,
    OPERATORS,
    tuple(EdgeCredit((OperatorId(s), OperatorId(t)), 0.0) for s, t in EDGES),
    (OperatorId("shake"), OperatorId("tabu")),
    "replace",
    4,
)
ENTRY = PoolEntry(ImplementationId("tabu.000000000000"), SOURCE, 0.0)
IMPLEMENT = ImplementTask(CARD, OPERATORS[1], "add", (ENTRY,), ENTRY)

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "graph": (
        lambda text: parse_graph(text, INITIALIZE),
        offline_answer(INITIALIZE, np.random.default_rng(0)),
    ),
    "edges": (
        lambda text: parse_edges(text, CONNECT, CONNECT.graph),
        offline_answer(CONNECT, np.random.default_rng(0)),
    ),
    "implementation": (
        lambda text: parse_implementation(text, IMPLEMENT),
        offline_answer(IMPLEMENT, np.random.default_rng(0)),
    ),
}
FRAGMENTS = st.one_of(
    st.text(max_size=20),
    st.text(st.characters(categories=("Cs", "Cc", "Cf", "Zl")), max_size=3),
    st.sampled_from(["```", "~~~", "```python\n", '"', "{", "}", "[", "]", ",", "null", "NaN", "1e999"]),
    st.sampled_from(["\\ud800", "START", "END", "build", "</think>", "<think>", "'''", "\\", "-0", "0x"]),
    st.sampled_from(
        ["lambda: ", "'''\n", "#", ";", ":", "=", "(", ")", "await ", "yield ", "import ", "global x"]
    ),
    st.sampled_from(["\t", "\r", "\n\n", "(" * 300, "-" * 3000, "[" * 2000]),
)


@pytest.mark.parametrize("kind", sorted(PARSERS))
@given(data=st.data())
@settings(max_examples=15)
def test_a_damaged_answer_is_read_or_refused_and_nothing_else(kind: str, data: st.DataObject) -> None:
    parse, text = PARSERS[kind]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(FRAGMENTS) + text[end:]
    assert_read_or_refused(parse, text)


@pytest.mark.parametrize("kind", sorted(PARSERS))
@pytest.mark.parametrize(
    "text",
    ["x" * 5_000_000, "{" * 150_000, "```\n" * 40_000, "<think>" * 20_000, "`" * 150_000, "\0", "\ud800"],
    ids=["5 MB", "braces", "fences", "thoughts", "marks", "null", "surrogate"],
)
def test_an_absurd_answer_is_refused(kind: str, text: str) -> None:
    parse, _ = PARSERS[kind]
    with pytest.raises(ProposalError) as refusal:
        parse(text)
    assert len(refusal.value.diagnostic) <= 1500
    refusal.value.diagnostic.encode()


def assert_read_or_refused(parse: Callable[[str], object], text: str) -> None:
    with contextlib.suppress(ProposalError):
        parse(text)
