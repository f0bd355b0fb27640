"""Options, tables and exit codes of the command line."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from dga2d.replay.settings import RunSettings
from dga2d.runtime.cli.app import app
from dga2d.runtime.cli.options import complete_instances
from dga2d.runtime.cli.run_display import exit_code
from dga2d.runtime.errors import OutputFileError, SettingsError, UsageError
from dga2d.runtime.inspection.measures import percent
from dga2d.runtime.inspection.views import figure_text, gap_of
from dga2d.runtime.runs.code_version import PACKAGES, SUFFIXES, code_version
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.start import checked_run_id, new_run_id
from dga2d.runtime.terminal.output import check_writable, print_json, print_table, write_file


def configured(*arguments: str) -> dict[str, Any]:
    """Effective settings that ``dga2d config`` prints."""
    result = CliRunner().invoke(app, ["config", "--json", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    values: dict[str, Any] = json.loads(result.stdout)
    return values


COMPANIONS: dict[str, dict[str, Any]] = {"space": {"method": "eoh"}}
"""Settings without which no other value of a setting is allowed."""


def another_value(name: str) -> Any:
    """Some valid value of a setting that is not its default."""
    field = RunSettings.model_fields[name]
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    needed = {"gate_instances": 2, "prompt_edition": 5}  # by answers_per_edit, turns and others
    for value in (
        *choices,
        not field.default,
        9,
        2,
        1000,
        0.25,
        -9.0,
        "eoh",
        "x",
        "walk",
        "component",
        "0.5,10",
        ("x",),
    ):
        try:
            settings = RunSettings.model_validate(
                {**needed, **COMPANIONS.get(name, {}), name: value}, strict=True
            )
        except ValidationError:
            continue
        if getattr(settings, name) != field.default:
            return getattr(settings, name)
    raise AssertionError(f"no other value of {name} is known")


@pytest.mark.parametrize("name", RunSettings.model_fields)
def test_every_setting_is_a_flag(name: str) -> None:
    flag = "--" + name.replace("_", "-")
    value = another_value(name)
    if isinstance(value, bool):
        arguments = [flag if value else f"--no-{flag[2:]}"]
    else:
        arguments = [flag, *(value if isinstance(value, tuple) else [str(value)])]
    needed = COMPANIONS.get(name, {})
    also = [text for other, wanted in needed.items() for text in (f"--{other}", wanted)]
    expected = make_settings({}, {**needed, name: value}).model_dump(mode="json")
    assert configured(*arguments, *also) == expected
    assert configured("--set", f"{name}={json.dumps(value)}", *also)[name] == json.loads(json.dumps(value))


def test_flags_win_over_assignments_and_these_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("generations = 1\npipelines = 1\nwork = 1\n")
    given = ("--config", str(path), "--set", "generations=2", "--set", "pipelines=2", "--generations", "3")
    values = configured(*given)
    assert (values["generations"], values["pipelines"], values["work"]) == (3, 2, 1)


def test_the_printed_configuration_is_a_valid_file(tmp_path: Path) -> None:
    text = CliRunner().invoke(app, ["config", "--work", "5", "--policy", 'a "b"']).stdout
    assert tomllib.loads(text)["work"] == 5
    path = tmp_path / "settings.toml"
    path.write_text(text)
    assert configured("--config", str(path)) == configured("--work", "5", "--policy", 'a "b"')


@pytest.mark.parametrize("command", [None, *app.commands])
def test_every_command_has_a_help_text(command: str | None) -> None:
    result = CliRunner().invoke(app, ["--help"] if command is None else [command, "--help"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) > 5


@pytest.mark.parametrize("command", app.commands)
def test_every_command_prints_json(command: str) -> None:
    group = app.commands[command]
    is_bare = isinstance(group, click.Group) and not group.invoke_without_command
    ways = [[command, name] for name in group.commands] if is_bare else [[command]]  # type: ignore[attr-defined]
    assert all("--json" in CliRunner().invoke(app, [*way, "--help"]).stdout for way in ways)


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("completed", "all 3 generations done", 0),
        ("completed", "all 12 model calls spent", 3),
        ("completed", "the last 40 answers with code were all rejected, most often (39): trial: no", 3),
        ("paused", "interrupted by SIGINT", 3),
        ("failed", "StoreFullError", 3),
    ],
)
def test_exit_code_tells_a_whole_run_from_a_stopped_one(status: str, reason: str, code: int) -> None:
    assert exit_code({"status": status, "reason": reason}) == code


@pytest.mark.parametrize(("finished", "code"), [(True, 0), (False, 3)])
def test_a_test_that_was_stopped_is_no_success(finished: bool, code: int) -> None:
    view = {"status": "completed", "reason": "all 3 generations done", "test": {"finished": finished}}
    assert exit_code(view) == code


def test_a_run_that_scored_no_candidate_is_no_success() -> None:
    view = {"status": "completed", "reason": "all 3 generations done", "failed": "every candidate failed"}
    assert exit_code(view) == 3


def test_numbers_are_aligned_to_the_right_and_text_to_the_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n", "gap"), [("a", 5, 0.123456), ("long name", 12345, None)])
    assert capsys.readouterr().out == (
        "name           n     gap\na              5  0.1235\nlong name  12345       -\n"
    )


def test_a_table_keeps_to_the_width_of_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    print_table(("name", "text"), [("a", "long enough")])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(("name", "text"), [("a", "long enough")])
    assert capsys.readouterr().out == "name  text\na     long enough\nname  text\na     lon…\n"


@pytest.mark.parametrize("command", ["evolve", "resume"])
def test_help_begins_with_what_people_need_first_and_shows_every_option_once(command: str) -> None:
    text = CliRunner().invoke(app, [command, "--help"]).stdout
    first, rest = text.partition("What people need first:\n")[2].split("\n\n", 1)
    shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", first, re.MULTILINE)
    assert len(shown) == {"evolve": 10, "resume": 8}[command]
    assert {"--generations", "--time-limit", "--llm", "--max-hours", "--notify"} <= set(shown)
    everywhere = re.findall(r"^  (?:-\w, )?(--[\w-]+)", f"{first}\n{rest}", re.MULTILINE)
    flags = [option for p in app.commands[command].params for option in p.opts if option.startswith("--")]
    assert sorted(everywhere) == sorted([*flags, "--help"])
    assert "Language model:" in rest


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["evolv"], "'evolve'"),
        (["evolve", "tsp", "--generatoins", "3"], "'--generations'"),
        (["evolve", "jps"], "did you mean 'jsp'?"),
        (["evolve", "tsp", "--set", "pipelinse=3"], "did you mean 'pipelines'?"),
        (["solve", "tsp", "E100.00"], "did you mean 'E100.0'?"),
    ],
)
def test_a_misspelt_name_is_told_the_one_that_may_be_meant(
    arguments: list[str], hint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dga2d.runtime.cli import main

    monkeypatch.setattr("sys.argv", ["dga2d", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert hint in capsys.readouterr().err


def test_instances_of_the_domain_before_are_completed() -> None:
    solve = app.commands["solve"]
    context = click.Context(solve)
    context.params = {"domain": "tsp"}
    found = [item.value for item in complete_instances(context, solve.params[1], "uniform/E100.")]
    assert "uniform/E100.0" in found
    assert all(value.startswith("uniform/E100.") for value in found)
    context.params = {"domain": "nothing"}
    assert [(item.value, item.type) for item in complete_instances(context, solve.params[1], "a")] == [
        ("a", "file")
    ]


def test_an_empty_table_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("run", "status"), [])
    assert capsys.readouterr().out == "run  status\n"


def test_json_holds_no_values_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="JSON"):
        print_json({"gap": float("nan")})


@pytest.mark.parametrize(
    ("score", "gap"), [(-0.0234567, 2.3457), (0.0, 0.0), (0.01, -1.0), (-4.99, 499.0), (-5.0, None)]
)
def test_a_gap_is_the_negated_score_in_percent_but_for_failures(score: float, gap: float | None) -> None:
    assert gap_of(score, -5.0) == gap


def test_percentages_have_four_decimals() -> None:
    assert percent(1 / 3) == 33.3333
    assert percent(None) is None
    assert figure_text({"gap_percent": 33.3333}) == "33.33 %"
    assert figure_text({"gap_percent": None}) == "failed"


@pytest.mark.parametrize("name", ["a", "tsp-x7k2mp", "A.b_c-9", "9", "x" * 64])
def test_a_plain_name_is_a_run_id(name: str) -> None:
    assert checked_run_id(name) == name


@pytest.mark.parametrize("name", ["", "x" * 65, "a/b", "..", ".a", "-a", "a b", "a\n", "é"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="run id"):
        checked_run_id(name)


def test_fresh_run_ids_are_valid_and_differ() -> None:
    names = {new_run_id("jsp") for _ in range(100)}
    assert len(names) == 100
    assert all(checked_run_id(name).startswith("jsp-") for name in names)


def test_code_version_holds_the_digest_of_all_sources() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{12}", code_version())
    root = Path(__file__).parents[2]
    found = {
        path.suffix
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {".py", ".toml", ".md", ".json"} <= found
    assert {suffix for suffix in found if suffix in (".py", ".toml")} <= set(SUFFIXES)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_file(tmp_path / "a", "text")
    assert (tmp_path / "a").read_text() == "text"
    with pytest.raises(OutputFileError, match="cannot write"):
        write_file(tmp_path / "none" / "a", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputFileError, match="cannot write"):
        write_file(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]


def test_a_place_that_cannot_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "a")
    with pytest.raises(OutputFileError, match="is a directory"):
        check_writable(tmp_path)
    with pytest.raises(OutputFileError, match="no directory"):
        check_writable(tmp_path / "none" / "a")
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(OutputFileError, match="permission"):
            check_writable(tmp_path / "a")


def test_usage_errors_are_value_errors_of_one_line() -> None:
    error = SettingsError("wrong")
    assert isinstance(error, ValueError)
    assert str(error) == "wrong"


def test_hand_tuned_code_is_tested_where_there_is_a_test() -> None:
    result = CliRunner().invoke(app, ["evolve", "tsp", "--hand-tuned"])
    assert result.exit_code == 2
    assert "--hand-tuned is a part of the held-out test: give --test, too" in result.output
