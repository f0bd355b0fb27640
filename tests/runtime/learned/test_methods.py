"""What every learned solver must keep: its cost falls, it beats its untrained self, it resumes to the bit."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from dga2d.domains.core.registry import get_domain
from dga2d.runtime.learned.method import learned_method, stream
from dga2d.runtime.learned.names import DOMAINS
from dga2d.runtime.learned.training import Budget, CurvePoint, Training
from dga2d.runtime.learned.weights import load_network, untrained_network

CPU = torch.device("cpu")


class Tiny(NamedTuple):
    """A training of a second or two."""

    steps: int
    settings: dict[str, Any]


TINY = {
    "resched": Tiny(
        12,
        {
            "size": 3,
            "machines": 2,
            "width": 16,
            "heads": 2,
            "layers": 1,
            "batch": 4,
            "rollouts": 4,
            "learning_rate": 5e-3,
        },
    ),
    "sdds": Tiny(50, {"size": 15, "width": 16, "layers": 2, "batch": 8, "rollouts": 4, "annealing": 30}),
    "bpp-drl": Tiny(50, {"size": 12, "width": 32}),
    "pomo": Tiny(50, {"size": 7, "width": 16, "heads": 2, "layers": 1, "batch": 16, "learning_rate": 5e-3}),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def begin(name: str) -> Training:
    method = learned_method(name)
    return Training(method, method.settings(**TINY[name].settings), CPU, "tiny")


def run(training: Training, folder: Path, steps: int, until: int | None = None) -> bool:
    """Train on a budget of `steps`, or stop at step `until`."""
    return training.train(
        Budget(steps, None),
        folder / "tiny.checkpoint.safetensors",
        lambda: training.step == until,
        lambda point, digest: None,
        lambda line: None,
    )


@functools.cache
def _trained(name: str, folder: Path) -> Training:
    training = begin(name)
    assert run(training, folder, TINY[name].steps)
    return training


@pytest.fixture
def trained(name: str, tmp_path_factory: pytest.TempPathFactory) -> Training:
    """The whole training, once for all tests of a method."""
    folder = tmp_path_factory.getbasetemp() / f"trained-{name}"
    folder.mkdir(exist_ok=True)
    return _trained(name, folder)


pytestmark = pytest.mark.parametrize("name", TINY)


def test_the_loss_falls_and_validation_beats_the_untrained_network(trained: Training, name: str) -> None:
    curve = trained.curve
    costs = [point.cost for point in curve if point.cost is not None]
    assert costs[-1] < costs[0]
    assert curve[-1].validation < curve[0].validation
    assert [point.step for point in curve] == sorted(
        {0, 10, 20, 50, TINY[name].steps} & set(range(TINY[name].steps + 1))
    )


def test_the_weights_solve_an_instance_as_the_verifier_wants_it(
    trained: Training, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "weights.safetensors"
    trained.save_weights(path)
    network, contents = load_network(path, name, CPU)
    assert contents.settings == trained.settings
    domain = get_domain(DOMAINS[name])
    instance = domain.smoke_instance()
    state = contents.method.solve(network, contents.settings, instance, stream(CPU, "test", 0), 0.0)
    assert domain.verify(instance, state).violation is None


def test_a_stopped_training_goes_on_to_the_same_bits(trained: Training, name: str, tmp_path: Path) -> None:
    steps = TINY[name].steps
    first = begin(name)
    assert not run(first, tmp_path, steps, until=7)
    again = Training.load(tmp_path / "tiny.checkpoint.safetensors", name, CPU)
    assert again.step == 7
    assert run(again, tmp_path, steps)
    ours, theirs = again.network.state_dict(), trained.network.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)

    def figures(curve: tuple[CurvePoint, ...]) -> list[dict[str, Any]]:
        return [point.model_dump(exclude={"seconds", "cpu_seconds"}) for point in curve]

    assert figures(again.curve) == figures(trained.curve)


def test_another_seed_is_another_network(name: str) -> None:
    method = learned_method(name)
    one, other, same = (
        untrained_network(method, method.settings(**TINY[name].settings, seed=seed)).state_dict()
        for seed in (1, 2, 1)
    )
    assert any(not torch.equal(one[key], other[key]) for key in one)
    assert all(torch.equal(one[key], same[key]) for key in one)
