"""Why a solution has no picture is said as it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dga2d.events import InstanceKey
from dga2d.runtime.report.solution_pictures import NoPictureError, solution_figure


@pytest.mark.parametrize(
    ("missing", "words"),
    [("matplotlib", "^no matplotlib: pip install"), ("shapely", "needs a module .* 'shapely'")],
)
def test_only_a_missing_matplotlib_is_called_so(
    monkeypatch: pytest.MonkeyPatch, missing: str, words: str
) -> None:
    def fail(*_: object) -> None:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    problem: Any = SimpleNamespace(domain=None, instance=lambda key: None)
    monkeypatch.setattr("dga2d.runtime.runs.problem.Problem.open", lambda *_, **__: problem)
    monkeypatch.setattr("dga2d.domains.core.optional_parts.draw_picture", fail)
    monkeypatch.setattr("dga2d.runtime.runs.solving.decode_solution", lambda data: None)
    header: Any = SimpleNamespace(domain="toy", data_dir=None, settings={"suite": "any"})
    with pytest.raises(NoPictureError, match=words):
        solution_figure(header, InstanceKey("toy/1"), b"")
