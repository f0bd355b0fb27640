"""The job-shop library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.jsp.specimens import random_instance, random_sequence
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen, shops

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.jsp import DOMAIN

ZERO_TIMES = Instance(
    "jsp",
    "random",
    "zeros",
    {"machines": np.array([[0, 1, 2]] * 4, np.int32), "times": np.zeros((4, 3), np.int32)},
)


class JobShopLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=shops(random_instance),
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5), (5, 3), (6, 6), (8, 3)),
        middle=(6, 5),
        larger=((15, 15), (20, 5), (5, 20), (50, 10), (100, 20)),
        smoke_target=55.0,
        blocks=frozenset({"neighbourhood", "tabu-tenure", "priority-rule"}),
        own_functions=frozenset(
            {"schedule", "search", "restart", "block_moves", "insert", "construct", "warm_up"}
        ),
        oddities=((ZERO_TIMES, 0.0),),
    )
