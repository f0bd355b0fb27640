"""The runs of ``examples/runs``: each can be imported, verified and audited."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.system.conftest import Program

FOLDER = Path(__file__).parents[2] / "examples" / "runs"
RUNS = sorted(FOLDER.glob("*.zip"))
METHOD_RUNS = sorted(FOLDER.glob("methods/*.zip"))
TURNS_RUNS = sorted(FOLDER.glob("turns/*.zip"))
WHOLE_RUNS = sorted(FOLDER.glob("whole/*.zip"))
BRIEFED_RUNS = sorted(FOLDER.glob("briefed/*.zip"))
ALL_RUNS = (*RUNS, *METHOD_RUNS, *TURNS_RUNS, *WHOLE_RUNS, *BRIEFED_RUNS)
BANKED = [
    path
    for path in (*RUNS, *TURNS_RUNS, *WHOLE_RUNS, *BRIEFED_RUNS)
    if not path.name.startswith(("circles", "facilities"))
]
"""Those of whose code the shipped bank is made: not those of a problem that the program does not ship."""
MOST_BYTES = 24 * 2**20
"""Of all of them together: the repository stays small."""

pytestmark = pytest.mark.timeout(400)


def test_the_recorded_runs_are_small_and_described() -> None:
    assert RUNS
    assert METHOD_RUNS
    assert TURNS_RUNS
    assert WHOLE_RUNS
    assert BRIEFED_RUNS
    assert sum(path.stat().st_size for path in ALL_RUNS) < MOST_BYTES
    described = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in ALL_RUNS if path.name not in described] == []


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, id=path.name.partition(".")[0], marks=pytest.mark.long if (n + 1) % 6 else pytest.mark.slow
        )
        for n, path in enumerate(ALL_RUNS)
    ],
)
def test_a_recorded_run_holds(program: Program, path: Path) -> None:
    imported = program.run("import", str(path), "--json")
    run = imported.json["run"]
    problem = FOLDER.parent / f"{path.name.partition('-')[0]}.py"
    own = ("--domain-path", str(problem)) if problem.exists() else ()
    assert program.run("replay", run, "--verify", *own).code == 0
    audited = program.run("audit", run, "--full", "--json")
    assert (audited.code, audited.json["difference"]) == (0, None)
    purpose = "program" if path in METHOD_RUNS else "implement"
    assert audited.json["ledger"]["by_purpose"][purpose]["accepted"] > 0


@pytest.mark.slow
def test_the_shipped_bank_is_made_of_the_recorded_runs(program: Program) -> None:
    made = program.run(
        "bank", "add", *map(str, BANKED), "--licence", "MIT, as the program's", "--bank", "made.jsonl"
    )
    assert made.code == 0, made
    shipped = Path(__file__).parents[2] / "runtime" / "bank" / "shipped.jsonl"
    assert (program.folder / "made.jsonl").read_bytes() == shipped.read_bytes()
