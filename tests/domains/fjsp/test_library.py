"""The flexible job-shop library keeps what every library has to keep."""

from __future__ import annotations

from tests.domains.fjsp.specimens import random_instance, random_state
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen, shops

from dga2d.domains.core.contract import Instance
from dga2d.domains.fjsp import DOMAIN
from dga2d.domains.fjsp.reader import tabulate

ZERO_TIMES = Instance(
    "fjsp", "random", "zeros", {"shop": tabulate(3, [[[(0, 0), (1, 0)], [(1, 0)], [(0, 0), (2, 0)]]] * 4)}
)
ONE_MACHINE_TWICE = Instance(
    "fjsp", "random", "twice", {"shop": tabulate(2, [[[(0, 3)], [(0, 4)], [(0, 0)]], [[(0, 2)], [(0, 1)]]])}
)


class FlexibleJobShopLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=shops(random_instance),
        random_state=random_state,
        small=((1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5), (5, 3), (6, 5)),
        middle=(8, 5),
        larger=((15, 8), (20, 5), (5, 20), (50, 10), (100, 9)),
        smoke_target=55.0,
        blocks=frozenset(
            {"tabu-tenure", "priority-rule", "path-point", "random-move", "move-screening", "destruction"}
        ),
        own_functions=frozenset({"draw_target", "is_worth_making"}),
        oddities=((ZERO_TIMES, 0.0), (ONE_MACHINE_TWICE, 10.0)),
    )
