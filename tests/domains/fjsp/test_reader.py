"""Flexible job-shop files are read, and refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.reading_claims import FilesWithTable, Malformed, MalformedTexts, ReadFile, Refused

from dga2d.domains.core.splits import split
from dga2d.domains.fjsp import DOMAIN
from dga2d.domains.fjsp.reader import MAX_TABLE_ENTRIES, parse_instance

GOOD = "# a comment\n2 3\n2  1 0 5  2 1 6 2 7\n\n 1 3 2 1  1 0  0 9 \n"


def test_a_file_is_read_row_by_row() -> None:
    data = parse_instance(GOOD, "good")
    assert data.n_machines == 3
    assert data.op_counts.tolist() == [2, 1]
    assert data.machines.tolist() == [[[0, -1, -1], [1, 2, -1]], [[2, 1, 0], [-1, -1, -1]]]
    assert data.times.tolist() == [[[5, -1, -1], [6, 7, -1]], [[1, 0, 9], [-1, -1, -1]]]
    assert data.machines.dtype == data.times.dtype == data.op_counts.dtype == np.int32
    assert not any(array.flags.writeable for array in (data.machines, data.times, data.op_counts))


@pytest.mark.parametrize("third", ["3", "1.5", "2.", "0.333"])
def test_the_mean_flexibility_of_the_header_is_passed_over(third: str) -> None:
    data = parse_instance(GOOD.replace("2 3\n", f"2 3\t{third} \n", 1), "good")
    assert data.op_counts.tolist() == [2, 1]


def test_windows_line_ends_and_tabs_pass() -> None:
    text = GOOD.replace("2 3\n", "2 3 1.5\n").replace("\n", "\r\n").replace(" ", "\t")
    assert parse_instance(text, "dos").op_counts.tolist() == [2, 1]


def test_machines_may_be_counted_from_one() -> None:
    """As in most collections of flexible job shops: machine 3 of 3 occurs, machine 0 does not."""
    zero = parse_instance(GOOD, "good")
    one = parse_instance("2 3 1.7\n2  1 1 5  2 2 6 3 7\n1 3 3 1  2 0  1 9\n", "one")
    assert one.n_machines == zero.n_machines
    assert (one.machines == zero.machines).all()
    assert (one.times == zero.times).all()


MALFORMED: dict[str, Malformed] = {
    "empty": ("", None),
    "only comments": ("# nothing\n", None),
    "header of one number": ("2\n1 1 0 5\n1 1 0 5\n", 1),
    "header of four numbers": ("1 1 1 1\n1 1 0 5\n", 1),
    "third number is a word": ("1 1 x\n1 1 0 5\n", 1),
    "third number is not finite": ("1 1 nan\n1 1 0 5\n", 1),
    "third number is negative": ("1 1 -1.0\n1 1 0 5\n", 1),
    "no jobs": ("0 3\n", 1),
    "negative size": ("-1 3\n", 1),
    "a word": ("1 2\n1 1 0 five\n", 2),
    "a decimal": ("1 2\n1 1 0 5.0\n", 2),
    "a digit of another script": ("1 2\n1 1 0 ٥\n", 2),
    "a huge number": ("1 2\n1 1 0 9999999999999\n", 2),
    "truncated": ("2 2\n1 1 0 5\n", 2),
    "trailing line": ("1 2\n1 1 0 5\n1 1 0 5\n", 3),
    "no operations": ("1 2\n0\n", 2),
    "negative number of operations": ("1 2\n-1 1 0 5\n", 2),
    "an operation missing": ("1 2\n2 1 0 5\n", 2),
    "a time missing": ("1 2\n1 1 0\n", 2),
    "numbers after the last operation": ("1 2\n1 1 0 5 1\n", 2),
    "an operation without machines": ("1 2\n1 0\n", 2),
    "a negative number of machines": ("1 2\n1 -1 0 5\n", 2),
    "more machines than there are": ("1 2\n1 3 0 5 1 5 2 5\n", 2),
    "repeated machine": ("1 2\n1 2 0 5 0 6\n", 2),
    "machine too large": ("1 2\n1 1 3 5\n", 2),
    "machines from 0 and from 1": ("1 2\n2 1 0 5 1 2 5\n", 2),
    "machine negative": ("1 2\n1 1 -1 5\n", 2),
    "time negative": ("1 2\n1 1 0 -5\n", 2),
    "times reach the invalid score": ("1 2\n2 1 0 999999998 2 0 0 1 1\n", None),
    "a table that would fill the memory": (f"1 {MAX_TABLE_ENTRIES + 1}\n1 1 0 5\n", None),
}


class FlexibleJobShopTextClaims(MalformedTexts):
    specimen = Refused(parse_instance, MALFORMED)


def test_times_just_below_the_invalid_score_pass() -> None:
    assert parse_instance("1 2\n2 1 0 999999997 2 0 0 1 1\n", "edge").times.max() == 999_999_997


def test_all_published_files_can_be_read(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert len(refs) == len({ref.key for ref in refs}) == 336
    for ref in refs:
        shop = DOMAIN.load(ref).data["shop"]
        assert ref.reference is not None
        shortest = np.where(shop.machines >= 0, shop.times, 2**30).min(axis=2)
        longest_job = int((shortest * (shortest < 2**30)).sum(axis=1).max())
        assert longest_job <= ref.reference.value <= int(shop.times.max(axis=2).clip(0).sum())


def test_the_split_has_the_sizes_of_the_papers_table(data_dir: Path) -> None:
    assert [len(part) for part in split(DOMAIN.published(data_dir))] == [199, 66, 71]


def test_the_smoke_instance_is_the_published_one(data_dir: Path) -> None:
    ref = next(ref for ref in DOMAIN.published(data_dir) if ref.key == "hurink/edata-mt06")
    theirs, ours = DOMAIN.load(ref), DOMAIN.smoke_instance()
    assert ref.reference is not None
    assert ours.reference is not None
    assert ref.reference.value == ours.reference.value
    a, b = theirs.data["shop"], ours.data["shop"]
    for job in range(6):
        for k in range(6):
            pairs = [sorted(zip(s.machines[job, k], s.times[job, k], strict=True)) for s in (a, b)]
            assert [pair for pair in pairs[0] if pair[0] >= 0] == [pair for pair in pairs[1] if pair[0] >= 0]


class FlexibleJobShopFileClaims(FilesWithTable):
    specimen = ReadFile(
        DOMAIN, GOOD, "own/tiny.txt", [2, 1], lambda instance: instance.data["shop"].op_counts.tolist()
    )
