"""Decoder, plain decoder and verifier of container loading agree; solution files, pictures, baselines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.drawn import drawing_of
from tests.domains.packing.specimens import container_and_boxes, least_score, random_order
from tests.domains.scoring_claims import claims_hold

from dga2d.domains.clp3d import DOMAIN
from dga2d.domains.core.contract import Instance, State
from dga2d.domains.drawing import Solid


def plain_fill(instance: Instance, sequence: Sequence[int]) -> float:
    """The card's rule word by word: fill rate in percent."""
    size = instance.data["bin_size"].tolist()
    boxes: list[tuple[list[int], list[int]]] = []
    for item in sequence:
        points = [[0, 0, 0]]
        for (x, y, z), (x1, y1, z1) in boxes:
            points += [[x1, y, z], [x, y1, z], [x, y, z1]]
        place = None
        for low in sorted(points, key=lambda p: (p[2], p[1], p[0])):
            for sides in plain_turns(instance, item):
                high = [a + b for a, b in zip(low, sides, strict=True)]
                inside = all(h <= s for h, s in zip(high, size, strict=True))
                if inside and not any(meet(low, high, *box) for box in boxes):
                    place = place or (low, high)
        if place is not None:
            boxes.append(place)
    packed = sum(int(np.prod(np.subtract(high, low))) for low, high in boxes)
    return 100 * packed / int(np.prod(size))


def plain_turns(instance: Instance, item: int) -> list[list[int]]:
    sides = instance.data["item_sizes"][item].tolist()
    flags = instance.data["orientation_allowed"][item].tolist()
    orders = permutations(range(3))
    return [[sides[k] for k in order] for order, flag in zip(orders, flags, strict=True) if flag]


def meet(low: list[int], high: list[int], low2: list[int], high2: list[int]) -> bool:
    return all(a0 < b1 and b0 < a1 for a0, a1, b0, b1 in zip(low, high, low2, high2, strict=True))


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 30), n_types=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_decoder_plain_decoder_and_verifier_agree(n: int, n_types: int, seed: int) -> None:
    instance = container_and_boxes(n, n_types, seed)
    state = random_order(instance, seed)
    score = DOMAIN.decoder(DOMAIN.environment(instance))(state)
    objective = DOMAIN.verify(instance, state).objective
    assert objective == pytest.approx(plain_fill(instance, state.sequence.tolist()), abs=1e-9)
    assert objective is not None
    assert score == 100.0 - objective


@pytest.mark.parametrize("key", ["BR1/004", "BR8/002", "BR15/010"])
def test_decoder_and_verifier_agree_on_the_suite(key: str) -> None:
    ref = next(ref for ref in DOMAIN.generated() if ref.key == key)
    instance = DOMAIN.load(ref)
    environment = DOMAIN.environment(instance)
    state = State(np.argsort(-environment["item_volumes"], kind="stable").astype(np.int32))
    objective = DOMAIN.verify(instance, state).objective
    assert ref.reference is not None
    assert objective == pytest.approx(ref.reference.value, abs=1e-9)
    assert objective is not None
    assert DOMAIN.decoder(environment)(state) == 100.0 - objective
    assert environment["lower_bound"] == 100.0 - environment["fill_upper_bound"] >= 0


def test_the_claims_about_scoring_and_outputs_hold() -> None:
    claims_hold(DOMAIN, random_order)


def test_the_written_loading_can_be_read_back() -> None:
    instance = DOMAIN.smoke_instance()
    state = random_order(instance, 6)
    text = DOMAIN.write_solution(instance, state).splitlines()
    lines = [line.split() for line in text if not line.startswith("#")]
    assert lines[0][0] == "24"
    assert float(lines[0][2]) == DOMAIN.verify(instance, state).objective
    rows = np.array(lines[1:], dtype=int)
    packed = rows[rows[:, 1] == 0]
    assert len(packed) == int(lines[0][1])
    assert 100.0 * packed[:, 5:].prod(axis=1).sum() / 1200 == pytest.approx(float(lines[0][2]))


def test_the_picture_shows_every_packed_box() -> None:
    instance = DOMAIN.smoke_instance()
    state = random_order(instance, 6)
    text = DOMAIN.write_solution(instance, state).splitlines()
    solids = [shape for shape in drawing_of(DOMAIN, instance, state).shapes if isinstance(shape, Solid)]
    assert len(solids) == int(text[2].split()[1])


def test_cp_sat_loads_as_much_as_the_best_order() -> None:
    instance = container_and_boxes(6, 3, 3)
    state = DOMAIN.cp_sat(instance, 60.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).objective == 100.0 - least_score(DOMAIN, instance)
