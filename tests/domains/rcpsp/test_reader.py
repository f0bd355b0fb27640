"""PSPLIB files are read, and refused with the line that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.domains.reading_claims import FilesWithTable, Malformed, MalformedTexts, ReadFile, Refused

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.rcpsp import DOMAIN
from dga2d.domains.rcpsp.patterson import parse_patterson
from dga2d.domains.rcpsp.project import MAX_TOTAL_DURATION
from dga2d.domains.rcpsp.reader import parse_instance, read_instance

GOOD = """\
************************************************************************
file with basedata            : tiny_1.bas
initial value random generator: 20374
************************************************************************
projects                      :  1
jobs (incl. supersource/sink ):  5
horizon                       :  7
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  0   N
  - doubly constrained        :  0   D
************************************************************************
PROJECT INFORMATION:
pronr.  #jobs rel.date duedate tardcost  MPM-Time
    1      3      0        4        1        4
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           5
   4        1          1           5
   5        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     2       2    0
  3      1     3       1    1
  4      1     2       2    0
  5      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  R 2
    3    1
************************************************************************
"""


def test_a_file_is_read_section_by_section() -> None:
    project = parse_instance(GOOD, "good")
    assert project.durations.tolist() == [0, 2, 3, 2, 0]
    assert project.requests.tolist() == [[0, 0], [2, 0], [1, 1], [2, 0], [0, 0]]
    assert project.capacities.tolist() == [3, 1]
    assert project.edges.tolist() == [[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]]
    for array in project.data().values():
        assert array.dtype == np.int32
        assert not array.flags.writeable


def changed(number: int, line: str | None) -> str:
    """The good file with line `number` (from 1) exchanged, or left out."""
    lines = GOOD.split("\n")
    lines[number - 1 : number] = [] if line is None else [line]
    return "\n".join(lines)


MALFORMED: dict[str, Malformed] = {
    "empty": ("", 1),
    "no rule at the start": (changed(1, None), 1),
    "another title": (changed(2, "file with data : x"), 2),
    "two projects": (changed(5, "projects : 2"), 5),
    "no number of projects": (changed(5, "projects :"), 5),
    "no jobs": (changed(6, "jobs (incl. supersource/sink ): 0"), 6),
    "too many jobs": (changed(6, "jobs (incl. supersource/sink ): 99999"), 6),
    "one job more announced": (changed(6, "jobs (incl. supersource/sink ): 6"), 15),
    "negative horizon": (changed(7, "horizon : -7"), 7),
    "horizon is a word": (changed(7, "horizon : seven"), 7),
    "horizon below the longest path": (changed(7, "horizon : 3"), None),
    "no renewable resource": (changed(9, "  - renewable : 0 R"), 9),
    "one resource more announced": (changed(9, "  - renewable : 3 R"), 26),
    "the letter of another kind": (changed(9, "  - renewable : 2 N"), 9),
    "nonrenewable resource": (changed(10, "  - nonrenewable : 1 N"), 10),
    "doubly constrained resource": (changed(11, "  - doubly constrained : 1 D"), 11),
    "other number of jobs in the information": (changed(15, "1 4 0 4 1 4"), 15),
    "release date": (changed(15, "1 3 1 4 1 4"), 15),
    "information truncated": (changed(15, "1 3 0 4 1"), 15),
    "MPM-Time of another network": (changed(15, "1 3 0 4 1 5"), None),
    "job left out": (changed(20, None), 20),
    "job number wrong": (changed(20, "3 1 1 4"), 20),
    "two modes": (changed(20, "2 2 1 4"), 20),
    "fewer successors than announced": (changed(20, "2 1 2 4"), 20),
    "more successors than announced": (changed(20, "2 1 1 4 5"), 20),
    "successor twice": (changed(20, "2 1 2 4 4"), 20),
    "successor of itself": (changed(20, "2 1 1 2"), 20),
    "successor out of range": (changed(20, "2 1 1 6"), 20),
    "successor 0": (changed(20, "2 1 1 0"), 20),
    "cycle": (changed(22, "4 1 1 2"), 20),
    "first job has a predecessor": (changed(21, "3 1 2 5 1"), 19),
    "job without successor": (changed(22, "4 1 0"), 22),
    "job without predecessor": (changed(20, "2 1 1 5"), 22),
    "a title left out": (changed(25, None), 25),
    "too few requests": (changed(29, "2 1 2 2"), 29),
    "too many requests": (changed(29, "2 1 2 2 0 0"), 29),
    "second mode": (changed(29, "2 2 2 2 0"), 29),
    "decimal duration": (changed(29, "2 1 2.0 2 0"), 29),
    "infinite duration": (changed(29, "2 1 inf 2 0"), 29),
    "not a number": (changed(29, "2 1 nan 2 0"), 29),
    "negative duration": (changed(29, "2 1 -2 2 0"), 29),
    "plus sign": (changed(29, "2 1 +2 2 0"), 29),
    "a digit of another script": (changed(29, "2 1 ٢ 2 0"), 29),
    "a number of 32 bits and more": (changed(29, "2 1 2147483648 2 0"), 29),
    "a huge number": (changed(29, "2 1 99999999999999999999 2 0"), 29),
    "a strange blank": (changed(29, "2 1 2\u00a02 0"), 29),
    "durations beyond the limit": (changed(29, f"2 1 {MAX_TOTAL_DURATION} 2 0"), None),
    "request above the capacity": (changed(29, "2 1 2 4 0"), 20),
    "dummy that takes time": (changed(28, "1 1 1 0 0"), 19),
    "dummy that takes a resource": (changed(32, "5 1 0 1 0"), 23),
    "availability left out": (changed(36, "3"), 36),
    "one availability more": (changed(36, "3 1 1"), 36),
    "truncated": (GOOD[:-80], 36),
    "trailing data": (GOOD + "1\n", 38),
}


class ProjectTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED)


@pytest.mark.parametrize("end", range(1, len(GOOD.split("\n")) - 1))
def test_a_file_cut_after_any_line_is_refused(end: int) -> None:
    with pytest.raises(InstanceFormatError):
        parse_instance("\n".join(GOOD.split("\n")[:end]), "cut")


def test_windows_line_ends_tabs_and_blank_lines_at_the_end_pass() -> None:
    other = re.sub(r"(?<=\d) +(?=\d)", "\t", GOOD).replace("\n", "\r\n") + "\r\n\r\n"
    project = parse_instance(other, "dos")
    for key, value in parse_instance(GOOD, "good").data().items():
        assert (project.data()[key] == value).all()


PATTERSON = """
 5 2
 3 1
 0 0 0 2 2 3
 2 2 0 1 4   3 1 1 1
 5
 2 2 0 1 5
 0 0 0 0
