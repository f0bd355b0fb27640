"""A user's mistake, or a machine's fault, is one clear line and an exit code; nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.system.conftest import SMALL, Command, Program, Tested, assert_has, cut

pytestmark = pytest.mark.timeout(400)

TSP = """NAME: x
TYPE: TSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 0 1
EOF
"""
FILES = {
    "word.tsp": TSP.replace("2 3 4", "2 3 x"),
    "cut.tsp": TSP[: TSP.index("3 0 1")],
    "other.tsp": TSP.replace("EUC_2D", "XRAY1"),
    "word.jsp": "2 2\n0 1 1 2\n0 1 one 2\n",
    "cut.jsp": "3 2\n0 1 1 2\n0 1 1 2\n",
    "short.jsp": "2 2\n0 1 1 2\n0 1 1\n",
    "misspelt.toml": "generatons = 3\n",
    "broken.toml": "generations = = 3\n",
    "words.toml": 'generations = "three"\n',
    "text.db": "hello, this is a letter and no database\n",
    "text.zip": "hello, this is a letter and no recording\n",
}
UNIFORM = ("--policy", "uniform")
RECORDED = f"recorded:{Path(__file__).parents[2] / 'examples/runs/rcpsp-basic-model.dga2d.zip'}"


@pytest.fixture
def workplace(program: Program) -> Program:
    for name, text in FILES.items():
        (program.folder / name).write_text(text, encoding="utf-8")
    (program.folder / "binary").write_bytes(bytes(range(256)))
    (program.folder / "empty").mkdir()
    with closing(sqlite3.connect(program.folder / "foreign.db")) as connection:
        connection.execute("CREATE TABLE letters (text)")
        connection.commit()
    return program


def store(name: str) -> tuple[str, str]:
    return "--store", f"sqlite+aiosqlite:///{name}"


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        # what does not exist
        (("evolve", "tps"), ("'tps'", "jsp", "tsp")),
        (("solve", "tsp", "E100.0", "--run", "r", "--method", "ils"), ("--run", "--method")),
        (("solve", "tsp", "E100.0", "--method", "cp-sat", "--work", "9"), ("--work", "--time-limit")),
        (("solve", "tsp", "E100.0", "--cores", "2"), ("--cores", "cp-sat")),
        (("solve", "tsp", "E100.0", "--method", "cp-sat", "--cores", "0"), ("--cores", "'0'")),
        (("solve", "tsp", "E100.0", "--work", "9", "--picture", "a.xyz"), ("a.xyz", "svg")),
        (("solve", "tps", "x"), ("'tps'", "jsp", "tsp")),
        (("domains", "tps"), ("'tps'", "jsp", "tsp")),
        (("domains", "new", "class"), ("'class'", "keyword")),
        (("data", "--data", "absent"), ("absent", "no such folder")),
        (("data", "check", "tsp", "--data", "absent"), ("absent", "no such folder")),
        (("solve", "tsp", "nosuch"), ("'nosuch'", "dga2d domains tsp")),
        (("solve", "tsp", "nosuch.tsp"), ("'nosuch.tsp'",)),
        (("evlove", "tsp"), ("'evlove'", "'evolve'")),
        (("evolve",), ("DOMAIN",)),
        # malformed and truncated instances
        (("solve", "tsp", "word.tsp"), ("word.tsp:7:", "'x'")),
        (("solve", "tsp", "cut.tsp"), ("cut.tsp:7:", "2 of 3 nodes")),
        (("solve", "tsp", "other.tsp"), ("other.tsp:4:", "XRAY1")),
        (("solve", "tsp", "binary"), ("binary",)),
        (("solve", "jsp", "word.jsp"), ("word.jsp:3:", "'one'")),
        (("solve", "jsp", "cut.jsp"), ("cut.jsp:3:", "expected 3 job lines, found 2")),
        (("solve", "jsp", "short.jsp"), ("short.jsp:3:", "got 3")),
        (("solve", "jsp", "binary"), ("binary",)),
        # stores
        (("runs", *store("text.db")), ("text.db", "not a database")),
        (("runs", *store("foreign.db")), ("foreign.db", "another program")),
        (("runs", *store("missing.db")), ("missing.db", "no file")),
        (("runs", *store("empty")), ("empty", "folder")),
        (("runs", "--store", "garbage"), ("garbage", "no file")),
        (("runs", "--store", "://garbage"), ("garbage", "not a database URL")),
        (("runs", "--store", "mysql://host/db"), ("mysql", "only sqlite+aiosqlite")),
        (("evolve", "tsp", *UNIFORM, *store("foreign.db")), ("foreign.db", "another program")),
        (("evolve", "tsp", *UNIFORM, *store("text.db")), ("text.db", "not a database")),
        (("evolve", "tsp", *UNIFORM, *store("nowhere/x.db")), ("no folder", "nowhere")),
        (("solve", "tsp", "uniform/E100.0", "--run", "r", *store("missing.db")), ("missing.db", "no file")),
        # settings
        (("evolve", "tsp", "--config", "misspelt.toml"), ("misspelt.toml", "'generatons'", "'generations'")),
        (("evolve", "tsp", "--config", "broken.toml"), ("broken.toml", "line 1")),
        (("evolve", "tsp", "--config", "words.toml"), ("generations", "'three'")),
        (("evolve", "tsp", "--config", "absent.toml"), ("absent.toml", "No such file")),
        (("evolve", "tsp", "--config", "empty"), ("empty", "directory")),
        (("evolve", "tsp", "--config", "binary"), ("binary", "not text")),
        (("evolve", "tsp", "--set", "genrations=3"), ("'genrations'", "'generations'")),
        (("evolve", "tsp", "--set", "generations"), ("generations", "key=value")),
        (("evolve", "tsp", "--set", "generations=0"), ("generations = 0", "1")),
        (("evolve", "tsp", "--generatons", "3"), ("--generatons", "--generations")),
        (("evolve", "tsp", "--generations", "0"), ("generations = 0",)),
        (("evolve", "tsp", "--generations", "many"), ("--generations", "'many'")),
        (("evolve", "tsp", "--pipelines", "0"), ("pipelines = 0",)),
        (("evolve", "tsp", "--temperature", "1.5"), ("temperature = 1.5",)),
        (("evolve", "tsp", "--temperature", "0"), ("temperature = 0",)),
        (("evolve", "tsp", "--temperature", "nan"), ("temperature", "finite")),
        (("evolve", "tsp", "--credit-rate", "1"), ("credit_rate = 1",)),
        (("evolve", "tsp", "--failure-reward", "0"), ("failure_reward = 0",)),
        (("evolve", "tsp", "--time-limit", "inf"), ("time_limit", "finite")),
        (("evolve", "tsp", "--work", "0"), ("work = 0",)),
        (("evolve", "tsp", "--llm-calls", "-1"), ("llm_calls = -1",)),
        (("evolve", "tsp", *UNIFORM, "--llm-calls", str(2**63)), ("llm_calls", "64 bits")),
        (
            ("evolve", "tsp", *UNIFORM, "--llm-money-usd", "1e300"),
            ("llm_money_usd", "less than or equal to 9000000000000"),
        ),
        (("evolve", "tsp", "--library", "fulll"), ("--library", "full", "basic")),
        (("evolve", "tsp", "--seed", "-1"), ("--seed", "-1")),
        (("evolve", "tsp", "--run-id", "../x"), ("'../x'",)),
        (("evolve", "tsp", "--run-id", ""), ("run id ''",)),
        (("evolve", "tsp", *UNIFORM, "--batch-size", "1000"), ("1000", "30 instances")),
        (("evolve", "tsp", *UNIFORM, "--llm", "nobody"), ("nobody", "offline", "openai:MODEL")),
        (("evolve", "tsp", *UNIFORM, "--llm", "openai:x"), ("openai:x", "OPENAI_API_KEY")),
        (("evolve", "tsp", *UNIFORM, "--llm", "recorded:x"), ("recorded:x",)),
        (("evolve", "tsp", *UNIFORM, "--llm", "recorded:text.zip"), ("text.zip", "damaged")),
        (("evolve", "tsp", *UNIFORM, "--llm", RECORDED), ("of domain rcpsp, not tsp",)),
        pytest.param(
            ("evolve", "tsp", "--policy", "empty"), ("empty", "config.json"), marks=pytest.mark.slow
        ),
        (("evolve", "tsp", "--data", "empty"), ("empty", "tsp")),
        (("evolve", "tsp", "--data", "absent"), ("absent", "tsp")),
        (("evolve", "tsp", "--data", "text.db"), ("--data", "text.db")),
        (("solve", "tsp", "uniform/E100.0", "--time-limit", "0"), ("time_limit = 0",)),
        (("solve", "tsp", "uniform/E100.0", "-o", "nowhere/x.tour"), ("nowhere/x.tour", "no directory")),
        (("solve", "tsp", "uniform/E100.0", "-o", "empty"), ("empty", "directory")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mistake_is_one_line_and_exit_code_2(
    workplace: Program, command: Command, arguments: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    files = sorted(workplace.folder.iterdir())
    outcome = command(*arguments, program=workplace)
    assert (outcome.code, outcome.out) == (2, "")
    assert all(fact in outcome.error for fact in facts), outcome.error
    assert sorted(workplace.folder.iterdir()) == files


def test_the_line_reaches_a_shell_without_a_traceback(workplace: Program) -> None:
    outcome = workplace.run("solve", "tsp", "cut.tsp")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cut.tsp:7:" in outcome.error


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (("show", "nosuch"), ("'nosuch'",)),
        (("replay", "nosuch"), ("'nosuch'",)),
        (("audit", "nosuch"), ("'nosuch'",)),
        (("resume", "nosuch"), ("'nosuch'",)),
        (("test", "nosuch"), ("'nosuch'",)),
        (("solve", "tsp", "uniform/E100.0", "--run", "nosuch"), ("'nosuch'",)),
        (("solve", "jsp", "ta/ta01", "--run", "done"), ("done", "not a jsp run")),
        (("resume", "done"), ("done", "complete", "--generations")),
        (("resume", "done", "--generations", "2"), ("done", "complete")),
        (("resume", "done", "--generations", "0"), ("generations = 0",)),
        (("resume", "done", "--set", "genrations=9"), ("'genrations'", "'generations'")),
        (("show", "done", "--at", "9999"), ("9999",)),
        (("show", "done", "--at", str(2**63)), ("--at",)),
        (("show", "done", "--at", "9", "--generation", "1"), ("--at", "--generation")),
        (("show", "done", "--generation", "9"), ("9",)),
        (("evolve", "tsp", *SMALL, "--run-id", "done"), ("'done'", "exists")),
        (("resume", "done", "--generations", "9", "--data", "empty"), ("empty", "tsp")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_a_run_cannot_do_is_one_line_and_leaves_it_alone(
    doomed: Program, command: Command, arguments: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    (doomed.folder / "empty").mkdir()
    before = doomed.rows("done")
    outcome = command(*arguments, program=doomed)
    assert (outcome.code, outcome.out) == (2, "")
    assert all(fact in outcome.error for fact in facts), outcome.error
    assert doomed.rows("done") == before


def test_other_instances_than_those_of_the_log_are_refused(doomed: Program, command: Command) -> None:
    group = doomed.folder / "data" / "tsp" / "small"
    group.mkdir(parents=True)
    table = {}
    for number in range(10):
        (group / f"i{number}.tsp").write_text(TSP)
        table[f"small/i{number}"] = {"best": 11, "optimal": True, "source": "by hand"}
    (group.parent / "bks.json").write_text(json.dumps(table))
    before = doomed.rows("done")
    for arguments in (("resume", "done", "--generations", "4"), ("test", "done")):
        outcome = command(*arguments, "--data", "data", program=doomed)
        assert outcome.code == 2
        assert "are not those the run began with" in outcome.error
    assert doomed.rows("done") == before


def test_a_run_of_another_program_version_is_resumed_only_on_request(
    doomed: Program, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = doomed.rows("done")[0].fields["code_version"]
    before = doomed.rows("done")
    monkeypatch.setattr("dga2d.runtime.runs.sessions.present_version", lambda domain: "9.9.9+0123456789ab")
    for arguments in (("resume", "done", "--generations", "4"), ("test", "done")):
        outcome = command(*arguments, program=doomed)
        assert outcome.code == 2
        for fact in (recorded, "9.9.9+0123456789ab", "--accept-code-change"):
            assert fact in outcome.error
    assert doomed.rows("done") == before


def test_a_test_waits_for_a_validation(doomed: Program, command: Command) -> None:
    rows = doomed.rows("done")
    cut(doomed, "done", next(row.seq for row in rows if row.type == "ValidationStarted"))
    before = doomed.rows("done")
    outcome = command("test", "done", program=doomed)
    assert outcome.code == 2
    assert "no validated algorithm" in outcome.error
    assert doomed.rows("done") == before


@pytest.mark.slow
def test_a_second_test_is_refused(tested: Tested, command: Command) -> None:
    program, view = tested.program, tested.view["test"]
    assert_has(view, {"attempt", "forced", "instances", "finished", "gap_percent"})
    assert (view["attempt"], view["forced"], view["finished"]) == (1, False, True)
    assert set(view["gap_percent"]) == {"evolved", "baseline"}
    before = program.rows("done")
    again = command("test", "done", program=program)
    assert again.code == 2
    assert "--force" in again.error
    assert program.rows("done") == before


@pytest.mark.slow
def test_a_second_test_may_be_forced(tested: Tested, command: Command, tmp_path: Path) -> None:
    program = tested.program.copy(tmp_path)
    forced = program.run("test", "done", "--force", "--quiet", "--no-report", "--json")
    assert (forced.code, forced.err) == (0, "")
    assert (forced.json["test"]["attempt"], forced.json["test"]["forced"]) == (2, True)
    started = [row.fields for row in program.rows("done") if row.type == "TestStarted"]
    assert [(s["attempt"], s["forced"]) for s in started] == [(1, False), (2, True)]
    assert command("replay", "done", "--verify", program=program).code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_store_without_permission_is_refused(doomed: Program, command: Command) -> None:
    doomed.database.chmod(0)
    outcome = command("runs", program=doomed)
    assert outcome.code == 2
    assert str(doomed.database) in outcome.error


def small_files() -> None:
    """Let no file grow beyond 600 KB, as on a disk that is almost full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))


