from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.salbp1 import DOMAIN
from dga2d.domains.salbp1.cp_sat import bin_packing_bound
from dga2d.domains.salbp1.generator import GRAPHS, TIMES, Setting, generate, small_set
from dga2d.domains.salbp1.line import order_strength
from dga2d.domains.salbp1.reader import instance_text

SMALL_SET_DIGEST = "061941c0bbcf7f7147e63b871fa57a04b3e1d120ffaff7ce7bcffbb8afba8f8f"


def test_the_small_set_has_the_sizes_of_the_paper() -> None:
    refs = DOMAIN.generated()
    assert len(refs) == 525
    assert {ref.group for ref in refs} == {"small"}
    assert [len(part) for part in split(refs)] == [315, 105, 105]
    kinds = Counter((setting.strength, setting.graph, setting.times) for setting in small_set().values())
    assert len(kinds) == len(GRAPHS) * len(TIMES) == 21
    assert set(kinds.values()) == {25}


def test_the_small_set_is_the_same_to_the_bit() -> None:
    """Over the texts of all 525 files: no other machine or version of numpy may give other numbers."""
    digest = hashlib.sha256()
    for setting in small_set().values():
        digest.update(instance_text(generate(setting)).encode())
    assert digest.hexdigest() == SMALL_SET_DIGEST


def test_order_strengths_and_times_are_those_of_their_setting() -> None:
    means: dict[str, list[float]] = {kind: [] for kind in TIMES}
    for setting in list(small_set().values())[::5]:
        data = generate(setting)
        assert abs(order_strength(20, data.edges) - setting.strength) < 0.03
        assert data.times.min() >= 1
        assert data.times.max() <= data.cycle_time == 1000
        means[setting.times].append(float(data.times.mean()))
    assert 110 < np.mean(means["bottom"]) < 150
    assert 140 < np.mean(means["bimodal"]) < 190
    assert 480 < np.mean(means["middle"]) < 520


def degrees(setting: Setting) -> tuple[list[int], list[int]]:
    edges = generate(setting).edges
    n = setting.n_tasks
    return np.bincount(edges[:, 0], minlength=n).tolist(), np.bincount(edges[:, 1], minlength=n).tolist()


@pytest.mark.parametrize(("strength", "factor"), [(0.2, 1.5), (0.6, 1.1)])
def test_chains_and_bottlenecks_show_in_the_graphs(strength: float, factor: float) -> None:
    inner = {"mixed": 0, "chains": 0}
    widest = {"mixed": 0, "bottleneck": 0}
    for seed in range(10):
        for kind in inner:
            out, into = degrees(Setting(50, strength, kind, "bottom", seed))  # type: ignore[arg-type]
            inner[kind] += sum(a == 1 and b == 1 for a, b in zip(out, into, strict=True))
        for kind in widest:
            out, into = degrees(Setting(50, strength, kind, "bottom", seed))  # type: ignore[arg-type]
            widest[kind] += max(min(a, b) for a, b in zip(out, into, strict=True))
    assert inner["chains"] > factor * inner["mixed"]
    assert widest["bottleneck"] > factor * widest["mixed"]


def test_references_are_proven_and_above_the_bound() -> None:
    for ref in DOMAIN.generated()[::7]:
        assert ref.reference is not None
        assert ref.reference.kind == "optimal"
        assert "CP-SAT" in ref.reference.source
        data = DOMAIN.load(ref).data
        assert ref.reference.value >= bin_packing_bound(data["times"].tolist(), data["cycle_time"])


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InstanceFormatError, match="not a generated instance"):
        DOMAIN.load(InstanceRef("salbp1", "small", "n=20_526", None))
