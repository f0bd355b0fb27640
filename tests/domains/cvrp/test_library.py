"""The vehicle routing library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.cvrp.specimens import plain_length, random_instance, random_sequence
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Size, Specimen

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.cvrp import DOMAIN
from dga2d.domains.cvrp.reader import RoutingData
from dga2d.domains.execution import preparing

IN_ONE_PLACE = RoutingData(np.zeros((7, 2)), "EUC_2D", None, np.array([0, 1, 1, 1, 1, 1, 1], np.int64), 2)
NO_DEMANDS = RoutingData(np.zeros((6, 2)), "EUC_2D", None, np.zeros(6, np.int64), 1)


def instance_of(size: Size, seed: int) -> Instance:
    n_customers, fit = size
    return random_instance(n_customers, seed, slack=float(fit))


class VehicleRoutingLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=instance_of,
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1, 1), (2, 1), (2, 2), (3, 2), (4, 9), (6, 1), (9, 3), (14, 5)),
        middle=(24, 5),
        larger=((60, 6), (100, 40), (150, 3), (300, 9)),
        smoke_target=290.0,
        blocks=frozenset(
            {
                "cooling",
                "crossover",
                "insertion-order",
                "insertion-place",
                "insertion-score",
                "nearest-neighbour-lists",
                "next-customer",
                "reconnection",
                "savings",
                "split",
                "tenure",
            }
        ),
        do_blocks_stand_alone=False,
        own_functions=frozenset(
            {"improve_customer", "sweep", "next_customer", "cooling", "cheapest_place", "kick", "reconnect"}
        ),
        oddities=(
            (Instance("cvrp", "random", "one-place", {"routing": IN_ONE_PLACE}), 0.0),
            (Instance("cvrp", "random", "no-demands", {"routing": NO_DEMANDS}), 0.0),
        ),
    )

    def test_a_reconnection_changes_length_and_loads_as_it_says(self, plain: Load) -> None:
        """Reversals within a route and tails between two, on rows with more and less slack."""
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "random_descent")
        functions = plain(implementation).__globals__
        between = 0
        for seed in range(40):
            instance, rng = random_instance(12, seed, slack=3.0 + seed % 4), np.random.default_rng(seed)
            state = State(random_sequence(instance, seed))
            environment = DOMAIN.environment(instance)
            env_data = {**environment, "prepared": preparing(environment)}
            row, _, _ = functions["open_proposals"](env_data, state, 6)
            flat, place, route_of, load, demands, capacity, dist, near = row
            for _ in range(30):
                node = int(rng.integers(1, 13))
                other = int(rng.choice(near[node]))
                before, routes = functions["row_length"](flat, dist), (route_of[node], route_of[other])
                change, is_made = functions["reconnect"](
                    node, other, flat, place, route_of, load, demands, capacity, dist, 40
                )
                assert change < 40
                assert is_made or change == 0
                assert functions["row_length"](flat, dist) == before + change
                sequence = functions["read_flat"](flat, 13).tolist()
                assert plain_length(instance.data["routing"], sequence) == before + change
                expected = np.zeros_like(load)
                functions["route_loads"](flat, demands, expected)
                np.testing.assert_array_equal(load, expected)
                np.testing.assert_array_equal(flat[place[flat]], flat)
                between += is_made and routes[0] != routes[1]
        assert between > 100

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_strong_searches_come_within_three_percent_of_the_reference(self, compiled: Load) -> None:
        """On a generated instance of 100 customers with a fixed amount of work."""
        ref = next(ref for ref in DOMAIN.generated() if ref.key == "random/n101-eccentric")
        assert ref.reference is not None
        instance = DOMAIN.load(ref)
        operators = {op.id: op for op in DOMAIN.operators()}
        for name, work in (
            ("ruin_and_recreate", 400_000),
            ("iterated_local_search", 60_000),
            ("hybrid_genetic_search", 60_000),
            ("simulated_annealing", 60_000),
            ("tabu_search", 60_000),
        ):
            operator = next(op for op in operators.values() if op.id == name)
            run = compiled(operator.implementations[0])
            state = self.specimen.random_state(instance, 1)
            length = self.specimen.outcome(instance, operator, run, state, 1, work).objective
            assert length is not None
            assert length <= 1.03 * ref.reference.value, name
