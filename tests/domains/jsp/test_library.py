"""The job-shop library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.jsp.specimens import random_instance, random_sequence
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Specimen, shops

from dga2d.domains.budget import Budget
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

    @pytest.mark.parametrize("size", [(5, 3), (8, 8), (12, 6), (3, 12)])
    def test_moves_in_a_window_know_its_longest_path(self, size: tuple[int, int], plain: Load) -> None:
        """Of the whole schedule computed anew, the longest path through an operation of the window."""
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "window_tabu")
        functions = plain(implementation).__globals__
        instance = random_instance(*size, 3)
        environment = DOMAIN.environment(instance)
        environment |= {"rng": np.random.default_rng(1), "budget": Budget(1000.0, "work", 1)}
        shop, other = functions["Shop"](environment), functions["Shop"](environment)
        makespan = shop.load(shop.operations(random_sequence(instance, 5)))
        shop.load(functions["in_time"](shop))
        order, place = shop.topology
        a, b = order.size // 4, 3 * order.size // 4
        exits, best = np.zeros((2, max(size)), np.int32), order.copy()
        functions["find_exits"](a, b, size[1], order, place, shop.problem[2], shop.problem[4], exits)
        outside = [*order[:a], *order[b:]]
        status = np.array([0, makespan, makespan])
        seen = []
        for _ in range(60):
            if not functions["window_moves"](
                a, b, 1, shop.tenure, shop.problem, shop.topology, shop.links, shop.space, exits, shop.until,
                status, best, shop.rng,
            ):  # fmt: skip
                break
            assert [*order[:a], *order[b:]] == outside
            whole = other.load(order)
            _, _, e, t = other.links
            inside = order[a:b]
            longest = int((e[inside] + t[inside] - shop.problem[4][inside]).max())
            assert status[2] == longest <= whole
            for kept, computed in zip(shop.links, other.links, strict=True):
                np.testing.assert_array_equal(kept[inside], computed[inside])
            seen.append(longest)
        assert seen
        assert status[1] == min(makespan, *seen)
        assert other.load(best) <= makespan

    def test_windows_make_a_schedule_that_is_no_longer(self, plain: Load) -> None:
        operator, implementation = next(case for case in self.specimen.cases if case[0].id == "window_tabu")
        instance = random_instance(10, 10, 2)
        start = State(random_sequence(instance, 1))
        before = DOMAIN.verify(instance, start).objective
        result = self.specimen.run(instance, operator, plain(implementation), start, 0, work=3000)
        assert before is not None
        assert result.score < 0.8 * before
