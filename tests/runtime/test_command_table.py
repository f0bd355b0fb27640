"""Commands are found by name without the others being imported; shells can complete them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from tests.fakes.conversation import started

from dga2d.runtime.cli.app import PLACES, CommandTable, app

HEAVY = ("numpy", "numba", "scipy", "networkx", "torch", "transformers", "tokenizers", "httpx", "starlette")
"""What only running, solving or serving needs."""


def imported_by(*arguments: str, folder: Path) -> set[str]:
    """Modules in memory after a command, and after ``dga2d`` alone for no arguments."""
    program = (
        "import sys\n"
        "from dga2d.runtime.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "sys.stderr.write('\\n'.join(sys.modules))\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(outcome.stderr.split("\n"))


def test_every_place_holds_the_command_of_that_name() -> None:
    assert {name: command.name for name, command in CommandTable().items()} == {name: name for name in PLACES}


def test_an_unknown_command_is_no_command() -> None:
    table = CommandTable()
    assert "evolve" in table
    assert "evolv" not in table
    assert table.get("evolv") is None


def test_a_command_can_be_added_and_taken_away() -> None:
    table, extra = CommandTable(), click.Command("extra")
    table["extra"] = extra
    assert (table["extra"], len(table)) == (extra, len(PLACES) + 1)
    del table["extra"]
    assert "extra" not in table


@pytest.fixture
async def logged(tmp_path: Path) -> Path:
    """A folder whose default database holds the runs ``tsp-one`` and ``jsp-two``."""
    from dga2d.events import RunId
    from dga2d.store import open_store

    async with open_store(f"sqlite+aiosqlite:///{tmp_path / 'dga2d.db'}") as store:
        for name in ("tsp-one", "jsp-two"):
            async with store.write(RunId(name), create=True):
                pass
    return tmp_path


def test_listing_runs_imports_nothing_that_computes(logged: Path) -> None:
    modules = imported_by("runs", folder=logged)
    assert "dga2d.store._store" in modules
    assert modules & set(HEAVY) == set()
    others = {f"dga2d.runtime.cli.{place.partition(':')[0]}" for place in PLACES.values()}
    assert modules & others == {"dga2d.runtime.cli.inspect_commands"}
    assert not [name for name in modules if name.startswith(("dga2d.agents", "rich", "structlog"))]


def test_the_version_needs_neither_database_nor_models(tmp_path: Path) -> None:
    modules = imported_by("--version", folder=tmp_path)
    assert modules & {*HEAVY, "sqlalchemy", "asyncio", "anyio"} == set()


def offered(*words: str) -> set[str]:
    """What Bash offers for the last of `words`."""
    *before, incomplete = words
    complete = BashComplete(app, {}, "dga2d", "_DGA2D_COMPLETE")
    return {item.value for item in complete.get_completions(list(before), incomplete)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_produced(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BashComplete, "_check_version", staticmethod(lambda: None))
    result = CliRunner().invoke(app, [], prog_name="dga2d", env={"_DGA2D_COMPLETE": f"{shell}_source"})
    assert result.exit_code == 0
    assert "_dga2d_completion" in result.output
    assert f"_DGA2D_COMPLETE={shell}_complete" in result.output


def test_domains_are_completed() -> None:
    assert {"jsp"} <= offered("evolve", "j") <= {name for name in offered("evolve", "") if name[0] == "j"}
    assert {"jsp", "tsp"} <= offered("evolve", "")


@pytest.mark.parametrize(
    "words", [("solve",), ("prompt",), ("domains",), ("domains", "check"), ("data", "check")]
)
def test_domains_are_completed_wherever_one_is_named(words: tuple[str, ...]) -> None:
    assert {"jsp", "tsp"} <= offered(*words, "")
    assert "jsp" in offered(*words, "j")
    assert "tsp" not in offered(*words, "j")


def test_completing_domains_offers_the_group_s_own_commands_too() -> None:
    assert offered("domains", "ch") == {"check"}
    assert {"new", "check"} <= offered("domains", "")
    assert "show" not in offered("domains", "")
    assert offered("domains", "--js") == {"--json"}


@pytest.fixture
async def begun(logged: Path) -> Path:
    """The same database with a third run, which has begun, of the domain ``imaginary``."""
    from dga2d.events import RunId
    from dga2d.replay.settings import RunSettings
    from dga2d.store import open_store

    async with (
        open_store(f"sqlite+aiosqlite:///{logged / 'dga2d.db'}") as store,
        store.write(RunId("imaginary-three"), create=True) as writer,
    ):
        await writer.append([started(RunSettings())])
    return logged


def test_solve_completes_the_runs_of_its_domain(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(begun)
    monkeypatch.delenv("DGA2D_STORE", raising=False)
    assert offered("solve", "imaginary", "--run", "") == {"imaginary-three"}
    assert offered("solve", "imaginary", "g/a", "--run", "im") == {"imaginary-three"}
    assert offered("solve", "tsp", "--run", "") == set()
    assert offered("solve", "--run", "") == {"tsp-one", "jsp-two", "imaginary-three"}
    assert offered("show", "") == {"tsp-one", "jsp-two", "imaginary-three"}


@pytest.mark.parametrize("command", ["resume", "fork", "test", "show", "replay", "audit", "log", "report"])
def test_runs_are_completed(command: str, logged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logged)
    monkeypatch.delenv("DGA2D_STORE", raising=False)
    assert offered(command, "") == {"tsp-one", "jsp-two"}
    assert offered(command, "ts") == {"tsp-one"}


def test_the_database_of_the_command_line_or_environment_is_asked(
    logged: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.delenv("DGA2D_STORE", raising=False)
    assert offered("show", "") == set()
    url = f"sqlite+aiosqlite:///{logged / 'dga2d.db'}"
    assert offered("show", "--store", url, "j") == {"jsp-two"}
    monkeypatch.setenv("DGA2D_STORE", url)
    assert offered("show", "t") == {"tsp-one"}
    monkeypatch.setenv("DGA2D_STORE", str(logged / "dga2d.db"))
    assert offered("show", "t") == {"tsp-one"}


def test_a_store_is_named_by_its_url_or_by_its_path(
    begun: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun / "dga2d.db"

    def listed(*arguments: str) -> str:
        outcome = CliRunner().invoke(app, ["runs", "--json", *arguments], catch_exceptions=False)
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    rows = listed("--store", f"sqlite+aiosqlite:///{path}")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "imaginary-three" in rows
    assert listed("--store", str(path)) == rows
    monkeypatch.chdir(begun)
    assert listed("--store", path.name) == rows
    monkeypatch.setenv("DGA2D_STORE", path.name)
    assert listed() == rows
    monkeypatch.setenv("HOME", str(begun))
    assert listed("--store", f"~/{path.name}") == rows


def test_a_damaged_database_offers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dga2d.db").write_bytes(b"no database at all" * 100)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DGA2D_STORE", raising=False)
    assert offered("show", "") == set()
