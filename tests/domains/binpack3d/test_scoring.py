"""Decoder, plain decoder and verifier of bin packing agree; solution files, pictures, baselines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.drawn import drawing_of
from tests.domains.packing.specimens import bins_and_items, least_score, random_order
from tests.domains.scoring_claims import claims_hold

from dga2d.domains.binpack3d import DOMAIN, generator
from dga2d.domains.binpack3d.bounds import continuous_bound, l2_bound
from dga2d.domains.core.contract import Instance, State

Box = tuple[list[int], list[int]]


def plain_score(instance: Instance, sequence: Sequence[int]) -> float:
    """The card's rule word by word."""
    size, items = instance.data["bin_size"].tolist(), instance.data["item_sizes"].tolist()
    bins: list[list[Box]] = []
    for item in sequence:
        for boxes in bins:
            low = plain_place(boxes, items[item], size)
            if low is not None:
                break
        else:
            boxes, low = [], [0, 0, 0]
            bins.append(boxes)
        assert low is not None
        boxes.append((low, [a + b for a, b in zip(low, items[item], strict=True)]))
    used = sum(int(np.prod(np.subtract(high, low))) for low, high in bins[-1])
    return len(bins) + 0.1 * (1 - used / int(np.prod(size)))


def plain_place(boxes: list[Box], sides: list[int], size: list[int]) -> list[int] | None:
    points = [[0, 0, 0]]
    for (x, y, z), (x1, y1, z1) in boxes:
        points += [[x1, y, z], [x, y1, z], [x, y, z1]]
    for low in sorted(points, key=lambda p: (p[2], p[1], p[0])):
        high = [a + b for a, b in zip(low, sides, strict=True)]
        if all(h <= s for h, s in zip(high, size, strict=True)) and not any(
            all(a0 < b1 and b0 < a1 for a0, a1, b0, b1 in zip(low, high, *box, strict=True)) for box in boxes
        ):
            return low
    return None


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 25), side=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_decoder_plain_decoder_and_verifier_agree(n: int, side: int, seed: int) -> None:
    instance = bins_and_items(n, side, seed)
    state = random_order(instance, seed)
    score = DOMAIN.decoder(DOMAIN.environment(instance))(state)
    assert score == pytest.approx(plain_score(instance, state.sequence.tolist()), abs=1e-12)
    assert DOMAIN.verify(instance, state).objective == score


@pytest.mark.parametrize("item_class", generator.CLASSES)
def test_decoder_and_verifier_agree_on_every_class(item_class: int) -> None:
    data = generator.generate(item_class, 60, 3)
    arrays = {"bin_size": data.bin_size, "item_sizes": data.item_sizes}
    instance = Instance("binpack3d", "n60", "x", arrays)
    state = random_order(instance, 1)
    score = DOMAIN.decoder(DOMAIN.environment(instance))(state)
    assert DOMAIN.verify(instance, state).objective == score
    l2 = l2_bound(data.bin_size, data.item_sizes)
    assert continuous_bound(data.bin_size, data.item_sizes) <= l2 <= int(score)


def test_the_claims_about_scoring_and_outputs_hold() -> None:
    claims_hold(DOMAIN, random_order)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", ">i4"])
def test_other_integer_arrays_are_decoded(dtype: str) -> None:
    instance = DOMAIN.smoke_instance()
    state = random_order(instance, 3)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    assert decode(State(state.sequence.astype(dtype))) == decode(state)


def test_the_written_packing_can_be_read_back() -> None:
    instance = DOMAIN.smoke_instance()
    state = random_order(instance, 6)
    text = DOMAIN.write_solution(instance, state).splitlines()
    lines = [line.split() for line in text if not line.startswith("#")]
    assert lines[0][0] == "16"
    assert float(lines[0][2]) == DOMAIN.verify(instance, state).objective
    rows = np.array(lines[1:], dtype=int)
    assert rows[:, 0].tolist() == list(range(16))
    assert rows[:, 1].max() + 1 == int(lines[0][1])
    assert rows[:, 5:].tolist() == instance.data["item_sizes"].tolist()
    assert (rows[:, 2:5] + rows[:, 5:] <= 10).all()


def test_the_picture_has_an_axis_for_each_bin() -> None:
    instance = DOMAIN.smoke_instance()
    state = random_order(instance, 6)
    objective = DOMAIN.verify(instance, state).objective
    assert objective is not None
    panels = drawing_of(DOMAIN, instance, state).panels
    assert len([panel for panel in panels if panel.title]) == int(objective)


def test_cp_sat_needs_no_more_bins_than_the_best_order() -> None:
    instance = bins_and_items(6, 6, 1)
    state = DOMAIN.cp_sat(instance, 60.0, seed=1)
    assert state is not None
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective is not None, verdict.violation
    assert int(verdict.objective) == int(least_score(DOMAIN, instance))


def test_the_suite_has_the_papers_groups() -> None:
    refs = DOMAIN.generated()
    assert len(refs) == 720
    assert {ref.group for ref in refs} == {f"n{n}" for n in generator.SIZES}
    for ref in refs[::37]:
        instance = DOMAIN.load(ref)
        assert ref.reference is not None
        assert len(instance.data["item_sizes"]) == int(ref.group[1:])
        assert int(ref.reference.value) >= l2_bound(instance.data["bin_size"], instance.data["item_sizes"])


def test_items_of_a_class_lie_in_their_intervals() -> None:
    sizes = generator.generate(4, 200, 1).item_sizes
    assert 0.5 < np.mean((sizes >= 50).all(axis=1)) < 0.8
    assert generator.generate(7, 200, 1).item_sizes.max() <= 35
    assert generator.generate(6, 50, 1).bin_size.tolist() == [10, 10, 10]
