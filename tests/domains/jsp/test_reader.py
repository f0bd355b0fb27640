"""Job-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.domains.reading_claims import MALFORMED_PAIRS, MalformedTexts, Refused, ShopFile, ShopFiles

from dga2d.domains.jsp import DOMAIN
from dga2d.domains.jsp.reader import parse_instance

GOOD = "# a comment\n2 3\n0 5 1 6 2 7\n\n 2 1  1 0  0 9 \n"
TIMES = [[5, 6, 7], [1, 0, 9]]


class JobShopTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED_PAIRS)


class JobShopFileClaims(ShopFiles):
    specimen = ShopFile(DOMAIN, GOOD, "ft/tiny", TIMES, parse=parse_instance, n_published=162)


def test_the_machines_of_a_file_are_read_row_by_row() -> None:
    machines = parse_instance(GOOD, "good").machines
    assert machines.tolist() == [[0, 1, 2], [2, 1, 0]]
    assert machines.dtype == np.int32
    assert not machines.flags.writeable


def test_jss_files_count_machines_from_one(tmp_path: Path) -> None:
    (tmp_path / "jsp" / "own").mkdir(parents=True)
    (tmp_path / "jsp" / "own" / "two.jss").write_text("2 3\n1 5 2 6 3 7\n3 1 2 0 1 9\n", encoding="utf-8")
    (tmp_path / "jsp" / "bks.json").write_text("{}", encoding="utf-8")
    (ref,) = DOMAIN.published(tmp_path)
    data = DOMAIN.load(ref).data
    assert (ref.key, data["machines"].tolist(), data["times"].tolist()) == (
        "own/two",
        [[0, 1, 2], [2, 1, 0]],
        TIMES,
    )
