"""Flow-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

import numpy as np
from tests.domains.reading_claims import MALFORMED_PAIRS, ShopFile, ShopFiles, longest_job_and_total

from dga2d.domains.fssp import DOMAIN
from dga2d.domains.fssp.reader import parse_instance

GOOD = "# a comment\n2 3\n0 5 1 6 2 7\n\n 0 9  1 0  2 1 \n"


def test_a_file_is_read_row_by_row() -> None:
    data = parse_instance(GOOD, "good")
    assert data.times.tolist() == [[5, 6, 7], [9, 0, 1]]
    assert data.times.dtype == np.int32
    assert not data.times.flags.writeable


class FlowShopFileClaims(ShopFiles):
    specimen = ShopFile(
        domain=DOMAIN,
        text=GOOD,
        file="own/tiny",
        key="own/tiny",
        holds=lambda instance: instance.data["times"].tolist(),
        expected=[[5, 6, 7], [9, 0, 1]],
        parse=parse_instance,
        malformed={
            **MALFORMED_PAIRS,
            "machines out of order": ("# a comment\n2 2\n\n0 1 1 2\n# another\n1 2 0 1\n", 6),
        },
        edge="1 2\n0 999999997 1 1\n",
        second_file="own/tiny.txt",
        bounds=longest_job_and_total,
        n_published=110,
    )