"""


def test_a_patterson_file_is_the_same_project(tmp_path: Path) -> None:
    (tmp_path / "good.rcp").write_text(PATTERSON)
    project = read_instance(tmp_path / "good.rcp")
    for key, value in parse_instance(GOOD, "good").data().items():
        assert (project.data()[key] == value).all()


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (" 0 0 0 0", " 0 0 0", 8, "the file ends where the number of successors of activity 5 should be"),
        (" 0 0 0 0", " 0 0 0 0 7", 8, "numbers after the last activity"),
        ("3 1 1 1", "3 1 x 1", 5, "expected an integer"),
        ("2 2 0 1 5", "2 2 0 1 4", 7, "successor 4 of activity 4 is itself"),
        ("2 2 0 1 5", "2 2 0 1 6", 7, "a successor of activity 4 in 1..5"),
        ("2 2 0 1 5", "2 9 0 1 5", 7, "requests more"),
        (" 5 2", " 1 2", 2, "the number of activities in 2.."),
    ],
)
def test_a_wrong_patterson_file_is_refused(old: str, new: str, line: int, reason: str) -> None:
    with pytest.raises(InstanceFormatError, match=reason) as caught:
        parse_patterson(PATTERSON.replace(old, new, 1), "bad.rcp")
    assert caught.value.line == line


def test_all_published_files_can_be_read(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert len(refs) == 480
    for ref in refs:
        instance = DOMAIN.load(ref)
        environment = DOMAIN.environment(instance)
        assert (environment["num_activities"], environment["num_resources"]) == (32, 4)
        assert ref.reference is not None
        assert ref.reference.value <= environment["upper_bound"]


class ProjectFileClaims(FilesWithTable):
    specimen = ReadFile(
        DOMAIN, GOOD, "tiny/one.sm", [0, 2, 3, 2, 0], lambda instance: instance.data["durations"].tolist()
    )
