"""Why a run has cost nothing, and that each word has one explanation."""

from __future__ import annotations

import pytest

from dga2d.replay.settings import RunSettings
from dga2d.runtime.report.render import WORDS, money_note


@pytest.mark.parametrize(
    ("changes", "calls", "cost_usd", "note"),
    [
        ({}, 0, 0.0, "no model was asked"),
        ({}, 3, 0.0, "built-in model, free"),
        ({"llm": "offline:library"}, 3, 0.0, "built-in model, free"),
        ({"llm": "local:/models/small"}, 3, 0.0, "model on this machine, free"),
        ({"llm": "recorded:night", "llm_edges": "offline"}, 3, 0.0, "recorded answers, paid for before"),
        ({"llm": "openai:some", "llm_others": ("offline",)}, 3, 0.0, "the settings name no prices"),
        ({"llm": "openai:some", "llm_price_answer": 0.1}, 3, 0.0, "nothing was charged"),
        ({"llm": "openai:some", "llm_price_answer": 0.1}, 3, 0.001, ""),
    ],
)
def test_where_nothing_was_paid_it_is_said_why(
    changes: dict[str, object], calls: int, cost_usd: float, note: str
) -> None:
    settings = RunSettings.model_validate(changes)
    assert money_note(settings.model_dump(mode="json"), calls, cost_usd) == note


def test_each_word_has_one_explanation_that_is_a_sentence() -> None:
    assert len({word.word for word in WORDS.values()}) == len(WORDS)
    assert all(word.means[0].isupper() and word.means.endswith(".") for word in WORDS.values())
