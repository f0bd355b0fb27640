"""The flow-shop library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.fssp.specimens import random_instance, random_sequence
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen, shops

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.fssp import DOMAIN

ZERO_TIMES = Instance("fssp", "random", "zeros", {"times": np.zeros((4, 3), np.int32)})


class FlowShopLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=shops(random_instance),
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5), (5, 3), (6, 6), (8, 3)),
        middle=(6, 5),
        larger=((15, 15), (20, 5), (5, 20), (50, 10), (200, 20)),
        smoke_target=427.0,
        blocks=frozenset({"tie-breaking", "destruction", "job-index", "kick"}),
        own_functions=frozenset(
            {
                "construct",
                "rebuild",
                "iterate",
                "tabu_search",
                "choose_place",
                "job_index",
                "tabu_tenure",
                "update_heads",
                "update_tails",
                "improve",
            }
        ),
        oddities=((ZERO_TIMES, 0.0),),
    )
