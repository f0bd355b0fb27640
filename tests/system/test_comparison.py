"""The comparison of evolution with its rivals: its statistics, what is tried, what outlives a kill."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import BlobDigest, OperatorId, blob_digest
from dga2d.events.payloads import BankEntry, LibraryOperator
from dga2d.runtime import cli
from dga2d.runtime.runs.problem import Problem

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
Tag = Literal["none", "partial", "complete"]


@pytest.fixture(scope="module")
def pairing() -> Any:
    spec = spec_from_file_location("pairing", BENCHMARKS / "pairing.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["pairing"] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def test_an_interval_covers_seeds_as_well_as_instances(pairing: Any) -> None:
    """All instances of a seed gain alike: instances say nothing new, three seeds are all there is."""
    before = np.full((3, 40), 10.0)
    gains = np.array([[6.0], [0.0], [-3.0]])
    found = pairing.gain_of(before, before - gains)
    assert found.mean == pytest.approx(1.0)
    assert (found.low, found.high) == (-3.0, 6.0)  # all three draws the same: 1 in 27, above 2.5 %
    assert (found.sign, found.won, found.lost) == (0, 40, 40)
    clear = pairing.gain_of(before, before - np.abs(gains) - 1.0)
    assert clear.sign == 1
    assert str(clear) == "**+4.000 (+1.000 to +7.000)**"
    assert pairing.gain_of(before, before + 1.0).sign == -1


def test_no_difference_is_no_gain(pairing: Any) -> None:
    gaps = np.arange(12.0).reshape(3, 4)
    found = pairing.gain_of(gaps, gaps)
    assert (found.mean, found.low, found.high, found.p, found.sign) == (0.0, 0.0, 0.0, 1.0, 0)
    assert not pairing.is_beaten(gaps[0], gaps[0])


def test_a_baseline_is_beaten_at_five_percent(pairing: Any) -> None:
    """One-sided: of n wins alone the probability is 2^−n."""
    assert not pairing.is_beaten(np.zeros(4), -np.arange(1.0, 5.0))  # 1/16
    assert pairing.is_beaten(np.zeros(5), -np.arange(1.0, 6.0))  # 1/32
    assert not pairing.is_beaten(np.zeros(5), np.arange(1.0, 6.0))


def test_a_run_of_one_family_sees_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher of the arms stands in for whatever opens a problem, with all that this may be told."""
    opened: list[Problem] = []
    monkeypatch.setattr(Problem, "open", Problem.open)  # the launcher replaces it
    monkeypatch.setattr(cli, "main", lambda: opened.append(Problem.open("fssp", None, "100x10,50x5")))
    monkeypatch.setattr(sys, "argv", ["one_family.py", "100x*"])
    runpy.run_path(str(BENCHMARKS / "one_family.py"), run_name="__main__")
    assert {ref.group for part in opened[0].splits for ref in part} == {"100x10"}


async def test_all_that_the_bank_has_is_tried_for_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the positions with an entry's role, and behind the last where it improves a solution."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    independent, program = import_module("independent"), import_module("programs").Program

    def entry(text: str, category: str, requires: Tag, domain: str = "jsp") -> BankEntry:
        return BankEntry(
            source=blob_digest(text.encode()),
            domain=domain,
            operator=OperatorId(f"banked_{category}"),
            category=category,
            requires=requires,
            provides="complete",
            run="earlier",
            model="none",
            how="",
            gain=None,
            spread=None,
            pairs=0,
        )

    def operator(name: str, category: str, requires: Tag) -> LibraryOperator:
        return LibraryOperator(
            id=OperatorId(name),
            category=category,
            requires=requires,
            provides="complete",
            tier="basic",
            implementations=(),
        )

    texts = {blob_digest(text.encode()): text for text in ("# start\n", "# search\n", "# kick\n")}
    bank = (
        entry("# start\n", "initialisation", "none"),
        entry("# search\n", "local_search", "complete"),
        entry("# kick\n", "perturbation", "complete"),
        entry("# start\n", "initialisation", "none", domain="tsp"),
    )
    library = (operator("first", "initialisation", "none"), operator("last", "local_search", "complete"))
    state = SimpleNamespace(header=SimpleNamespace(domain="jsp", library=library, bank=bank))
    own = [Implementation(OperatorName(name), "# own\n", "library") for name in ("first", "last")]

    class Texts:
        async def get_blob(self, digest: BlobDigest) -> bytes:
            return texts[digest].encode()

    found = await independent.banked_programs(state, program(tuple(own)), Texts())
    assert [[(part.operator, part.source) for part in tried.parts] for tried in found] == [
        [("first", "# start\n"), ("last", "# own\n")],
        [("first", "# own\n"), ("last", "# search\n")],
        [("first", "# own\n"), ("last", "# own\n"), ("banked_local_search", "# search\n")],
        [("first", "# own\n"), ("last", "# own\n"), ("banked_perturbation", "# kick\n")],
    ]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_comparison_goes_on_in_its_folder(tmp_path: Path) -> None:
    """What is there is not done again: neither runs nor held-out evaluations."""
    command = [sys.executable, str(BENCHMARKS / "evolved.py"), "ossp", "--smoke", "--library", "basic"]
    command += ["--arms", "full", "walks", "constants", "best-of-n", "--folder", str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    for arm in ("full", "walks", "constants", "best-of-n"):
        assert f"| ossp | {arm} |" in first.stdout
    assert "| ossp | constants |" in first.stdout.split("full against")[1]
    (tmp_path / "ossp-walks-2.json").unlink()  # killed before it was written down: its log is complete
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*held-out*")}
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*held-out*")} == files
