"""Runs whose evaluations happen on the nodes of a real Ray cluster, with nodes killed at random."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.postgres_server import PostgresServer
from tests.system.conftest import SMALL, Program, digests

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]
LONGEST_S = 1500.0
LONGER = ("--generations", "12")


class Nodes:
    """A Ray cluster on this machine, whose head evaluates nothing."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.folder = os.environ["RAY_TMPDIR"]
        head = {"num_cpus": 0, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args={**head, **self.small()})
        self.workers: list[Any] = []
        self.kills = 0

    @staticmethod
    def small() -> dict[str, int]:
        return {"object_store_memory": 80 << 20}

    @property
    def address(self) -> str:
        return f"ray:{self.cluster.address}"

    def add(self) -> None:
        node = self.cluster.add_node(num_cpus=1, **self.small())  # type: ignore[arg-type]
        self.workers.append(node)

    def kill(self, node: Any) -> None:
        self.workers.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)
        self.kills += 1

    def close(self) -> None:
        self.cluster.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # not behind all else that this machine does
        patch.setenv("RAY_TMPDIR", tempfile.mkdtemp(prefix="ray-"))
        patch.setenv("RAY_raylet_start_wait_time_s", "300")
        made = Nodes()
        yield made
        made.close()


def torment(process: subprocess.Popen[str], program: Program, nodes: Nodes, kills: int) -> None:
    """Kill the nodes of a run at random moments, `kills` in all, and give it new ones each time."""
    chance = random.Random(kills)
    until = nodes.kills + kills
    seen = 0
    while process.poll() is None and nodes.kills < until:
        count = sum(row.type == "EvaluationRecorded" for row in program.rows("killed"))
        if count == seen:
            time.sleep(0.01)
            continue
        time.sleep(chance.uniform(0.0, 0.2))
        seen = count
        for node in nodes.workers[: until - nodes.kills]:
            nodes.kill(node)
        while len(nodes.workers) < 2:
            nodes.add()


def run_with_kills(program: Program, nodes: Nodes, kills: int, *arguments: str) -> None:
    while len(nodes.workers) < 2:
        nodes.add()
    before = nodes.kills
    command = ("evolve", "tsp", *SMALL, *arguments, "--run-id", "killed", "--evaluators", nodes.address)
    with program.started(*command) as process:
        torment(process, program, nodes, kills)
        out, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, (out, err)
    assert nodes.kills - before >= kills
    replayed = program.run("replay", "killed", "--verify", wait_s=LONGEST_S)
    assert replayed.code == 0, replayed


def test_a_run_whose_nodes_are_killed_decides_as_one_on_this_machine(
    program: Program, finished: Program, nodes: Nodes
) -> None:
    run_with_kills(program, nodes, 3)
    assert digests(program.rows("killed")) == digests(finished.rows("done"))
    names = [row.operation for row in program.rows("killed") if row.type == "EvaluationRecorded"]
    assert len(set(names)) == len(names)
    begun = program.rows("killed")[0].fields
    gone = program.run("test", "killed", "--evaluators", "ray:127.0.0.1:1", wait_s=LONGEST_S)
    assert gone.code == 2
    assert "no Ray cluster can be reached at 127.0.0.1:1" in gone.error
    assert program.run("test", "killed", "--evaluators", "1", wait_s=LONGEST_S).code == 0
    assert begun["sandbox"] == finished.rows("done")[0].fields["sandbox"]


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_thirty_kills_change_no_decision(program: Program, nodes: Nodes) -> None:
    outcome = program.run("evolve", "tsp", *SMALL, *LONGER, "--run-id", "alone", wait_s=LONGEST_S)
    assert outcome.code == 0, outcome
    run_with_kills(program, nodes, 30, *LONGER)
    assert digests(program.rows("killed")) == digests(program.rows("alone"))


def test_other_versions_of_ray_are_refused(program: Program, nodes: Nodes) -> None:
    other = "import ray; ray.__version__ = '1.0'; from dga2d.runtime.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", other, "evolve", "tsp", *SMALL, "--evaluators", nodes.address],
        env={**os.environ, "DGA2D_STORE": program.url},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert ended.returncode == 2, ended
    assert "runs other versions than this program" in ended.stderr
    assert "Traceback" not in ended.stderr


PLAN = """
title = "Off and on"
domains = ["tsp"]
seeds = [1, 2]

[settings]
preset = "none"
policy = "uniform"
library = "basic"
operator_limit = 4
generations = 2
work = 300
pipelines = 2
batch_size = 1
validation_instances = 1
test_instances = 1
llm_calls = 2

[arms.on]
"""


@pytest.mark.long
def test_a_study_on_nodes_goes_on_where_a_node_was_lost(program: Program, nodes: Nodes) -> None:
    while len(nodes.workers) < 2:
        nodes.add()
    (program.folder / "pair.toml").write_text(PLAN, encoding="utf-8")
    command = ("study", "pair.toml", "--on", nodes.address, "--json")
    with program.started(*command) as process:
        while process.poll() is None and not program.rows("pair.tsp.on.1"):
            time.sleep(0.01)
        for node in list(nodes.workers):
            nodes.kill(node)
        nodes.add()
        out, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, (out, err)
    assert "lost the machine of pair.tsp.on." in err
    assert [cell["status"] for cell in json.loads(out)["cells"]] == ["tested", "tested"]
    for run in ("pair.tsp.on.1", "pair.tsp.on.2"):
        names = [row.operation for row in program.rows(run) if row.type == "EvaluationRecorded"]
        assert len(set(names)) == len(names)


@pytest.mark.long
def test_runs_of_a_study_on_one_server_are_resumed_anywhere(
    program: Program, nodes: Nodes, postgres_server: PostgresServer
) -> None:
    """A study on nodes loses them and its own process; one of its runs goes on here, the rest on others."""
    server, url = postgres_server, postgres_server.new_url()
    shared = Program(program.folder, {**program.environment, "DGA2D_STORE": url})
    (program.folder / "pair.toml").write_text(PLAN, encoding="utf-8")
    while len(nodes.workers) < 2:
        nodes.add()

    def evaluations(run: str) -> list[str]:
        query = f"SELECT operation FROM events WHERE run_id = '{run}' AND type = 'EvaluationRecorded'"
        has_tables = server.sql("SELECT to_regclass('events') IS NOT NULL", url) == "t"
        return server.sql(query, url).splitlines() if has_tables else []

    command = ("study", "pair.toml", "--on", nodes.address, "--json")
    with shared.started(*command) as process:
        while process.poll() is None and not evaluations("pair.tsp.on.1"):
            time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        for node in list(nodes.workers):
            nodes.kill(node)
    deadline = time.monotonic() + LONGEST_S
    while (here := shared.run("resume", "pair.tsp.on.1", wait_s=LONGEST_S)).code != 0:
        assert "is being written" in here.err, here  # until its process has noticed that its node is gone
        assert time.monotonic() < deadline
        time.sleep(1.0)
    nodes.add()
    again = shared.run(*command, wait_s=LONGEST_S)
    assert again.code == 0, again
    assert [cell["status"] for cell in json.loads(again.out)["cells"]] == ["tested", "tested"]
    for run in ("pair.tsp.on.1", "pair.tsp.on.2"):
        names = evaluations(run)
        assert len(set(names)) == len(names) > 0
        assert shared.run("replay", run, "--verify", wait_s=LONGEST_S).code == 0
