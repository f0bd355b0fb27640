"""The update: Eq. 7, its gradient, Theorem 1's sign, and repeatability."""

from __future__ import annotations

import copy
import dataclasses
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.agents.policy.conftest import all_walks

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.errors import PolicyDivergedError
from dga2d.agents.policy.policies import UniformPolicy
from dga2d.agents.policy.token_tree import WalkBatch
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import stream

Walk = tuple[OperatorId, ...]
REWARDS = (1.2, -0.4, 0.7, -1.5)


def some(walks: list[Walk]) -> list[Walk]:
    """Four walks of different lengths, two with a common beginning."""
    return [walks[0], walks[len(walks) // 2], walks[-1], walks[1]]


@pytest.fixture
def short(context: PolicyContext) -> PolicyContext:
    """The same graph with few walks, for what reads each of them by itself."""
    return dataclasses.replace(context, max_length=3, domain_summary="d", instance_summary="i")


def loss_of(policy: Any, context: PolicyContext, walks: list[Walk], rewards: tuple[float, ...]) -> Any:
    import torch

    prompted = policy._tokenize(context)
    batch = WalkBatch.of(context, prompted, walks)
    values = batch.walk_log_probabilities(policy._tables(batch))
    return -(values @ torch.tensor(rewards, dtype=torch.float64)) / len(walks)


@pytest.mark.parametrize("policy", ["letters", pytest.param("codes", marks=pytest.mark.slow)], indirect=True)
def test_gradient_equals_autograd_on_the_enumerated_distribution(
    policy: Any, short: PolicyContext, plain_log_probability: Callable[..., Any]
) -> None:
    import torch

    context, walks = short, all_walks(short)
    dense = copy.deepcopy(policy.network.model).requires_grad_(True)
    table = torch.stack([plain_log_probability(policy, context, walk, dense) for walk in walks])
    assert float(table.exp().sum().detach()) == pytest.approx(1.0, abs=1e-5)
    picked = table[[walks.index(walk) for walk in some(walks)]]
    torch.autograd.backward(-(picked @ torch.tensor(REWARDS, dtype=torch.float64)) / 4)
    torch.autograd.backward(loss_of(policy, context, some(walks), REWARDS))
    trained = dict(policy._learner._trained_parameters())
    for name, parameter in dense.named_parameters():
        expected, found = parameter.grad, trained[name].grad
        if name in policy._learner._rows:
            ids = policy._learner._rows[name].ids
            others = torch.ones(len(expected), dtype=torch.bool)
            others[ids] = False
            assert not expected[others].any()
            expected = expected[ids]
        torch.testing.assert_close(found, expected, rtol=2e-3, atol=2e-4)


def test_expected_gradient_vanishes_for_a_constant_reward(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    import torch

    prompted = policy._tokenize(context)
    batch = WalkBatch.of(context, prompted, walks)
    values = batch.walk_log_probabilities(policy._tables(batch))
    torch.autograd.backward(values.detach().exp() @ values)
    trained = policy._learner._trained_parameters()
    largest = max(float(p.grad.abs().max()) for _, p in trained if p.grad is not None)
    assert largest < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["letters", "codes"], indirect=True)
def test_updates_equal_dense_adamw_with_padded_plain_loss(
    policy: Any, short: PolicyContext, plain_log_probability: Callable[..., Any]
) -> None:
    import torch

    context, walks = short, all_walks(short)
    dense = copy.deepcopy(policy.network.model).requires_grad_(True)
    optimizer = torch.optim.AdamW(dense.parameters(), lr=1e-4, weight_decay=0.0)
    credit = torch.tensor(REWARDS, dtype=torch.float64)
    for _ in range(2):
        report = policy.update(context, some(walks), REWARDS)
        optimizer.zero_grad()
        values = torch.stack([plain_log_probability(policy, context, w, dense) for w in some(walks)])
        loss = -(values @ credit) / 4
        torch.autograd.backward(loss)
        norm = torch.nn.utils.clip_grad_norm_(dense.parameters(), 1.0)
        optimizer.step()
        assert report.loss == pytest.approx(float(loss.detach()), abs=1e-4)
        assert report.gradient_norm == pytest.approx(float(norm), rel=1e-3)
    moved = dict(policy.network.model.named_parameters())
    for name, parameter in dense.named_parameters():
        apart = (moved[name] - parameter).abs()
        assert float(apart.mean().detach()) < 2e-6, name


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_small_step_moves_the_walk_in_the_direction_of_its_credit(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk], sign: float
) -> None:
    for walk in walks[::8]:
        policy = embedded(learning_rate=1e-6)
        (before,) = policy.log_probabilities(context, [walk])
        policy.update(context, [walk], [sign])
        (after,) = policy.log_probabilities(context, [walk])
        assert sign * (after - before) > 0


def test_the_embedded_policy_starts_uniform_on_every_feasible_set(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    uniform = UniformPolicy()
    for seed in (1, 2):
        draws = [[stream(9, "pipeline", 1, j) for j in range(12)] for _ in range(2)]
        policy = embedded(seed)
        assert policy.decode(context, len(walks)) == pytest.approx(uniform.decode(context, len(walks)))
        for found, expected in zip(
            policy.sample(context, draws[0]), uniform.sample(context, draws[1]), strict=True
        ):
            assert found.operators == expected.operators
            for step, even in zip(found.steps, expected.steps, strict=True):
                assert step.probabilities == pytest.approx(even.probabilities, abs=1e-12)


def test_a_step_moves_decisions_by_hundredths_of_a_nat(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    policy = embedded()
    walk = max(walks, key=lambda w: (len(w), w))
    (before,) = policy.log_probabilities(context, [walk])
    policy.update(context, [walk], [1.0])
    (after,) = policy.log_probabilities(context, [walk])
    assert 0.005 < (after - before) / 3 < 0.1  # three of its decisions are free


@pytest.mark.slow
def test_what_follows_an_operator_can_depend_on_what_came_before_it(
    embedded: Callable[..., Any],
) -> None:
    """The walk s a b a c: what looks at the last operator alone can give it 1/4 at most."""
    names = tuple(OperatorId(o) for o in "abcs")
    others, start = names[:3], names[3]
    edges = {(START, start)} | {(x, y) for x in names for y in others if x != y} | {(o, END) for o in others}
    graph = OperatorGraph(names, frozenset({start}), frozenset(edges))
    context = PolicyContext(graph, 6, 0.7, "d", "i", {})
    policy = embedded(learning_rate=4e-4)
    walk = tuple(OperatorId(o) for o in "sabac")
    for _ in range(30):
        policy.update(context, [walk], [1.0])
    assert math.exp(policy.log_probabilities(context, [walk])[0]) > 0.5


@pytest.mark.slow
def test_repeated_reward_concentrates_the_policy(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    policy = embedded(learning_rate=1e-3)
    reports = [policy.update(context, [walks[3], walks[7]], [1.0, -1.0]) for _ in range(25)]
    assert policy.decode(context, 1)[0].operators == walks[3]
    assert policy.log_probabilities(context, [walks[3]])[0] > -0.7
    assert reports[0].kl_to_initial == pytest.approx(0.0, abs=1e-9)
    assert reports[-1].kl_to_initial > 0.1
    assert reports[-1].entropy < reports[0].entropy


def test_entropy_is_that_of_the_recorded_distributions(
    policy: Any, context: PolicyContext, walks: list[Walk]
) -> None:
    import torch

    sampled = policy.sample(context, [stream(5, "pipeline", 1, j) for j in range(4)])
    steps = [torch.tensor(s.probabilities, dtype=torch.float64) for w in sampled for s in w.steps]
    expected = float(sum(-(p * p.log()).sum() for p in steps)) / len(steps)
    report = policy.update(context, [w.operators for w in sampled], REWARDS)
    assert report.entropy == pytest.approx(expected, abs=1e-5)


def test_zero_rewards_at_the_start_change_nothing(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    policy = embedded()
    before = policy.digest()
    report = policy.update(context, walks[:2], [0.0, 0.0])
    assert (report.loss, report.gradient_norm) == (0.0, 0.0)
    assert report.parameters_digest == before


def test_a_diverged_update_is_refused_and_changes_nothing(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    policy = embedded()
    before = policy.digest()
    with pytest.raises(PolicyDivergedError, match=r"the gradient norm is (inf|nan)"):
        policy.update(context, walks[:2], [1e38, -1e38])
    assert policy.digest() == before
    with pytest.raises(ValueError, match="expected finite rewards"):
        policy.update(context, walks[:1], [float("nan")])


REPLAY = """
import sys
from dga2d.agents.policy.contract import PolicyContext, PolicySettings
from dga2d.agents.policy.policies import make_policy
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import stream
names = ("build", "descend", "perturb")
edges = {(START, "build")} | {("build", o) for o in names[1:]} | {("descend", END)}
edges |= {(a, b) for a in names[1:] for b in names[1:]}
graph = OperatorGraph(names, frozenset({"build"}), frozenset(edges))
first = PolicyContext(graph, 6, 0.7, "d", "i", {})
second = PolicyContext(graph.edit([("perturb", "perturb")], []), 6, 0.7, "d", "i", {})
policy = make_policy("embedded", 11, PolicySettings())
for t, context in enumerate((first, first, second, first)):
    walks = policy.sample(context, [stream(11, "pipeline", t, j) for j in range(4)])
    report = policy.update(context, [w.operators for w in walks], [1.0, -1.0, 0.5, -0.5])
    print(report.parameters_digest, [w.operators for w in walks], report.loss.hex())
"""


@pytest.mark.slow
def test_two_processes_reach_the_same_digests(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-P", "-c", REPLAY]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    exec(REPLAY, {})
    assert capsys.readouterr().out == there
    assert len(set(there.splitlines())) == 4


def test_reapplying_recorded_updates_rebuilds_the_policy(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    live, rebuilt = embedded(seed=4), embedded(seed=4)
    record = []
    for t in range(3):
        live.decode(context, 2)
        live.log_probabilities(context, walks)
        record.append((walks[t : t + 2], (1.0, -0.5)))
        live.update(context, *record[-1])
    for taken, rewards in record:
        rebuilt.update(context, taken, rewards)
    assert rebuilt.digest() == live.digest()
    assert embedded(seed=5).digest() != embedded(seed=4).digest()


def test_the_number_of_torch_threads_does_not_change_the_embedded_policy(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk]
) -> None:
    import torch

    digests = set()
    former = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            digests.add(embedded().update(context, walks[:3], [1.0, 0.0, -1.0]).parameters_digest)
    finally:
        torch.set_num_threads(former)
    assert len(digests) == 1
