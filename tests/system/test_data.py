"""``dga2d data``: what instances there are, and which cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.system.conftest import SMALL, Command, Program

from dga2d.events import instance_and_copy

CITIES = (
    "TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 9\n3 9 0\nEOF\n"
)


def test_data_lists_generated_instances_with_the_sizes_of_their_splits(command: Any) -> None:
    rows = {(row["domain"], row["group"]): row for row in command("data", "--json").json}
    assert rows["jsp", "ta"] == {
        "domain": "jsp",
        "group": "ta",
        "instances": 80,
        "train": 48,
        "validation": 16,
        "test": 16,
        "references": {"best_known": 12, "optimal": 68},
        "only_named": False,
    }
    assert rows["tsp", "uniform"]["references"] == {"computed": rows["tsp", "uniform"]["instances"]}


def test_data_check_names_file_and_line_of_every_fault(program: Any, command: Any) -> None:
    folder = program.folder / "data" / "tsp" / "own"
    folder.mkdir(parents=True)
    (folder / "good.tsp").write_text(CITIES, encoding="utf-8")
    (folder / "short.tsp").write_text(CITIES.replace("3 9 0\n", ""), encoding="utf-8")
    (folder / "word.tsp").write_text(CITIES.replace("2 0 9", "2 zero 9"), encoding="utf-8")
    outcome = command("data", "check", "tsp", "--data", "data", "--json", program=program)
    assert outcome.code == 1
    (row,) = outcome.json
    assert (row["instances"], [fault["instance"] for fault in row["faults"]]) == (
        3,
        ["own/short", "own/word"],
    )
    for fault, line in zip(row["faults"], (6, 6), strict=True):
        assert f"{fault['instance'].split('/')[1]}.tsp:{line}: " in fault["error"]
    (folder / "short.tsp").unlink()
    (folder / "word.tsp").unlink()
    checked = command("data", "check", "tsp", "--data", "data", program=program)
    assert checked.out == "tsp: 1 instances, 0 faults\n"


def test_data_check_refuses_an_unknown_domain(command: Any) -> None:
    outcome = command("data", "check", "knitting")
    assert outcome.code == 2
    assert "knitting" in outcome.error


def write_cities(group: Path, numbers: range) -> None:
    """Write files of twelve cities each."""
    group.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        cities = "".join(f"{k + 1} {k * 37 % (50 + number)} {k * 53 % (60 + number)}\n" for k in range(12))
        head = "TYPE : TSP\nDIMENSION : 12\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
        (group / f"i{number:02}.tsp").write_text(f"{head}{cities}EOF\n", encoding="utf-8")


@pytest.mark.slow
def test_a_run_keeps_its_instances_where_files_are_added(program: Program, command: Command) -> None:
    group = program.folder / "data" / "tsp" / "own"
    write_cities(group, range(10))
    (group.parent / "bks.json").write_text("{}", encoding="utf-8")
    arguments = ("evolve", "tsp", "--data", "data", "--run-id", "growing", *SMALL)
    assert command(*arguments, program=program).code == 0
    begun = program.rows("growing")[0].fields["splits"]
    write_cities(group, range(10, 25))
    assert command("resume", "growing", "--generations", "4", "--quiet", program=program).code == 0
    tested = command("test", "growing", "--json", "--quiet", program=program)
    assert tested.code == 0, tested.err
    evaluated = [row.fields for row in program.rows("growing") if row.type == "EvaluationRecorded"]
    used = {instance_and_copy(fields["instance"])[0] for fields in evaluated}
    assert used <= {entry["key"] for part in ("train", "validation", "test") for entry in begun[part]}
    assert len(used) > 1
    assert command("replay", "growing", "--verify", program=program).code == 0
    missing = min(used)
    (group / f"{missing.split('/')[1]}.tsp").unlink()
    refused = command("resume", "growing", "--generations", "5", program=program)
    assert refused.code == 2
    assert missing in refused.error
