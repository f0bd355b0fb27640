"""The bin packing library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen
from tests.domains.packing.specimens import bins_and_items, random_order

from dga2d.domains.binpack3d import DOMAIN
from dga2d.domains.core.contract import Instance

FULL_BINS = Instance(
    "binpack3d",
    "random",
    "full bins",
    {"bin_size": np.array([3, 4, 5], np.int32), "item_sizes": np.array([[3, 4, 5]] * 4, np.int32)},
)


class BinPackingLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=lambda size, seed: bins_and_items(size[0], size[1], seed),
        random_state=random_order,
        small=((1, 1), (1, 9), (2, 3), (3, 10), (7, 2), (9, 6)),
        middle=(11, 10),
        larger=((60, 100), (200, 100), (150, 10)),
        smoke_target=5.0545,
        blocks=frozenset({"priority-rule", "sequence-move", "reinsertion-key", "tabu-tenure"}),
        own_functions=frozenset({"run", "search", "moved", "priorities"}),
        work=60,
        oddities=((FULL_BINS, 4.0),),
    )
