"""What is computed in a faster way is what the publications say; what is decoded is what the domains say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from dga2d.domains.core.contract import Instance
from dga2d.domains.core.registry import get_domain
from dga2d.domains.fjsp.reader import tabulate
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned import bpp_drl, pomo, resched, sdds
from dga2d.runtime.learned.method import TrainingSettings, learned_method, stream
from dga2d.runtime.learned.networks import merge_heads, split_heads

CPU = torch.device("cpu")


def test_the_probability_of_a_tour_is_the_product_of_its_steps() -> None:
    network = pomo.PomoNetwork(TrainingSettings(size=5, width=8, heads=2, layers=1))
    cities = pomo.training_cities(5, 2, stream(CPU, "cities"))
    decoder: pomo.Decoder = network(cities)
    tours = decoder.build(stream(CPU, "tours"))
    assert tours.sort(dim=2).values.tolist() == [[list(range(5))] * 5] * 2
    expected = torch.zeros(2, 5)
    for step in range(4):
        barred = torch.zeros(2, 5, 5).scatter(2, tours[:, :, : step + 1], -math.inf)
        logs = decoder.next_city(tours[:, :, 0], tours[:, :, step], barred)
        expected += logs.gather(2, tours[:, :, step + 1 : step + 2]).squeeze(2)
    assert torch.allclose(decoder.log_probability(tours), expected, atol=1e-5)


def test_the_eight_pictures_keep_all_distances() -> None:
    cities = pomo.training_cities(6, 1, stream(CPU, "cities"))
    pictures = pomo.eight_pictures(cities)
    tour = torch.randperm(6, generator=stream(CPU, "tour")).expand(8, 1, 6)
    assert len({tuple(picture.flatten().tolist()) for picture in pictures}) == 8
    assert torch.allclose(pomo.tour_lengths(pictures, tour), pomo.tour_lengths(cities, tour[:1]).expand(8, 1))


def test_attention_to_times_is_that_of_their_embeddings() -> None:
    """The block never makes the embedding of a pair; here it is made."""
    torch.manual_seed(1)
    block, edge = resched.MachineBlock(8, 2), torch.nn.Linear(1, 8)
    machines, operations = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    times, is_possible = torch.rand(2, 3, 4), torch.rand(2, 3, 4) < 0.6
    query = split_heads(block.query(machines), 2)
    key, value = (split_heads(x, 2) for x in block.key_value(operations).chunk(2, dim=-1))
    pairs = edge(times.unsqueeze(3)).view(2, 3, 4, 2, 4).permute(0, 3, 1, 2, 4)
    scores = ((query.unsqueeze(3) + pairs) * (key.unsqueeze(2) + pairs)).sum(-1)
    scores = scores.masked_fill(~is_possible.unsqueeze(1), -math.inf)
    own = (query * query).sum(-1, keepdim=True)
    weights = torch.softmax(torch.cat([scores, own], -1) / 2.0, -1)
    mixed = (weights[..., :-1].unsqueeze(-1) * (value.unsqueeze(2) + pairs)).sum(3) + weights[
        ..., -1:
    ] * query
    expected = block.norms[0](machines + block.combine(merge_heads(mixed)))
    expected = block.norms[1](expected + block.feed_forward(expected))
    assert torch.allclose(block(machines, operations, times, is_possible, edge), expected, atol=1e-5)


def test_a_dispatched_schedule_is_as_long_as_the_domain_says() -> None:
    domain, shop = get_domain("fjsp"), tabulate(2, [[[(0, 3)], [(0, 2), (1, 4)]], [[(1, 5), (0, 9)]]])
    settings = resched.ReschedSettings(size=2, width=8, heads=2, layers=1)
    network = learned_method("resched").network(settings)
    shops = resched._shops_of(shop, "toy", CPU).repeat(6)
    rollout = resched.dispatch(network, shops, stream(CPU, "toy"))
    instance = Instance("fjsp", "toy", "toy", {"shop": shop})
    for actions, makespan in zip(rollout.actions, rollout.makespans.tolist(), strict=True):
        assert domain.verify(instance, resched._state_of(shop, actions)).objective == makespan


def test_jobs_of_different_lengths_end_when_they_are_done() -> None:
    settings = resched.ReschedSettings(size=3, machines=4, width=8, heads=2, layers=1)
    shops = resched.training_shops(settings, 5, stream(CPU, "shops"))
    rollout = resched.dispatch(learned_method("resched").network(settings), shops, None)
    assert rollout.is_action.sum(1).tolist() == shops.counts.sum(1).tolist()
    assert bool((rollout.bounds[:, 1:] >= rollout.bounds[:, :-1] - 1e-4).all())


def test_what_is_rounded_is_independent_and_no_worse_than_expected() -> None:
    settings = sdds.SddsSettings(size=30)
    adjacency = sdds.training_graphs(settings, 3, stream(CPU, "graphs"))
    probabilities = torch.rand(3, 4, 30, generator=stream(CPU, "marks"))
    marks = sdds.round_by_expectation(adjacency, probabilities).to(torch.float32)
    assert ((marks @ adjacency) * marks).sum() == 0
    before, after = (sdds.expected_energy(adjacency, p) for p in (probabilities, marks))
    assert bool((after <= before + 1e-4).all())


def test_the_energy_of_marks_counts_vertices_and_edges() -> None:
    path = torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    marks = torch.tensor([[[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]])
    assert sdds.expected_energy(path, marks).tolist() == [[-2.0, pytest.approx(-3.0 + 2 * sdds.PENALTY)]]


def test_orders_of_boxes_are_permutations_that_fill_what_the_decoder_says() -> None:
    domain = get_domain("clp3d")
    instance = domain.smoke_instance()
    method = learned_method("bpp-drl")
    settings = bpp_drl.BppSettings(size=8, width=8)
    state = method.solve(method.network(settings), settings, instance, stream(CPU, "orders"), 0.0)
    assert sorted(state.sequence.tolist()) == list(range(len(instance.data["item_sizes"])))
    assert domain.verify(instance, state).violation is None


def test_training_containers_hold_their_boxes_volume() -> None:
    data = bpp_drl.training_container(20, np.random.default_rng(3))
    assert len(data.item_sizes) == 20
    boxes, container = (int(x.prod(axis=-1, dtype=np.int64).sum()) for x in (data.item_sizes, data.bin_size))
    assert 0.97 < boxes / container < 1.03


def instances() -> dict[str, tuple[str, Instance, str]]:
    """Instances that a method cannot take, with what it says."""
    coords = np.zeros((pomo.MOST_CITIES + 1, 2))

    def tsp(**data: Any) -> Instance:
        return Instance("tsp", "g", "x", data)

    shop = tabulate(250, [[[(0, 1)]] * 30] * 30)
    return {
        "many cities": ("pomo", tsp(coords=coords), "2001 cities"),
        "fixed edges": (
            "pomo",
            tsp(coords=coords[:5], fixed=np.zeros((1, 2))),
            "cannot keep the fixed edges",
        ),
        "no places": ("pomo", tsp(coords=coords[:5], edge_type="EXPLICIT"), "needs coordinates"),
        "large shop": (
            "resched",
            Instance("fjsp", "g", "x", {"shop": shop}),
            "30 jobs × 30 operations × 250",
        ),
        "many vertices": (
            "sdds",
            Instance("mis", "g", "x", {"adjacency": np.zeros((sdds.MOST_VERTICES + 1, 1), np.uint8)}),
            "5001 vertices",
        ),
    }


@pytest.mark.parametrize("case", instances())
def test_an_instance_that_is_too_large_or_of_another_kind_is_refused(case: str) -> None:
    name, instance, message = instances()[case]
    method = learned_method(name)
    settings = method.settings(size=10, width=8, heads=1, layers=1)
    with pytest.raises(UsageError, match=message):
        method.solve(method.network(settings), settings, instance, stream(CPU, "x"), 1.0)
