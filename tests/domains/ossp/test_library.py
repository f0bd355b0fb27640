"""The open-shop library keeps what every library has to keep."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Specimen, shops
from tests.domains.ossp.specimens import plain_makespan, random_instance, random_sequence

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance, State
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.domain import SMOKE_OPTIMUM

MOST_WORK = 20_000
ZERO_TIMES = Instance("ossp", "random", "zeros", {"times": np.zeros((4, 3), np.int32)})


class OpenShopLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=shops(random_instance),
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5), (5, 3), (6, 6), (8, 3)),
        middle=(6, 5),
        larger=((15, 15), (20, 5), (5, 20), (50, 10), (100, 20)),
        smoke_target=193.0,
        blocks=frozenset({"neighbourhood", "tabu-tenure", "priority-rule"}),
        own_functions=frozenset({"schedule", "search", "block_moves", "take_out", "construct"}),
        oddities=((ZERO_TIMES, 0.0),),
    )

    @pytest.mark.parametrize(("size", "seed"), [((2, 3), 1), ((3, 2), 2), ((2, 4), 3), ((4, 2), 4)])
    def test_branching_ends_with_the_best_of_all_sequences(
        self, size: tuple[int, int], seed: int, plain: Load
    ) -> None:
        instance = random_instance(*size, seed)
        optimum = min(plain_makespan(instance, order) for order in permutations(range(size[0] * size[1])))
        found, work = self.branched(instance, plain)
        assert found == optimum
        assert work < MOST_WORK

    def test_branching_ends_with_a_proof_where_the_lower_bound_is_not_met(self, plain: Load) -> None:
        instance = DOMAIN.smoke_instance()
        found, work = self.branched(instance, plain)
        assert DOMAIN.environment(instance)["lower_bound"] < found == SMOKE_OPTIMUM
        assert work < MOST_WORK

    def branched(self, instance: Instance, plain: Load) -> tuple[float, int]:
        """Makespan that branching reaches from a random schedule, and the work it took of `MOST_WORK`."""
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "weighted_branching")
        environment, budget = DOMAIN.environment(instance), Budget(MOST_WORK, "work", 1)
        budget.next_position()
        environment |= {"rng": np.random.default_rng(1), "budget": budget}
        start = State(random_sequence(instance, 1))
        result = plain(implementation)(environment, start, DOMAIN.decoder(environment))
        return plain_makespan(instance, result.sequence), budget.work
