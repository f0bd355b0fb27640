"""Settings: from the file, from flags, in which order, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.runs.config import PRESETS, make_settings, parse_assignments, read_settings_file
from dga2d.runtime.runs.policies import create_policy


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_preset_of_the_paper_is_its_table_of_hyperparameters() -> None:
    settings = make_settings({}, {"preset": "paper"})
    assert settings.preset == "paper"
    assert settings.policy == "Qwen/Qwen2.5-0.5B-Instruct"
    assert (settings.pipelines, settings.batch_size, settings.max_length) == (4, 3, 10)
    assert (settings.credit_rate, settings.pool_limit, settings.temperature) == (0.1, 10, 0.7)
    assert (settings.learning_rate, settings.max_gradient_norm, settings.epsilon) == (1e-4, 1.0, 1e-8)
    assert (settings.failure_reward, settings.generations, settings.llm_calls) == (-5.0, 50, 500)
    assert (settings.validation_interval, settings.beam_width, settings.time_limit) == (5, 4, 90.0)
    assert (settings.checkpoint_margin, settings.validation_instances, settings.edits_per_generation) == (
        0.0, None, 1,
    )  # fmt: skip
    others = ("race_contenders", "incumbent_edits", "policy_focus", "policy_entropy", "policy_replay")
    assert not any(getattr(settings, name) for name in others)


def test_a_preset_gives_what_is_not_named() -> None:
    assert make_settings({}, {}) == make_settings({}, {"preset": "default"})
    assert make_settings({}, {"preset": "none"}) == RunSettings()
    given = make_settings({"preset": "paper", "policy": "uniform", "beam_width": 2}, {"beam_width": 1})
    assert (given.preset, given.policy, given.beam_width, given.checkpoint_margin) == (
        "paper", "uniform", 1, 0.0,
    )  # fmt: skip
    with pytest.raises(SettingsError, match=r"setting preset = 'papers'.*'default', 'paper' or 'none'"):
        make_settings({}, {"preset": "papers"})


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_known_settings_within_their_range(name: str) -> None:
    settings = make_settings({}, {"preset": name}).model_dump()
    assert {key: settings[key] for key in PRESETS[name]} == dict(PRESETS[name])


def test_a_file_is_read_key_by_key(tmp_path: Path) -> None:
    path = written(tmp_path, 'generations = 3\nwork = 200\npolicy = "uniform"  # no learning\n')
    assert read_settings_file(path) == {"generations": 3, "work": 200, "policy": "uniform"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("generatons = 3\n", "unknown setting 'generatons'; did you mean 'generations'"),
        ("Temperature = 1\n", "did you mean 'temperature'"),
        ("zzz = 3\n", "unknown setting 'zzz'; known settings: preset, library"),
        ("generations = \n", "line 1"),
        ("generations = 1\ngenerations = 2\n", "line 2"),
        ("[run]\ngenerations = 1\n", "unknown setting 'run'"),
    ],
)
def test_a_bad_file_is_named_with_its_fault(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SettingsError) as refused:
        read_settings_file(path)
    assert str(path) in str(refused.value)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"generations = \xff")
    with pytest.raises(SettingsError, match="byte 14 is not UTF-8"):
        read_settings_file(path)


def test_flags_win_over_the_file_and_the_file_over_the_defaults() -> None:
    settings = make_settings({"generations": 3, "pipelines": 2}, {"generations": 7, "pipelines": None})
    assert (settings.generations, settings.pipelines, settings.batch_size) == (7, 2, 3)


OUT_OF_RANGE = {
    **dict.fromkeys(("generations", "pipelines", "batch_size", "max_length", "operator_limit"), 0),
    **dict.fromkeys(("pool_limit", "edits_per_generation", "attempts_per_edit", "beam_width"), 0),
    **dict.fromkeys(("validation_instances", "test_instances", "work", "evaluators"), 0),
    **dict.fromkeys(("validation_interval", "llm_calls"), -1),
    **dict.fromkeys(("temperature", "credit_rate", "epsilon", "failure_reward", "learning_rate"), 0.0),
    **dict.fromkeys(("max_gradient_norm", "time_limit"), 0.0),
}


@pytest.mark.parametrize(("key", "value"), OUT_OF_RANGE.items())
def test_a_value_out_of_range_is_named(key: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=rf"^setting {key} = {value}: "):
        make_settings({}, {key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, 1) for key, value in OUT_OF_RANGE.items() if value == 0 and isinstance(value, int)),
        ("validation_interval", 0),
        ("llm_calls", 0),
        ("temperature", 1.0),
        ("credit_rate", 0.999),
        ("failure_reward", -0.001),
    ],
)
def test_the_value_at_the_boundary_is_accepted(key: str, value: Any) -> None:
    assert getattr(make_settings({}, {key: value}), key) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), "much", True, 1.01, [0.5]])
def test_only_finite_numbers_are_temperatures(value: Any) -> None:
    if value is True:  # pydantic reads it as 1.0, which is in range
        assert make_settings({}, {"temperature": value}).temperature == 1.0
        return
    with pytest.raises(SettingsError, match="temperature"):
        make_settings({}, {"temperature": value})


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("generations=3", {"generations": 3}),
        (" generations = 3 ", {"generations": 3}),
        ("policy=uniform", {"policy": "uniform"}),
        ('policy="uniform"', {"policy": "uniform"}),
        ("policy=Qwen/Qwen2.5-0.5B-Instruct", {"policy": "Qwen/Qwen2.5-0.5B-Instruct"}),
        ("policy=a=b", {"policy": "a=b"}),
        ("evolution=false", {"evolution": False}),
        ("epsilon=1e-6", {"epsilon": 1e-6}),
    ],
)
def test_an_assignment_is_toml_or_plain_text(item: str, expected: dict[str, Any]) -> None:
    assert parse_assignments([item]) == expected


@pytest.mark.parametrize("item", ["generations", "", "=3", "genrations=3"])
def test_an_assignment_without_a_known_key_is_refused(item: str) -> None:
    with pytest.raises(SettingsError, match=r"^--set"):
        parse_assignments([item])


@given(st.text())
def test_any_assignment_is_parsed_or_refused_in_one_line(text: str) -> None:
    key = text.partition("=")[0].strip()
    if "=" in text and key in RunSettings.model_fields:
        assert set(parse_assignments([text])) == {key}
        return
    with pytest.raises(SettingsError, match=r"^--set") as refused:
        parse_assignments([text])
    assert len(str(refused.value).splitlines()) == 1


@given(
    st.builds(
        RunSettings,
        generations=st.integers(1, 10**6),
        temperature=st.floats(0, 1, exclude_min=True),
        work=st.none() | st.integers(1, 10**9),
    )
)
def test_recorded_settings_are_read_back_equal(settings: RunSettings) -> None:
    assert make_settings(settings.model_dump(), {}) == settings


@pytest.mark.parametrize(
    ("given_values", "budget"),
    [({"time_limit": 2}, (2.0, "s")), ({"work": 5, "time_limit": 2}, (5.0, "work"))],
)
def test_work_takes_the_place_of_time(given_values: dict[str, Any], budget: tuple[float, str]) -> None:
    assert make_settings({}, given_values).budget == budget


def test_a_policy_on_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingsError, match="policy_device = 'cuda': torch finds no GPU"):
        create_policy(RunSettings(policy_device="cuda"), 1)
    assert create_policy(RunSettings(policy_device="cuda", policy="uniform"), 1).name == "uniform"
