"""What a log names outside of its run is used only if this user named it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.run_states import header

from dga2d.events import RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.runs.outside import (
    HARMLESS,
    note_chosen,
    outside_values,
    refuse_unchosen,
    without_unchosen,
)

RUN = RunId("theirs")
OUTSIDE: Mapping[str, Any] = {
    "bank": "/home/me/secrets.bank",
    "evaluators": "ray:evil.example:6379",
    "llm": "openai:m",
    "llm_base_url": "http://evil.example/v1",
    "llm_edges": "local:/home/me/weights",
    "llm_key_file": "/home/me/.ssh/id_rsa",
    "llm_others": ("anthropic:m",),
    "policy": "/home/me/weights",
    "sandbox": "off",
}
INSIDE = {"group", "method", "race_moves", "space", "test_group", "test_seconds", "work_rates"}
"""Methods have a rule of their own, and rates are those of a run of the same database."""


@pytest.fixture(autouse=True)
def user_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def run(**settings: Any) -> RunState:
    return RunState(started=header(), settings=RunSettings(**settings))


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_log_of_others_chooses_nothing_outside(name: str) -> None:
    state = run(**{name: OUTSIDE[name]})
    with pytest.raises(RunStateError, match=rf"run theirs: its log names {name} = .*--set {name}="):
        refuse_unchosen(RUN, state)
    refuse_unchosen(RUN, state, [name])  # it is named now
    note_chosen(RUN, state, state.settings)
    refuse_unchosen(RUN, state)
    with pytest.raises(RunStateError):
        refuse_unchosen(RunId("another"), state)
    more = "bank" if name == "sandbox" else "sandbox"
    with pytest.raises(RunStateError):
        refuse_unchosen(RUN, run(**{name: OUTSIDE[name], more: OUTSIDE[more]}))


def test_every_setting_that_is_a_text_reaches_out_or_is_known_not_to() -> None:
    """A new one has to be put on one side or the other."""
    texts = {name for name, field in RunSettings.model_fields.items() if "str" in str(field.annotation)}
    assert OUTSIDE.keys() == HARMLESS.keys()
    assert texts - HARMLESS.keys() == INSIDE


def test_what_stays_inside_is_asked_for_never() -> None:
    for settings in ({}, {"evaluators": 3, "sandbox": "strict", "policy": "uniform", "bank": "shipped"}):
        state = run(**settings)
        assert outside_values(state.settings) == {}
        refuse_unchosen(RUN, state)
        assert without_unchosen(RUN, state) == state.settings


def test_a_log_of_others_is_evaluated_here_in_the_sandbox() -> None:
    state = run(sandbox="off", evaluators="ray", llm="openai:m", work=7)
    safe = without_unchosen(RUN, state)
    assert (safe.sandbox, safe.evaluators, safe.work) == ("best-effort", None, 7)
    note_chosen(RUN, state, state.settings)
    assert without_unchosen(RUN, state) == state.settings


def test_where_nothing_can_be_kept_it_is_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "dga2d").write_text("a file in the folder's place")
    state = run(llm="openai:m")
    note_chosen(RUN, state, state.settings)
    with pytest.raises(RunStateError, match="nothing on this machine shows that you chose that"):
        refuse_unchosen(RUN, state)
