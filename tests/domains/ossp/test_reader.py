from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.ossp import DOMAIN
from dga2d.domains.ossp.reader import parse_instance

GOOD = "# a comment\n2 3\n5 6 7\n\n 1  0 9 \n"


def test_a_file_is_read_row_by_row() -> None:
    data = parse_instance(GOOD, "good")
    assert data.times.tolist() == [[5, 6, 7], [1, 0, 9]]
    assert data.times.dtype == np.int32
    assert not data.times.flags.writeable


MALFORMED = {
    "empty": ("", None),
    "only comments": ("# nothing\n", None),
    "header of one number": ("2\n1 1\n1 1\n", 1),
    "header of three numbers": ("1 1 1\n1\n", 1),
    "no jobs": ("0 3\n", 1),
    "no machines": ("3 0\n", 1),
    "negative size": ("-1 3\n", 1),
    "a word": ("1 2\nfive 6\n", 2),
    "a decimal": ("1 2\n5.0 6\n", 2),
    "a digit of another script": ("1 2\n٥ 6\n", 2),
    "an underscore": ("1 2\n1_0 6\n", 2),
    "a plus sign": ("1 2\n+1 6\n", 2),
    "a huge number": ("1 2\n9999999999999 6\n", 2),
    "a strange blank": ("1 2\n5\u00a06\n", 2),
    "too few numbers": ("2 2\n1 2\n1\n", 3),
    "too many numbers": ("2 2\n1 2\n1 2 0\n", 3),
    "truncated": ("2 2\n1 2\n", 2),
    "trailing line": ("1 2\n1 2\n1 2\n", 3),
    "time negative": ("1 2\n1 -2\n", 2),
    "times reach the invalid score": ("1 2\n999999998 1\n", None),
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
        [1, 0, 9],
    ]


def test_times_just_below_the_invalid_score_pass() -> None:
    assert parse_instance("1 2\n999999997 1\n", "edge").times.sum() == 999_999_998


def published(folder: Path, table: object) -> None:
    group = folder / "ossp" / "tiny"
    group.mkdir(parents=True)
    (group / "one.txt").write_text(GOOD)
    (group / ".hidden").write_text("x")
    (folder / "ossp" / "bks.json").write_text(table if isinstance(table, str) else json.dumps(table))


def test_published_instances_come_with_their_references(tmp_path: Path) -> None:
    published(tmp_path, {"tiny/one": {"best": 21, "optimal": None, "source": "by hand"}})
    (ref,) = DOMAIN.published(tmp_path)
    assert (ref.key, ref.domain) == ("tiny/one", "ossp")
    assert ref.reference is not None
    assert (ref.reference.value, ref.reference.kind) == (21.0, "best_known")
    assert DOMAIN.load(ref).data["times"].tolist() == [[5, 6, 7], [1, 0, 9]]


def test_an_instance_without_an_entry_has_no_reference(tmp_path: Path) -> None:
    published(tmp_path, {})
    assert DOMAIN.published(tmp_path)[0].reference is None


def test_no_folder_means_no_instances(tmp_path: Path) -> None:
    assert DOMAIN.published(tmp_path) == ()


BAD_TABLES = {
    "not JSON": "{",
    "a list": "[]",
    "no best": '{"tiny/one": {"optimal": true, "source": "x"}}',
    "best is text": '{"tiny/one": {"best": "21", "optimal": true, "source": "x"}}',
    "best is a truth value": '{"tiny/one": {"best": true, "optimal": true, "source": "x"}}',
    "best is negative": '{"tiny/one": {"best": -1, "optimal": true, "source": "x"}}',
    "best is not finite": '{"tiny/one": {"best": NaN, "optimal": true, "source": "x"}}',
    "optimal is a number": '{"tiny/one": {"best": 21, "optimal": 1, "source": "x"}}',
    "no source": '{"tiny/one": {"best": 21, "optimal": true}}',
}


@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_malformed_table_of_best_values_is_refused(tmp_path: Path, table: str) -> None:
    published(tmp_path, table)
    with pytest.raises(InstanceFormatError, match=r"bks\.json"):
        DOMAIN.published(tmp_path)


def test_a_missing_table_of_best_values_is_refused(tmp_path: Path) -> None:
    published(tmp_path, {})
    (tmp_path / "ossp" / "bks.json").unlink()
    with pytest.raises(InstanceFormatError):
        DOMAIN.published(tmp_path)


def test_two_files_of_one_instance_are_refused(tmp_path: Path) -> None:
    published(tmp_path, {})
    (tmp_path / "ossp" / "tiny" / "one").write_text(GOOD)
    with pytest.raises(InstanceFormatError, match=r"one\.txt: a second file of the instance tiny/one"):
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
    assert len(refs) == 60
    assert len({ref.key for ref in refs}) == 60
    for ref in refs:
        instance = DOMAIN.load(ref)
        assert ref.reference is not None
        environment = DOMAIN.environment(instance)
        assert environment["lower_bound"] <= ref.reference.value <= environment["upper_bound"]