@pytest.mark.slow
@pytest.mark.usefixtures("finished")  # its compiled operators are in the cache, whatever their size
def test_a_full_disk_ends_a_run_which_goes_on_when_there_is_space(program: Program, command: Command) -> None:
    full = program.run("evolve", "tsp", *SMALL, "--run-id", "run", preexec_fn=small_files)
    assert full.code == 2
    assert "nothing acknowledged is lost" in full.error
    before = program.rows("run")
    assert before
    outcome = program.run("resume", "run", "--quiet", "--no-report")
    assert (outcome.code, outcome.err) == (0, "")
    assert program.rows("run")[: len(before)] == before
    for check in ("replay", "audit"):
        assert command(check, "run", program=program).code == 0


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 320 KB; needs the right to mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=320k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.long
def test_a_really_full_disk_loses_nothing(tiny_disk: Path, tmp_path: Path) -> None:
    program = Program(tiny_disk)
    full = program.run("evolve", "tsp", *SMALL, "--run-id", "run")
    assert full.code == 2
    assert "full" in full.error
    roomy = program.copy(tmp_path / "roomy")
    before = roomy.rows("run")
    assert before
    outcome = roomy.run("resume", "run", "--quiet", "--no-report")
    assert (outcome.code, outcome.err) == (0, "")
    assert roomy.rows("run")[: len(before)] == before
    assert roomy.run("audit", "run").code == 0
