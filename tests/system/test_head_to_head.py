"""``compare --seconds``: runs and classical methods solve the runs' held-out instances again."""

from __future__ import annotations

import pytest
from tests.system.conftest import Command, Tested


def test_classical_methods_stand_beside_a_run(tested: Tested, command: Command) -> None:
    program = tested.program
    before = [(row.seq, row.type) for row in program.rows("done")]
    options = ("--seconds", "0.2", "--method", "ils", "--method", "cp-sat", "--json")
    view = command("compare", "done", *options, program=program).json
    assert (view["domain"], view["budget"], view["instances"]) == ("tsp", "0.2 s", 1)
    rows = {row["name"]: row for row in view["algorithms"]}
    assert set(rows) == {"done", "ils", "cp-sat"}
    assert (rows["done"]["run"], rows["ils"]["run"]) == ("done", None)
    assert rows["done"]["failures"] == rows["ils"]["failures"] == 0  # OR-Tools may lack the time
    assert 0.0 <= rows["ils"]["gap_percent"] < 50.0
    assert len(view["pairs"]) == 3
    assert [(row.seq, row.type) for row in program.rows("done")] == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--method", "ils"), "the tests of runs are read, not made again; say --seconds"),
        (("--seconds", "1", "--cores", "2"), "it is for --method cp-sat"),
        (("--seconds", "1", "--method", "cp-sat", "--cores", "no"), "expected a number from 1 on, or all"),
    ],
)
def test_options_that_say_nothing_are_refused(
    tested: Tested, command: Command, arguments: tuple[str, ...], told: str
) -> None:
    refused = command("compare", "done", *arguments, program=tested[0])
    assert refused.code == 2
    assert told in refused.err
