"""The code a prompt shows as an example has to work itself."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Implementation, OperatorName, State
from dga2d.domains.execution import load_implementation
from dga2d.domains.source_rules import check_source


def test_the_example_improves_an_order_within_its_budget_and_repeats_itself(tmp_path: Path) -> None:
    source = (files("dga2d.agents.prompts") / "example@1.txt").read_text(encoding="utf-8")
    assert check_source(source) == ()
    run = load_implementation(Implementation(OperatorName("descend"), source, "example"), tmp_path)
    cost = np.random.default_rng(0).random((30, 30))

    def score(state: State) -> float:
        return float(cost[np.arange(30), state.sequence].sum())

    def outcome(seed: int) -> tuple[float, list[int], int]:
        budget = Budget(200_000, "work", 1)
        env = {"cost": cost, "rng": np.random.default_rng(seed), "budget": budget}
        state = run(env, State(np.arange(30, dtype=np.int32)), score)
        return score(state), state.sequence.tolist(), budget.work

    value, order, work = outcome(1)
    assert value < 0.5 * score(State(np.arange(30, dtype=np.int32)))
    assert sorted(order) == list(range(30))
    assert 0 < work <= 200_000
    assert outcome(1) == (value, order, work)
