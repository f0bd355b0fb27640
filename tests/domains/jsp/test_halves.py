"""Job shops in halves: half of the machines come before the other half, in every part of a run for them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.jsp import DOMAIN
from dga2d.domains.jsp.halves import GROUP, LONGEST, shops
from dga2d.runtime.runs.problem import Problem


@pytest.mark.parametrize("name", shops())
def test_every_job_visits_one_half_of_the_machines_before_the_other(name: str) -> None:
    shop = shops()[name]
    data, half = shop.data(), shop.n_machines // 2
    assert data.machines.shape == data.times.shape == (shop.n_jobs, shop.n_machines)
    assert (np.sort(data.machines[:, :half], axis=1) == np.arange(half)).all()
    assert (np.sort(data.machines[:, half:], axis=1) == np.arange(half, shop.n_machines)).all()
    assert len({tuple(row) for row in data.machines.tolist()}) == shop.n_jobs
    assert data.times.min() >= 1
    assert LONGEST - 5 < data.times.max() <= LONGEST


def test_the_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    for shop in shops().values():
        data = shop.data()
        digest.update(data.machines.astype("<i4").tobytes() + data.times.astype("<i4").tobytes())
    assert digest.hexdigest() == "a667c126b9b72d06f3b41675cbebdb94950d27bf40263dfb07f8e3b236175337"


def test_a_run_has_them_in_each_of_its_parts_where_it_names_their_group() -> None:
    assert [len(part) for part in Problem.open("jsp", None, GROUP).splits] == [6, 2, 2]


def test_a_name_that_is_none_of_them_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("jsp", GROUP, "20x15-9", None))


def test_references_lie_above_the_busiest_machine_by_no_more_than_two_thirds() -> None:
    for ref in DOMAIN.generated():
        if ref.group == GROUP:
            data = shops()[ref.name].data()
            load = np.bincount(data.machines.ravel(), weights=data.times.ravel()).max()
            assert ref.reference is not None
            assert load <= ref.reference.value < 5 / 3 * load
