"""Flow-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

from tests.domains.reading_claims import MALFORMED_PAIRS, MalformedTexts, Refused, ShopFile, ShopFiles

from dga2d.domains.fssp import DOMAIN
from dga2d.domains.fssp.reader import parse_instance

GOOD = "# a comment\n2 3\n0 5 1 6 2 7\n\n 0 9  1 0  2 1 \n"
TIMES = [[5, 6, 7], [9, 0, 1]]
OUT_OF_ORDER = ("# a comment\n2 2\n\n0 1 1 2\n# another\n1 2 0 1\n", 6)


class FlowShopTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, {**MALFORMED_PAIRS, "machines out of order": OUT_OF_ORDER})


class FlowShopFileClaims(ShopFiles):
    specimen = ShopFile(DOMAIN, GOOD, "own/tiny", TIMES, parse=parse_instance, n_published=110)


def test_jss_files_count_machines_from_one(tmp_path: Path) -> None:
    (tmp_path / "fssp" / "own").mkdir(parents=True)
    (tmp_path / "fssp" / "own" / "two.jss").write_text("2 3\n1 5 2 6 3 7\n1 9 2 0 3 1\n", encoding="utf-8")
    (tmp_path / "fssp" / "bks.json").write_text("{}", encoding="utf-8")
    (ref,) = DOMAIN.published(tmp_path)
    assert (ref.key, DOMAIN.load(ref).data["times"].tolist()) == ("own/two", TIMES)
