"""The method that the tutorial builds, as it stands there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.agents.methods.conftest import small

from dga2d.agents.methods import get_method
from dga2d.events.payloads import RoundPlanned

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "own-method.md"


@pytest.fixture
def method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "best_of_n.py").write_text("".join(code), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DGA2D_METHODS", "best_of_n:BestOfN")
    get_method.cache_clear()
    return "best_of_n:BestOfN"


def test_the_method_of_the_tutorial_runs_and_is_verified(method: str) -> None:
    simulation = small(method, 12)
    state, log = simulation.run()
    assert state.status == "completed"
    assert state.ledger.used == 12
    rounds = [event.payload for event in log.events if isinstance(event.payload, RoundPlanned)]
    asked = Counter(ask.variation for planned in rounds for ask in planned.asks)
    assert asked == {"seed": 1, "fresh": 10, "better": 2}
    assert len(state.search.population) == 3
    assert simulation.made_again(log) > 12


def test_the_tutorials_method_is_short() -> None:
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len("".join(code).splitlines()) <= 60
