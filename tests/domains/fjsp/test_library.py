"""The flexible job-shop library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.fjsp.specimens import random_instance, random_state
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Specimen, shops

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
            {
                "acceptance",
                "destruction",
                "insertion-key",
                "move-screening",
                "operations-to-remove",
                "path-point",
                "priority-rule",
                "random-move",
                "tabu-tenure",
            }
        ),
        own_functions=frozenset(
            {"draw_target", "insertion_key", "is_worth_making", "longest_kept", "take_out"}
        ),
        do_blocks_stand_alone=False,
        oddities=((ZERO_TIMES, 0.0), (ONE_MACHINE_TWICE, 10.0)),
    )

    @pytest.mark.parametrize("number", [0, 1, 2], ids=["random", "long-first", "annealed"])
    def test_a_round_keeps_every_operation_and_tells_the_makespan(self, plain: Load, number: int) -> None:
        """Whether its result stays, is too long, or is given up before all operations are back."""
        name = "large_neighbourhood_search"
        texts = [text for operator, text in self.specimen.cases if operator.id == name]
        functions = plain(texts[number]).__globals__
        stayed = given_back = 0
        for seed in range(12):
            instance, rng = random_instance(4, 3, seed), np.random.default_rng(seed)
            data, state = DOMAIN.environment(instance), random_state(instance, seed)
            shop, options, links, first, work = functions["prepare"](data)
            best = functions["plan_of"](data, state)
            present, decode = best.copy(), DOMAIN.decoder(data)
            status = np.array([functions["lay_out"](best, shop, options, links, first)] * 2 + [0], np.int64)
            for _ in range(20):
                old, before = present.copy(), int(status[1])
                functions["make_rounds"](
                    1, 3, 0.5, shop, options, links, first, work, status, present, best, rng
                )
                is_new = bool((present != old).any())
                stayed, given_back = stayed + is_new, given_back + (not is_new)
                assert is_new or status[1] == before
                for plan, makespan in ((present, status[1]), (best, status[0])):
                    functions["put_plan"](data, state, plan)
                    assert decode(state) == makespan
                functions["keep"](old, shop, links)
                np.testing.assert_array_equal(old, present)
            assert status[0] <= status[1]
        assert stayed > 20
        assert given_back > 20
