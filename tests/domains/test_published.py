"""Published instances on disk: which files count, and what a table of best-known values may hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.published import list_instances, read_references


def folder_with(tmp_path: Path, *names: str) -> Path:
    (tmp_path / "group").mkdir()
    for name in names:
        (tmp_path / "group" / name).write_text("1\n")
    (tmp_path / "bks.json").write_text(json.dumps({"group/a": {"best": 7, "optimal": True, "source": "x"}}))
    return tmp_path


def test_names_end_where_their_ending_begins_and_other_files_are_passed_over(tmp_path: Path) -> None:
    names = ("a", "b.txt", "c.1.clq.gz", ".hidden", "README.md", "notes.gz")
    folder = folder_with(tmp_path, *names)
    refs = list_instances("d", folder, ("", ".txt", ".clq.gz"))
    assert [ref.key for ref in refs] == ["group/a", "group/b", "group/c.1"]
    assert [ref.reference is not None for ref in refs] == [True, False, False]
    assert [ref.name for ref in list_instances("d", folder, (".txt",))] == ["b"]


def test_two_files_of_one_instance_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InstanceFormatError, match="a second file of the instance group/a"):
        list_instances("d", folder_with(tmp_path, "a", "a.txt"), ("", ".txt"))


def test_a_missing_table_is_an_error_unless_it_is_not_needed(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a")
    (folder / "bks.json").unlink()
    with pytest.raises(InstanceFormatError, match=r"bks\.json"):
        list_instances("d", folder, ("",))
    (ref,) = list_instances("d", folder, ("",), needs_table=False)
    assert ref.reference is None
    assert list_instances("d", tmp_path / "absent", ("",)) == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"best": "7", "optimal": True, "source": "x"},
        {"best": True, "optimal": True, "source": "x"},
        {"best": -1, "optimal": True, "source": "x"},
        {"best": 7, "optimal": "yes", "source": "x"},
        {"best": 7, "optimal": None},
        7,
    ],
)
def test_a_malformed_entry_is_refused_by_name(tmp_path: Path, entry: object) -> None:
    table = tmp_path / "bks.json"
    table.write_text(json.dumps({"g/odd": entry}))
    with pytest.raises(InstanceFormatError, match="'g/odd'"):
        read_references(table)
