"""The commands about logs, as a user calls them, on a run of made-up agents."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.agents.program import Program, keep_snapshot, write_runs

from dga2d.events import RunId
from dga2d.replay.snapshots import SnapshotSeal
from dga2d.runtime.inspection.log_reading import EventFilter, list_events
from dga2d.runtime.runs.code_version import code_version
from dga2d.runtime.runs.states import snapshot_seal
from dga2d.store import open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

ALONE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        heavy = ("torch", "transformers", "numba", "httpx", "dga2d.domains", "safetensors", "tokenizers")
        if name in heavy or name.startswith("dga2d.domains."):
            raise ImportError(f"{name} is not needed to replay")
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError("no network is needed to replay")
sys.meta_path.insert(0, Refuse())
sys.addaudithook(hook)
from dga2d.runtime.inspection.runs import read_state_view, replay_run
from dga2d.runtime.inspection.audit import audit_run
import anyio
report = anyio.run(replay_run, sys.argv[1], "whole", False)
anyio.run(read_state_view, sys.argv[1], "whole", 9, None)
anyio.run(audit_run, sys.argv[1], "whole")
print(report["difference"], report["events"])
"""


@pytest.fixture(scope="module")
def original(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "log.db"
    anyio.run(write_runs, f"sqlite+aiosqlite:///{path}", simulation)
    return path


@pytest.fixture
def program(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Program:
    shutil.copy(original, tmp_path / "log.db")
    program = Program(tmp_path, capsys, monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DGA2D_STORE", program.url)
    return program


async def test_following_shows_old_and_new_events_once_each_and_in_order(
    simulation: Simulation, tmp_path: Path
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'log.db'}"
    small = simulation.changed(generations=2, pipelines=2, batch_size=1)
    run_id, shown, done = small.run_id, list[dict[str, Any]](), anyio.Event()

    def show(view: dict[str, Any]) -> None:
        shown.append(view)
        if view["type"] == "RunCompleted":
            done.set()

    wanted = EventFilter(types=("GenerationCompleted", "PipelineSampled", "RunCompleted"))
    async with open_store(url) as store:
        async with store.write(run_id, create=True, quotas={"llm-call": 50}) as writer:
            await small.process(writer, store, [], stop_after=12)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(list_events, url, run_id, wanted, True, show)
            async with store.write(run_id) as writer:
                events = [event async for event in store.read(run_id)]
                await small.process(writer, store, events)
            with anyio.fail_after(15):
                await done.wait()
            tasks.cancel_scope.cancel()
        expected = [event async for event in store.read(run_id) if wanted.accepts(event)]
    assert [view["seq"] for view in shown] == [event.seq for event in expected]
    assert shown[0]["seq"] <= 12 < shown[-1]["seq"]


def test_log_lists_what_is_asked_for(program: Program) -> None:
    code, out, err = program("log", "whole")
    assert (code, err) == (0, "")
    assert "RunStarted" in out.splitlines()[0]
    assert "RunCompleted" in out.splitlines()[-1]
    assert max(map(len, out.splitlines())) <= 160
    assert "objective " in out
    assert "failure null" not in out
    code, out, _ = program("log", "whole", "--agent", "validator", "--generation", "2", "--json")
    views = [json.loads(line) for line in out.splitlines()]
    assert {(view["agent"], view["generation"]) for view in views} == {("validator", 2)}
    assert set(views[0]) == {
        *(
            "seq",
            "recorded_at",
            "generation",
            "agent",
            "type",
            "version",
            "caused_by",
            "run",
            "hash",
            "payload",
        )
    }
    code, out, _ = program("log", "whole", "--type", "PipelineSampled", "--type", "RunStarted", "--json")
    assert [json.loads(line)["type"] for line in out.splitlines()] == ["RunStarted", *["PipelineSampled"] * 4]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["log", "none"], "there is no run 'none'"),
        (["log", "whole", "--type", "EdgeKept"], "did you mean EdgesKept?"),
        (["log", "whole", "--agent", "nobody"], "there are conductor"),
        (["diff", "whole"], "expected one or two points"),
        (["diff", "whole", "1", "x"], "'x' is not a number"),
        (["diff", "whole", "1", "9999"], "there is no event 9999"),
        (["diff", "whole", "1", "9", "--generations"], "closed 2 generations, not 9"),
        (["diff", "whole", "none"], "there is no run 'none'"),
        (["export", "none"], "there is no run 'none'"),
        (["export", "whole", "-o", "none/x.zip"], "no directory none"),
        (["import", "none.zip"], "there is no such file"),
        (["fork", "whole", "--generation", "7"], "closed 2 generations, not 7"),
        (["fork", "whole", "--generation", "1", "--set", "llm_calls=9"], "a new run is needed"),
        (["fork", "whole", "--generation", "1", "--set", 'kernels="evolved"'], "began with kernels = 'off'"),
        (["fork", "whole", "--generation", "1", "--set", "llm_cals=9"], "did you mean 'llm_calls'"),
        (["fork", "whole", "--generation", "2"], "would be over at once (all 2 generations done)"),
    ],
)
def test_what_cannot_be_done_is_one_line(program: Program, arguments: list[str], reason: str) -> None:
    code, out, err = program(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert reason in err


def test_a_fork_can_be_made_without_running_it_and_is_shown_with_its_parent(program: Program) -> None:
    code, _, err = program(
        *("fork", "whole", "--generation", "1", "--set", "generations=5", "--run-id", "new"),
        *("--no-run", "--accept-code-change"),
    )
    assert (code, err) == (0, ""), err
    rows = {row["run"]: row for row in program.json("runs")}
    assert (rows["new"]["parent"], rows["new"]["status"]) == ("whole", "paused")
    assert rows["new"]["parent_seq"] == rows["fork"]["parent_seq"] == rows["new"]["events"] - 2
    shown = program.json("show", "new")
    assert shown["forked_from"] == {"run": "whole", "seq": rows["new"]["parent_seq"]}
    assert shown["settings"]["generations"] == 5
    assert program.json("replay", "new")["difference"] is None


def test_diff_tells_what_changed(program: Program) -> None:
    report = program.json("diff", "whole", "0", "1", "--generations")
    assert report["changes"]["progress"]["generations"] == [0, 1]
    assert report["changes"]["credits"]
    assert program.json("diff", "whole", "1", "40")["changes"]["budget"]["calls"][1] > 0
    runs = program.json("diff", "whole", "fork")
    assert runs["first_generation_that_differs"] is None
    assert set(runs["changes"]) == {"progress"}
    assert "the states are the same" in program("diff", "whole", "fork")[1]
    assert program.json("diff", "whole", "1")["from"]["seq"] == 1


def test_a_run_goes_through_a_file_into_another_database(program: Program, tmp_path: Path) -> None:
    written = program.json("export", "fork")
    assert Path(written["file"]).is_file()
    other = ["--store", f"sqlite+aiosqlite:///{tmp_path / 'other.db'}"]
    assert program.json("import", written["file"], *other) == written
    here, there = program.json("show", "fork"), program.json("show", "fork", *other)
    assert here == there
    [database, *_] = program.json("verify-store", *other)
    assert (database["part"], database["difference"]) == ("database", None)


def test_gc_removes_what_nobody_names_and_nothing_else(program: Program) -> None:
    async def put() -> None:
        async with open_store(program.url) as store:
            await store.put_blobs([b"lost", b"lost too"])

    anyio.run(put)
    assert program.json("gc", "--dry-run") == {"blobs": 2, "bytes": 12, "deleted": False}
    assert program.json("gc") == {"blobs": 2, "bytes": 12, "deleted": True}
    assert program.json("gc") == {"blobs": 0, "bytes": 0, "deleted": True}
    assert [row["difference"] for row in program.json("verify-store")] == [None, None, None]


def test_gc_waits_until_nobody_writes(program: Program) -> None:
    async def hold() -> tuple[int, str, str]:
        async with open_store(program.url) as store, store.write(RunId("whole")):
            return await anyio.to_thread.run_sync(lambda: program("gc"))

    code, _, err = anyio.run(hold)
    assert (code, "is being written" in err) == (2, True)


@pytest.mark.parametrize(
    ("statement", "part", "reason"),
    [
        ("UPDATE events SET operation = NULL WHERE seq = 3", "database", "operation None stands for"),
        ("UPDATE events SET caused_by = 0 WHERE seq = 9", "whole", "event 9"),
        ("DELETE FROM blobs WHERE size = (SELECT min(size) FROM blobs)", "whole", "is missing"),
        (
            "UPDATE blobs SET data = x'00'",
            "database",
            "digest",
        ),
        ("DELETE FROM reservations WHERE number = 1", "database", "reservations: llm-call 1 is missing"),
        ("DROP TRIGGER settlements_refuse_delete", "database", "settlements_refuse_delete: is missing"),
        ("DELETE FROM lineages", "fork", "event 1"),
    ],
)
def test_verify_store_finds_what_is_wrong(program: Program, statement: str, part: str, reason: str) -> None:
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        if "DROP" not in statement:
            connection.execute(statement)
        for name, sql in triggers:
            if name not in statement:
                connection.execute(sql)
    code, out, _ = program("verify-store", "--json")
    assert code == 1
    [row] = [row for row in json.loads(out) if row["part"] == part]
    assert reason in row["difference"]


def test_a_sealed_snapshot_is_counted_and_one_of_another_state_is_found(program: Program) -> None:
    seal = snapshot_seal()
    assert seal is not None
    keep_snapshot(program.url, seal)
    rows = program.json("verify-store")
    assert [row["difference"] for row in rows] == [None, None, None]
    [row] = [row for row in rows if row["part"] == "whole"]
    assert (row["snapshots"], row["snapshots_ignored"]) == (1, 0)
    seq = keep_snapshot(program.url, seal, completed=7)
    code, out, _ = program("verify-store", "--json")
    assert code == 1
    assert [row["difference"] for row in json.loads(out) if row["part"] == "fork"] == [None]
    [row] = [row for row in json.loads(out) if row["part"] == "whole"]
    assert f"the snapshot after event {seq} is not the state there" in row["difference"]


def test_a_forged_snapshot_moves_no_command_and_is_said(program: Program) -> None:
    """Who writes the database may write a snapshot of a better run; `show` printed it once."""
    before = program.json("show", "whole")
    forger = SnapshotSeal(bytes(32), code_version())
    seq = keep_snapshot(program.url, forger, completed=99, best=None)
    place = f"the snapshot after event {seq} is not the state there"
    code, out, err = program("show", "whole", "--json")
    assert (code, json.loads(out)) == (0, before)
    assert "a snapshot is ignored" in err
    assert f"event_seq={seq}" in err
    code, out, err = program("replay", "whole")
    assert (code, err) == (0, "")
    code, out, _ = program("audit", "whole", "--json")
    report = json.loads(out)
    assert (code, report["difference"]) == (1, None)
    assert report["snapshots"] == {"kept": 1, "sealed": 0, "ignored": 1, "wrong": [place]}
    code, _, err = program("audit", "whole")
    assert (code, f"error: {place}" in err) == (1, True)


def test_replaying_needs_no_weights_no_network_and_no_instances(program: Program) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE, program.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("None ")
