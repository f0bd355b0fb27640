"""Open-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

from tests.domains.reading_claims import Malformed, MalformedTexts, Refused, ShopFile, ShopFiles

from dga2d.domains.core.contract import Instance
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.reader import parse_instance

GOOD = "# a comment\n2 3\n5 6 7\n\n 1  0 9 \n"
TIMES = [[5, 6, 7], [1, 0, 9]]
EDGE = "1 2\n999999997 1\n"
MALFORMED: dict[str, Malformed] = {
    "empty": ("", None),
    "only comments": ("# nothing\n", None),
    "header of one number": ("2\n1 1\n1 1\n", 1),
    "header of three numbers": ("1 1 1\n1\n", 1),
    "no jobs": ("0 3\n", 1),
    "no machines": ("3 0\n", 1),
    "negative size": ("-1 3\n", 1),
    "a word": ("1 2\nfive 6\n", 2),
    "a decimal": ("1 2\n5.0 6\n", 2),
    "a digit of another script": ("1 2\n٥ 6\n", 2),
    "an underscore": ("1 2\n1_0 6\n", 2),
    "a plus sign": ("1 2\n+1 6\n", 2),
    "a huge number": ("1 2\n9999999999999 6\n", 2),
    "a strange blank": ("1 2\n5\u00a06\n", 2),
    "too few numbers": ("2 2\n1 2\n1\n", 3),
    "too many numbers": ("2 2\n1 2\n1 2 0\n", 3),
    "truncated": ("2 2\n1 2\n", 2),
    "trailing line": ("1 2\n1 2\n1 2\n", 3),
    "time negative": ("1 2\n1 -2\n", 2),
    "times reach the invalid score": ("1 2\n999999998 1\n", None),
}


def bounds_of_environment(instance: Instance) -> tuple[int, int]:
    environment = DOMAIN.environment(instance)
    return environment["lower_bound"], environment["upper_bound"]


class OpenShopTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED)


class OpenShopFileClaims(ShopFiles):
    specimen = ShopFile(
        *(DOMAIN, GOOD, "tiny/one.txt", TIMES),
        parse=parse_instance,
        n_published=60,
        edge=EDGE,
        bounds=bounds_of_environment,
    )
