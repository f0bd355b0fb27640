from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.fssp import DOMAIN
from dga2d.domains.fssp.reader import parse_instance

GOOD = "# a comment\n2 3\n0 5 1 6 2 7\n\n 0 9  1 0  2 1 \n"


def test_a_file_is_read_row_by_row() -> None:
    data = parse_instance(GOOD, "good")
    assert data.times.tolist() == [[5, 6, 7], [9, 0, 1]]
    assert data.times.dtype == np.int32
    assert not data.times.flags.writeable


MALFORMED = {
    "empty": ("", None),
    "only comments": ("# nothing\n", None),
    "header of one number": ("2\n0 1\n0 1\n", 1),
    "header of three numbers": ("1 1 1\n0 1\n", 1),
    "no jobs": ("0 3\n", 1),
    "negative size": ("-1 3\n", 1),
    "a word": ("1 2\n0 five 1 6\n", 2),
    "a decimal": ("1 2\n0 5.0 1 6\n", 2),
    "a digit of another script": ("1 2\n0 ٥ 1 6\n", 2),
    "an underscore": ("1 2\n0 1_0 1 6\n", 2),
    "a plus sign": ("1 2\n0 +1 1 6\n", 2),
    "a huge number": ("1 2\n0 9999999999999 1 6\n", 2),
    "too few numbers": ("2 2\n0 1 1 2\n0 1 1\n", 3),
    "too many numbers": ("2 2\n0 1 1 2\n0 1 1 2 0\n", 3),
    "truncated": ("2 2\n0 1 1 2\n", 2),
    "trailing line": ("1 2\n0 1 1 2\n0 1 1 2\n", 3),
    "repeated machine": ("1 2\n0 1 0 2\n", 2),
    "machine too large": ("1 2\n0 1 2 2\n", 2),
    "machine negative": ("1 2\n0 1 -1 2\n", 2),
    "machines out of order": ("# a comment\n2 2\n\n0 1 1 2\n# another\n1 2 0 1\n", 6),
    "time negative": ("1 2\n0 1 1 -2\n", 2),
    "times reach the invalid score": ("1 2\n0 999999998 1 1\n", None),
}


@pytest.mark.parametrize(("text", "line"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_file_is_refused_with_its_line(text: str, line: int | None) -> None:
    with pytest.raises(InstanceFormatError) as caught:
        parse_instance(text, "bad")
    assert caught.value.line == line
    assert caught.value.path == "bad"


def test_windows_line_ends_and_tabs_pass() -> None:
    assert parse_instance(GOOD.replace("\n", "\r\n").replace(" ", "\t"), "dos").times.tolist() == [
        [5, 6, 7],
        [9, 0, 1],
    ]


def test_times_just_below_the_invalid_score_pass() -> None:
    assert parse_instance("1 2\n0 999999997 1 1\n", "edge").times.sum() == 999_999_998


def published(folder: Path, table: object) -> None:
    group = folder / "fssp" / "own"
    group.mkdir(parents=True)
    (group / "tiny").write_text(GOOD)
    (group / ".hidden").write_text("x")
    (folder / "fssp" / "bks.json").write_text(table if isinstance(table, str) else json.dumps(table))


def test_published_instances_come_with_their_references(tmp_path: Path) -> None:
    published(tmp_path, {"own/tiny": {"best": 21, "optimal": None, "source": "by hand"}})
    (ref,) = DOMAIN.published(tmp_path)
    assert (ref.key, ref.domain) == ("own/tiny", "fssp")
    assert ref.reference is not None
    assert (ref.reference.value, ref.reference.kind) == (21.0, "best_known")
    assert DOMAIN.load(ref).data["times"].tolist() == [[5, 6, 7], [9, 0, 1]]


def test_an_instance_without_an_entry_has_no_reference(tmp_path: Path) -> None:
    published(tmp_path, {})
    assert DOMAIN.published(tmp_path)[0].reference is None


def test_no_folder_means_no_instances(tmp_path: Path) -> None:
    assert DOMAIN.published(tmp_path) == ()


BAD_TABLES = {
    "not JSON": "{",
    "a list": "[]",
    "no best": '{"own/tiny": {"optimal": true, "source": "x"}}',
    "best is text": '{"own/tiny": {"best": "21", "optimal": true, "source": "x"}}',
    "best is a truth value": '{"own/tiny": {"best": true, "optimal": true, "source": "x"}}',
    "best is negative": '{"own/tiny": {"best": -1, "optimal": true, "source": "x"}}',
    "best is not finite": '{"own/tiny": {"best": NaN, "optimal": true, "source": "x"}}',
    "optimal is a number": '{"own/tiny": {"best": 21, "optimal": 1, "source": "x"}}',
    "no source": '{"own/tiny": {"best": 21, "optimal": true}}',
}


@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_malformed_table_of_best_values_is_refused(tmp_path: Path, table: str) -> None:
    published(tmp_path, table)
    with pytest.raises(InstanceFormatError, match=r"bks\.json"):
        DOMAIN.published(tmp_path)


def test_a_missing_table_of_best_values_is_refused(tmp_path: Path) -> None:
    published(tmp_path, {})
    (tmp_path / "fssp" / "bks.json").unlink()
    with pytest.raises(InstanceFormatError):
        DOMAIN.published(tmp_path)


def test_two_files_of_one_instance_are_refused(tmp_path: Path) -> None:
    published(tmp_path, {})
    (tmp_path / "fssp" / "own" / "tiny.txt").write_text(GOOD)
    with pytest.raises(InstanceFormatError, match=r"tiny\.txt: a second file of the instance own/tiny"):
        DOMAIN.published(tmp_path)


def test_a_missing_or_binary_file_is_a_format_error(tmp_path: Path) -> None:
    published(tmp_path, {})
    (ref,) = DOMAIN.published(tmp_path)
    assert ref.path is not None
    ref.path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(ref)
    ref.path.unlink()
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(ref)


def test_all_published_files_can_be_read(data_dir: Path) -> None:
    refs = DOMAIN.published(data_dir)
    assert len(refs) == 110
    assert len({ref.key for ref in refs}) == 110
    for ref in refs:
        instance = DOMAIN.load(ref)
        assert ref.reference is not None
        bound = max(int(instance.data["times"].sum(axis=1).max()), 1)
        assert bound <= ref.reference.value <= int(instance.data["times"].sum())
