"""The induced distribution of the model policy against a brute-force enumeration (Appendix D.1)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.errors import InfeasibleWalkError, PolicyContextError
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START
from dga2d.replay.streams import choose, stream

Walk = tuple[OperatorId, ...]


def draws(n: int) -> list[np.random.Generator]:
    return [stream(3, "pipeline", 1, j) for j in range(n)]


def test_probabilities_of_all_walks_sum_to_one(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    assert len(walks) == context.graph.count_pipelines(context.max_length) > 10
    total = sum(math.exp(p) for p in policy.log_probabilities(context, walks))
    assert total == pytest.approx(1.0, abs=1e-5)


def test_packed_reading_equals_one_whole_sequence_per_walk(
    policy: Any, context: PolicyContext, walks: list[Walk], plain_log_probability: Callable[..., Any]
) -> None:
    expected = [float(plain_log_probability(policy, context, walk).detach()) for walk in walks]
    assert policy.log_probabilities(context, walks) == pytest.approx(expected, abs=1e-4)


def test_sampled_log_probability_is_the_product_and_what_the_update_sees(
    policy: Any, context: PolicyContext
) -> None:
    sampled = policy.sample(context, draws(8))
    for walk in sampled:
        chosen = [s.probabilities[s.actions.index(s.chosen)] for s in walk.steps]
        assert walk.log_probability == pytest.approx(math.log(math.prod(chosen)))
        assert all(sum(s.probabilities) == pytest.approx(1.0) for s in walk.steps)
    again = policy.log_probabilities(context, [walk.operators for walk in sampled])
    assert again == pytest.approx([walk.log_probability for walk in sampled], abs=1e-4)


def test_choices_follow_the_recorded_probabilities_and_the_streams(
    policy: Any, context: PolicyContext
) -> None:
    for walk, draw in zip(policy.sample(context, draws(8)), draws(8), strict=True):
        for position, step in enumerate(walk.steps):
            assert step.actions == context.graph.feasible_actions(
                walk.operators[:position], context.max_length
            )
            assert step.chosen == step.actions[choose(step.probabilities, draw.random())]
        assert walk.steps[-1].chosen == END


def test_sample_frequencies_fit_the_probabilities(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    n = 2000
    counts = dict.fromkeys(walks, 0)
    for walk in policy.sample(context, draws(n)):
        counts[walk.operators] += 1
    expected = np.exp(policy.log_probabilities(context, walks)) * n
    statistic = float((((np.array(list(counts.values())) - expected) ** 2) / expected).sum())
    freedom = len(walks) - 1
    assert statistic < freedom + 4 * math.sqrt(2 * freedom)


def test_a_beam_as_wide_as_the_space_ranks_all_walks(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    values = dict(zip(walks, policy.log_probabilities(context, walks), strict=True))
    found = policy.decode(context, len(walks))
    assert sorted(w.operators for w in found) == walks
    assert [w.log_probability for w in found] == pytest.approx(
        sorted(values.values(), reverse=True), abs=1e-4
    )
    assert found[:1] == policy.decode(context, len(walks))[:1]


def test_temperature_flattens_the_distribution(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    spreads = []
    for temperature in (0.2, 0.7, 5.0):
        other = dataclasses.replace(context, temperature=temperature)
        (step,) = {w.steps[0] for w in policy.sample(other, draws(1))}
        spreads.append(max(step.probabilities) - min(step.probabilities))
    assert spreads[0] > spreads[1] > spreads[2]


def test_an_edge_edit_renormalises_and_keeps_the_prompt(policy: Any, context: PolicyContext) -> None:
    gone = (OperatorId("descend"), OperatorId("descend"))
    edited = dataclasses.replace(context, graph=context.graph.edit([gone], []))
    assert policy._tokenize(edited) == policy._tokenize(context)
    (before, after) = (
        {w.steps[:2][-1] for w in policy.sample(c, draws(30)) if w.operators[:1] == ("build_b",)}
        for c in (context, edited)
    )
    assert before == after
    report = policy.update(edited, [w.operators for w in policy.sample(edited, draws(2))], [1.0, -0.5])
    assert report.gradient_norm > 0


def test_a_forced_walk_has_probability_one(policy: Any, context: PolicyContext) -> None:
    a, d = OperatorId("build_a"), OperatorId("descend")
    edges = frozenset({(START, a), (a, d), (d, END)})
    forced = dataclasses.replace(context, graph=dataclasses.replace(context.graph, edges=edges))
    (walk,) = policy.sample(forced, draws(1))
    assert (walk.operators, walk.log_probability) == ((a, d), 0.0)
    assert policy.update(forced, [(a, d)], [1.0]).loss == 0.0


def test_infeasible_walks_and_impossible_contexts_are_refused(policy: Any, context: PolicyContext) -> None:
    with pytest.raises(InfeasibleWalkError, match="END is not feasible at position 1"):
        policy.update(context, [(OperatorId("build_a"),)], [1.0])
    too_short = dataclasses.replace(
        context, graph=context.graph.edit([(OperatorId("build_b"), END)], []), max_length=1
    )
    with pytest.raises(PolicyContextError, match="no pipeline of at most 1 operators"):
        policy.sample(too_short, draws(1))
    too_long = dataclasses.replace(context, domain_summary="x" * 40000)
    with pytest.raises(PolicyContextError, match="the policy model holds 32768"):
        policy.sample(too_long, draws(1))


@pytest.mark.parametrize(("walks_given", "rewards"), [(0, 0), (2, 1), (1, 2)])
def test_rewards_must_pair_with_walks(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk], walks_given: int, rewards: int
) -> None:
    with pytest.raises(ValueError, match="expected one reward per walk"):
        embedded().update(context, walks[:walks_given], [1.0] * rewards)


def test_sampling_and_loading_leave_torchs_global_state_alone(
    embedded: Callable[..., Any], context: PolicyContext
) -> None:
    import torch

    threads, state = torch.get_num_threads(), torch.get_rng_state()
    policy = embedded()
    policy.update(context, [policy.sample(context, draws(1))[0].operators], [1.0])
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
