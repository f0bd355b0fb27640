"""The container loading library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen
from tests.domains.packing.specimens import container_and_boxes, random_order

from dga2d.domains.clp3d import DOMAIN
from dga2d.domains.core.contract import Instance

NOTHING_FITS = Instance(
    "clp3d",
    "random",
    "nothing fits",
    {
        "bin_size": np.array([3, 4, 5], np.int32),
        "item_sizes": np.array([[9, 9, 9]] * 5, np.int32),
        "orientation_allowed": np.ones((5, 6), np.int32),
    },
)


class ContainerLoadingLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=lambda size, seed: container_and_boxes(size[0], size[1], seed),
        random_state=random_order,
        small=((1, 1), (2, 1), (2, 2), (5, 2), (9, 4)),
        middle=(11, 6),
        larger=((60, 8), (150, 60)),
        smoke_target=0.0,
        blocks=frozenset({"priority-rule", "sequence-move", "run-move", "tabu-tenure", "cooling"}),
        own_functions=frozenset({"run", "search", "moved", "priorities", "change"}),
        work=60,
        oddities=((NOTHING_FITS, 100.0),),
    )
