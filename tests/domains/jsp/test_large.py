"""Job shops of 100 × 100: made by the published rule, in no split that did not ask for them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split
from dga2d.domains.jsp import DOMAIN
from dga2d.domains.jsp.large import GROUP, shops
from dga2d.runtime.runs.problem import Problem


def test_times_are_drawn_up_to_999_and_every_job_visits_every_machine() -> None:
    data = shops()["r1"].data()
    assert data.times.min() >= 1
    assert 990 < data.times.max() <= 999
    assert (np.sort(data.machines, axis=1) == np.arange(100)).all()


def test_the_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    for shop in shops().values():
        data = shop.data()
        digest.update(data.machines.astype("<i4").tobytes() + data.times.astype("<i4").tobytes())
    assert digest.hexdigest() == "198d61b84bac82c80db1693885b2d2766dbe1252a6933c1cf1ea950dea379c7c"


def test_a_name_that_is_none_of_them_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("jsp", GROUP, "r9", None))


def test_a_run_is_for_them_only_where_their_group_is_named() -> None:
    default, named = Problem.open("jsp", None), Problem.open("jsp", None, GROUP)
    assert {ref.group for part in default.splits for ref in part} == {"ta", "random"}
    assert [len(part) for part in named.splits] == [3, 1, 2]
    assert default.instance(f"{GROUP}/r1").data["times"].shape == (100, 100)


def test_taillards_shops_are_dealt_as_ever() -> None:
    splits = split([ref for ref in DOMAIN.generated() if ref.group == "ta"])
    assert splits.digest() == "8e118f141c66e02add60ac84883306f6ea5fee094c27d17c39c013044dea1f7f"


def test_references_lie_where_published_ones_of_such_shops_do() -> None:
    """Best known makespans of Da Col and Teppan's, the few that were seen, are about 79,000."""
    for ref in DOMAIN.generated():
        if ref.group == GROUP:
            assert ref.reference is not None
            assert 76_000 < ref.reference.value < 83_000
