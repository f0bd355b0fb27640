"""The weights in ``examples/learned`` are what their cards say, and POMO's are near the optimum."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dga2d.domains.core.contract import Instance
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.learned import pomo
from dga2d.runtime.learned.method import stream
from dga2d.runtime.learned.names import DOMAINS
from dga2d.runtime.learned.weights import digest_of, load_network, untrained_network

FOLDER = Path(__file__).parents[3] / "examples" / "learned"
CPU = torch.device("cpu")
MEAN_OPTIMUM = 3.61840
"""Of the first eight fixed instances of TSP-20: dynamic programming, ``benchmarks/learned.py``."""


@pytest.mark.parametrize("name", DOMAINS)
def test_a_card_is_of_its_weights(name: str) -> None:
    card = json.loads((FOLDER / f"{name}.card.json").read_text(encoding="utf-8"))
    weights = FOLDER / card["weights"]
    data = weights.read_bytes()
    assert (card["sha256"], card["bytes"]) == (digest_of(data), len(data))
    assert len(data) < 1_000_000
    network, contents = load_network(weights, name, CPU)
    assert card["parameters"] == sum(parameter.numel() for parameter in network.parameters())
    assert card["settings"] == contents.settings.model_dump()
    assert card["published_budget"] == contents.method.published
    assert card["curve"][-1]["validation"] < card["curve"][0]["validation"]


def test_pomo_is_within_two_percent_of_the_optimum_on_twenty_cities() -> None:
    network, contents = load_network(FOLDER / "pomo.safetensors", "pomo", CPU)
    fresh = untrained_network(contents.method, contents.settings).eval()
    rng = stream(CPU, "validation", "pomo", 20)
    cities = pomo.training_cities(20, pomo.VALIDATION_INSTANCES, rng)[:8].double().numpy()
    domain, found = get_domain("tsp"), []
    for net in (network, fresh):
        lengths = []
        for places in cities:
            instance = Instance("tsp", "g", "x", {"coords": np.asarray(1e6 * places)})
            state = contents.method.solve(net, contents.settings, instance, stream(CPU, "x"), 60.0)
            lengths.append(domain.verify(instance, state).objective)
        found.append(float(np.mean(np.array(lengths, dtype=np.float64))) / 1e6)
    assert MEAN_OPTIMUM - 1e-3 <= found[0] <= 1.02 * MEAN_OPTIMUM
    assert found[1] > 1.1 * MEAN_OPTIMUM
