"""Assembly-line files are read, and refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.reading_claims import (
    FilesWithTable,
    Malformed,
    MalformedTexts,
    ReadFile,
    Refused,
    times_of,
)
from tests.domains.salbp1.specimens import random_line

from dga2d.domains.salbp1 import DOMAIN
from dga2d.domains.salbp1.reader import instance_text, parse_instance

GOOD = """
<number of tasks>
4

<cycle time>
10

<order strength>
0,268

<task times>
2 4
1 6
3 0
4 10

<precedence relations>
3,4
1,2
1 , 3

<end>
"""


def test_a_file_is_read_section_by_section() -> None:
    data = parse_instance(GOOD, "good")
    assert data.cycle_time == 10
    assert data.times.tolist() == [6, 4, 0, 10]
    assert data.edges.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert data.times.dtype == data.edges.dtype == np.int32
    assert not data.times.flags.writeable
    assert not data.edges.flags.writeable


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


MALFORMED: dict[str, Malformed] = {
    "empty": ("", None),
    "text before the first section": ("4\n" + GOOD, 1),
    "no tasks": (changed("tasks>\n4", "tasks>\n0"), 3),
    "number of tasks missing": (changed("tasks>\n4\n", "tasks>\n"), 2),
    "two numbers of tasks": (changed("tasks>\n4", "tasks>\n4\n4"), 4),
    "too many tasks": (changed("tasks>\n4", "tasks>\n10001"), 3),
    "cycle time of zero": (changed("time>\n10", "time>\n0"), 6),
    "cycle time is a word": (changed("time>\n10", "time>\nten"), 6),
    "cycle time is not finite": (changed("time>\n10", "time>\nNaN"), 6),
    "cycle time beyond all bounds": (changed("time>\n10", "time>\n1000000001"), 6),
    "a number of 13 digits": (changed("time>\n10", "time>\n1000000000000"), 6),
    "order strength above 1": (changed("0,268", "1.2"), 9),
    "order strength is a word": (changed("0,268", "nan"), 9),
    "order strength missing": (changed("0,268", ""), 8),
    "an unknown section": (changed("<order strength>", "<number of stations>"), 8),
    "a section missing": (changed("<order strength>\n0,268\n", ""), 9),
    "a section twice": (changed("<end>", "<task times>\n<end>"), 22),
    "no end": (changed("<end>", ""), None),
    "truncated": (GOOD[: GOOD.index("3 0")], None),
    "text after the end": (GOOD + "1,4\n", 23),
    "a section after the end": (GOOD + "<end>\n", 23),
    "a task without time": (changed("3 0\n", ""), 14),
    "a task with two times": (changed("3 0", "2 0"), 14),
    "a task beyond the number": (changed("3 0", "5 0"), 14),
    "task zero": (changed("3 0", "0 0"), 14),
    "a time above the cycle time": (changed("4 10", "4 11"), 15),
    "a negative time": (changed("3 0", "3 -1"), 14),
    "a decimal time": (changed("3 0", "3 0.5"), 14),
    "three numbers for a task": (changed("3 0", "3 0 0"), 14),
    "a relation of one task": (changed("3,4", "3"), 18),
    "a relation of three tasks": (changed("3,4", "3,4,1"), 18),
    "a relation by blanks": (changed("3,4", "3 4"), 18),
    "a relation with an unknown task": (changed("3,4", "3,5"), 18),
    "a repeated relation": (changed("3,4", "1,2"), 19),
    "a task before itself": (changed("3,4", "3,3"), 18),
    "a cycle": (changed("3,4", "2,1"), 18),
    "blanks of another kind": (changed("3 0", "3\u00a00"), 14),
    "digits of another script": (changed("3 0", "3 \u0665"), 14),
}


class AssemblyLineTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED)


def test_windows_line_ends_tabs_and_a_decimal_point_pass() -> None:
    text = GOOD.replace("0,268", "0.268").replace("3 0", "3\t0").replace("\n", "\r\n")
    assert parse_instance(text, "dos").times.tolist() == [6, 4, 0, 10]


def test_a_line_without_relations_passes() -> None:
    text = GOOD.replace("3,4\n1,2\n1 , 3\n", "")
    assert parse_instance(text, "free").edges.shape == (0, 2)


@settings(max_examples=100, deadline=None)
@given(size=st.integers(1, 12), seed=st.integers(0, 2**32 - 1), density=st.floats(0.0, 1.0))
def test_what_is_written_can_be_read_back(size: int, seed: int, density: float) -> None:
    data = random_line(size, seed, density)
    again = parse_instance(instance_text(data), "written")
    assert again.cycle_time == data.cycle_time
    assert again.times.tolist() == data.times.tolist()
    assert again.edges.tolist() == data.edges.tolist()


def test_all_published_files_can_be_read(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert refs
    for ref in refs:
        assert len(DOMAIN.load(ref).data["times"]) >= 1


class AssemblyLineFileClaims(FilesWithTable):
    specimen = ReadFile(DOMAIN, GOOD, "otto/tiny.alb", [6, 4, 0, 10], times_of)
