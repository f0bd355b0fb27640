"""A small graph, the embedded policy on it, and a plain reference of its distribution."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from dga2d.agents.policy.contract import PolicyContext, PolicySettings
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph

Walk = tuple[OperatorId, ...]
OPERATORS = tuple(OperatorId(o) for o in ("build_a", "build_b", "descend", "perturb", "relink"))
BUILDERS = OPERATORS[:2]
IMPROVERS = OPERATORS[2:]


def cyclic_graph() -> OperatorGraph:
    """Two builders; cycles among two improvers; one improver that must close, one that cannot."""
    a, b, descend, perturb, relink = OPERATORS
    edges = {(START, a), (START, b), (a, descend), (a, perturb), (b, relink), (b, END)}
    edges |= {(descend, perturb), (perturb, descend), (descend, descend), (descend, END), (perturb, relink)}
    edges |= {(relink, END)}
    return OperatorGraph(OPERATORS, frozenset(BUILDERS), frozenset(edges))


def all_walks(context: PolicyContext) -> list[Walk]:
    """Every pipeline of the context, depth first."""
    found: list[Walk] = []
    stack: list[Walk] = [()]
    while stack:
        history = stack.pop()
        for action in context.graph.feasible_actions(history, context.max_length):
            if action == END:
                found.append(history)
            else:
                stack.append((*history, action))
    return sorted(found)


@pytest.fixture
def context() -> PolicyContext:
    return PolicyContext(
        graph=cyclic_graph(),
        max_length=5,
        temperature=0.7,
        domain_summary="Job shop: order the operations of every machine.",
        instance_summary="n_jobs 20; durations int64 (20, 15)",
        titles={o: o.replace("_", " ") for o in OPERATORS},
    )


@pytest.fixture
def walks(context: PolicyContext) -> list[Walk]:
    return all_walks(context)


@pytest.fixture
def embedded() -> Callable[..., Any]:
    """Builds the embedded policy; keywords change the settings."""
    from dga2d.agents.policy.loading import embedded_policy

    def build(seed: int = 1, **changes: Any) -> Any:
        return embedded_policy(seed, dataclasses.replace(PolicySettings(), **changes))

    return build


LETTERS = ("AA", "AB", "BA", "BB", "CA", "CB")
"""Aliases of one token per letter, whose first token decides something too."""


@pytest.fixture(params=["codes", "letters"])
def policy(request: pytest.FixtureRequest) -> Any:
    """A narrow model away from its uniform start, with aliases of one token and of two."""
    from dga2d.agents.policy.language_model import LanguageModelPolicy
    from dga2d.agents.policy.loading import build_policy, code_tokenizer, random_model, small_qwen2_config
    from dga2d.agents.policy.prompt import AliasPool

    tokenizer = code_tokenizer()
    config = small_qwen2_config(len(tokenizer))
    config.hidden_size, config.intermediate_size = 32, 64
    model = random_model(config, 1).eval()
    settings = PolicySettings(threads=1, track_kl=True, device="cpu")
    if request.param == "codes":
        return build_policy("embedded-qwen2", model, tokenizer, 1, settings)
    tokens = tuple(tuple(tokenizer.vocab[letter] for letter in word) for word in LETTERS)
    return LanguageModelPolicy("embedded-qwen2", model, tokenizer, AliasPool("", LETTERS, tokens), settings)


@pytest.fixture
def plain_log_probability() -> Callable[..., Any]:
    """log π of one walk the slow way: whole logits of the whole sequence, one softmax per token."""
    import torch

    from dga2d.agents.policy.network import torch_threads

    def compute(policy: Any, context: PolicyContext, walk: Walk, model: Any = None) -> Any:
        prompted = policy._tokenize(context)
        model = model or policy.network.model
        sequence = list(prompted.prompt)
        total = torch.zeros((), dtype=torch.float64)
        logits = None
        written: list[tuple[int, list[int], int]] = []
        for position, action in enumerate((*walk, END)):
            feasible = context.graph.feasible_actions(walk[:position], context.max_length)
            alias = prompted.aliases[action]
            for depth, token in enumerate(alias):
                aliases = [prompted.aliases[o] for o in feasible]
                allowed = sorted({a[depth] for a in aliases if a[:depth] == alias[:depth]})
                written.append((len(sequence) - 1, allowed, token))
                sequence.append(token)
        with torch_threads(1):
            logits = model(input_ids=torch.tensor([sequence]), use_cache=False).logits[0].double()
        for row, allowed, token in written:
            masked = torch.log_softmax(logits[row, allowed] / context.temperature, 0)
            total = total + masked[allowed.index(token)]
        return total

    return compute
