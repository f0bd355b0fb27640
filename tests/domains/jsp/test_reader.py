"""Job-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

import numpy as np
from tests.domains.reading_claims import MALFORMED_PAIRS, ShopFile, ShopFiles, longest_job_and_total

from dga2d.domains.jsp import DOMAIN
from dga2d.domains.jsp.reader import parse_instance

GOOD = "# a comment\n2 3\n0 5 1 6 2 7\n\n 2 1  1 0  0 9 \n"


def test_a_file_is_read_row_by_row() -> None:
    data = parse_instance(GOOD, "good")
    assert data.machines.tolist() == [[0, 1, 2], [2, 1, 0]]
    assert data.times.tolist() == [[5, 6, 7], [1, 0, 9]]
    assert data.machines.dtype == data.times.dtype == np.int32
    assert not data.machines.flags.writeable
    assert not data.times.flags.writeable


class JobShopFileClaims(ShopFiles):
    specimen = ShopFile(
        domain=DOMAIN,
        text=GOOD,
        file="ft/tiny",
        key="ft/tiny",
        holds=lambda instance: instance.data["times"].tolist(),
        expected=[[5, 6, 7], [1, 0, 9]],
        parse=parse_instance,
        malformed=MALFORMED_PAIRS,
        edge="1 2\n0 999999997 1 1\n",
        second_file="ft/tiny.txt",
        bounds=longest_job_and_total,
        n_published=162,
    )
