"""The evaluation worker of ``solve`` is launched before the command is loaded, and never left behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dga2d.runtime.cli import launching
from dga2d.runtime.cli.launching import dismiss_ahead, launch_ahead, sandbox_wanted, take_worker
from dga2d.runtime.evaluation.launch import Zygote, launch


@pytest.fixture
def zygotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Zygote]]:
    """Those that were launched, whose cache is a new folder."""
    made: list[Zygote] = []

    def noted(*arguments: object) -> Zygote:
        made.append(launch(*arguments))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setenv("DGA2D_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(launching, "launch", noted)
    yield made
    dismiss_ahead()


@pytest.mark.parametrize(
    ("arguments", "sandbox"),
    [
        ("solve jsp ta/ta01", "best-effort"),
        ("solve jsp ta/ta01 --sandbox strict", "strict"),
        ("solve jsp ta/ta01 --sandbox=off --method ils", "off"),
        ("solve jsp ta/ta01 --run jsp-k3v9q2", "best-effort"),
        ("solve jsp ta/ta01 --method cp-sat", None),
        ("solve tsp E100.0 --method=pomo", None),
        ("solve jsp ta/ta01 --sandbox cardboard", None),
        ("solve jsp ta/ta01 --sandbox", None),
        ("solve --help", None),
        ("evolve jsp", None),
        ("", None),
    ],
)
def test_a_worker_is_wanted_where_one_will_solve(arguments: str, sandbox: str | None) -> None:
    assert sandbox_wanted(arguments.split()) == sandbox


def test_the_command_takes_the_worker_that_was_launched_ahead(zygotes: list[Zygote]) -> None:
    launch_ahead(["solve", "jsp", "ta/ta01"])
    with take_worker("best-effort") as taken:
        assert [taken] == zygotes
        assert zygotes[0].poll() is None
    assert zygotes[0].poll() is not None


def test_a_worker_of_another_sandbox_is_not_taken(zygotes: list[Zygote]) -> None:
    launch_ahead(["solve", "jsp", "ta/ta01", "--sandbox", "off"])
    with take_worker("best-effort") as taken:
        assert taken is zygotes[1]
    dismiss_ahead()
    assert [zygote.poll() is not None for zygote in zygotes] == [True, True]


def test_no_worker_is_handed_over_where_none_is_wanted(zygotes: list[Zygote]) -> None:
    with take_worker(None) as taken:
        assert taken is None
    assert zygotes == []


def test_a_command_that_ends_early_leaves_no_worker(
    zygotes: list[Zygote], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dga2d.runtime.cli import main

    monkeypatch.setattr("sys.argv", ["dga2d", "solve", "jsp", "ta/ta01", "--cores", "2"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "--cores" in capsys.readouterr().err
    assert [zygote.poll() is not None for zygote in zygotes] == [True]


def test_the_worker_is_launched_before_what_takes_long_to_load() -> None:
    program = (
        "import sys\n"
        "from dga2d.runtime.cli import launching\n"
        "assert not {'click', 'pydantic', 'numpy', 'anyio', 'dga2d.events'} & sys.modules.keys()\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert outcome.returncode == 0, outcome.stderr
