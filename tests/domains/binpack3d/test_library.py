"""The bin packing library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Specimen
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
        blocks=frozenset(
            {
                "acceptance",
                "packing-key",
                "priority-rule",
                "reinsertion-key",
                "sequence-move",
                "tabu-tenure",
            }
        ),
        do_blocks_stand_alone=False,
        own_functions=frozenset({"accepts", "moved", "packing_key", "priorities", "run", "search"}),
        work=60,
        oddities=((FULL_BINS, 4.0),),
    )

    @pytest.mark.parametrize(
        "number",
        [
            pytest.param(0, id="random", marks=pytest.mark.slow),
            pytest.param(1, id="large items first", marks=pytest.mark.slow),
            pytest.param(2, id="annealed"),
        ],
    )
    def test_rounds_on_bins_keep_every_item_and_what_is_in_each_bin(self, plain: Load, number: int) -> None:
        """Each bin still holds its items if they are packed into it in their order."""
        texts = [t for operator, t in self.specimen.cases if operator.id == "bin_neighbourhood_search"]
        functions, changes, emptied = plain(texts[number]).__globals__, 0, 0
        for seed in range(6):
            instance, rng = bins_and_items(24, 10, seed), np.random.default_rng(seed)
            items, arrays = functions["prepare"](DOMAIN.environment(instance))
            n, most, volumes = len(items[1]), arrays[0].shape[1], items[1]
            packing, free = (np.zeros((n, most), np.int32), np.zeros(n, np.int32)), np.zeros(n, np.int64)
            sequence = np.array(random_order(instance, seed).sequence, np.int32)
            n_bins = functions["read_bins"](sequence, items, arrays, free, *packing)
            filled = int(items[2].astype(np.int64).prod()) - free
            work = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(n), *np.zeros((2, n), np.int64)
            for step in range(40):
                old, before = n_bins, packing[0].copy()
                n_bins, packed = functions["make_rounds"](
                    n_bins, step / 40, filled, items, arrays, free, packing, work, 1, rng
                )
                assert packed > 0 or n_bins == 1
                changes += int((before != packing[0]).any())
                emptied += old - n_bins
                bins = [packing[0][b, : packing[1][b]] for b in range(n_bins)]
                assert sorted(np.concatenate(bins).tolist()) == list(range(n))
                np.testing.assert_array_equal(filled[:n_bins], [volumes[held].sum() for held in bins])
                for held in bins:
                    assert functions["fill_bins"](held, items, arrays, free, np.empty(n, np.int32)) == 1
        assert changes > 30
        assert emptied > 0
