"""Flow-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

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
