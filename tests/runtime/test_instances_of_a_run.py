"""Which instances a run is for, and which its held-out test uses; what its process uses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dga2d.events.payloads import SplitManifest
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.own_processes import ProcessMeter
from dga2d.runtime.runs.problem import Problem, is_of_group

E, R = "hurink-edata-random", "hurink-rdata-random"


def test_a_test_on_other_groups_keeps_training_and_validation() -> None:
    own, shifted = Problem.open("fjsp", None, E), Problem.open("fjsp", None, E, test_group=f"{E},{R}")
    assert [[r.key for r in part] for part in shifted.splits[:2]] == [
        [r.key for r in part] for part in own.splits[:2]
    ]
    assert {r.group for r in shifted.splits.test} == {E, R}
    other = Problem.open("fjsp", None, R).splits.test
    assert {r.key for r in shifted.splits.test} == {r.key for r in (*own.splits.test, *other)}


def test_what_a_run_trains_on_is_never_held_out() -> None:
    with pytest.raises(UsageError, match="the run itself uses all held-out instances"):
        Problem.open("fjsp", None, f"{E},{R}", test_group=f"{E}/*-3")
    part = Problem.open("fjsp", None, E, test_group=f"{E}/*-1,{R}").splits
    assert not {ref.key for ref in part.test} & {ref.key for ref in (*part.train, *part.validation)}


def test_a_part_of_a_group_is_named_by_a_pattern() -> None:
    names = {ref.name for part in Problem.open("fjsp", None, f"{E}/10x*").splits for ref in part}
    assert names
    assert all(name.startswith("10x") for name in names)
    assert is_of_group("hurink/edata-la01", "hurink/edata-*")
    assert is_of_group("hurink/edata-la01", "hurink")
    assert not is_of_group("hurink/edata-la01", "hurink/rdata-*")
    with pytest.raises(UsageError, match=r"has no instance that 'hurink/e\*' matches"):
        Problem.open("fjsp", None, E, test_group="hurink/e*")
    with pytest.raises(UsageError, match="has no group 'hurink'"):
        Problem.open("fjsp", None, E, test_group="hurink")


def manifest_of(problem: Problem) -> SplitManifest:
    """As a log has it."""
    return problem.manifest({})


def test_a_log_keeps_its_splits_where_instances_were_added_since() -> None:
    now = Problem.open("fjsp", None)
    refs = [ref for part in now.splits for ref in part]
    before = Problem(now.domain, [ref for ref in refs if ref.part is None])
    again = now.recorded(manifest_of(before))
    assert [[ref.key for ref in part] for part in again.splits] == [
        [ref.key for ref in part] for part in before.splits
    ]
    keys = [ref.key for part in before.splits for ref in part]
    assert [again.index(key) for key in keys] == [before.index(key) for key in keys]
    assert {ref.key for ref in again.others} == {ref.key for ref in (*refs, *now.others)} - set(keys)
    assert now.recorded(manifest_of(now)) is now
    with pytest.raises(UsageError, match=r"no instance 'brandimarte-random/mk01-3' and 49 more"):
        before.recorded(manifest_of(now))


def test_the_processor_time_of_processes_counts() -> None:
    meter = ProcessMeter()
    before = meter()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    after = meter()
    assert after.cpu_s > before.cpu_s >= 0.0
    assert after.peak_bytes >= before.peak_bytes > 1_000_000
