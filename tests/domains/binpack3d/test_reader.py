"""The readers of bin packing instances take the two formats and refuse everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dga2d.domains.binpack3d import DOMAIN
from dga2d.domains.binpack3d.reader import parse_instance, parse_json, read_instance
from dga2d.domains.core.errors import InstanceFormatError

GOOD = "# a comment\n2\n10 20 30\n1 2 3\n10 20 30\n"
JSON = '{"bin": [10, 20, 30], "items": [[1, 2, 3], [10, 20, 30]]}'


@pytest.mark.parametrize(("name", "text"), [("a.txt", GOOD), ("a", GOOD), ("a.json", JSON)])
def test_both_formats_are_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    data = read_instance(path)
    assert data.bin_size.tolist() == [10, 20, 30]
    assert data.item_sizes.tolist() == [[1, 2, 3], [10, 20, 30]]
    assert not data.item_sizes.flags.writeable


BAD = {
    "empty": ("", "no data line"),
    "truncated": ("2\n10 20 30\n1 2 3\n", "the file ends"),
    "only a count": ("2\n", "the file ends"),
    "trailing": (GOOD + "1 1 1\n", "data after the last"),
    "no count": ("2 2\n10 20 30\n1 2 3\n1 2 3\n", "number of items"),
    "zero items": ("0\n10 20 30\n", "number of items"),
    "too many items": ("999999\n10 20 30\n", "number of items"),
    "word": ("2\n10 20 x\n1 2 3\n1 2 3\n", "expected an integer"),
    "fraction": ("2\n10 20 30\n1 2 3.5\n1 2 3\n", "expected an integer"),
    "nan": ("2\n10 20 30\n1 2 nan\n1 2 3\n", "expected an integer"),
    "huge": ("2\n10 20 9999999999999\n1 2 3\n1 2 3\n", "expected an integer"),
    "zero side": ("2\n10 20 30\n0 2 3\n1 2 3\n", "is not in 1..10"),
    "negative side": ("2\n10 20 30\n1 -2 3\n1 2 3\n", "is not in 1..20"),
    "larger than the bin": ("2\n10 20 30\n1 2 31\n1 2 3\n", "is not in 1..30"),
    "bin too large": ("1\n10 20 2000000\n1 2 3\n", "is not in 1..1000000"),
    "two sides": ("2\n10 20 30\n1 2\n1 2 3\n", "three sides"),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_text_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InstanceFormatError, match=reason):
        parse_instance(text, "bad.txt")


BAD_JSON = {
    "no json": ("{", "cannot be read as JSON"),
    "a list": ("[]", "keys 'bin' and 'items'"),
    "another key": ('{"bin": [1, 1, 1], "items": [[1, 1, 1]], "x": 1}', "keys 'bin' and 'items'"),
    "no items": ('{"bin": [1, 1, 1], "items": []}', "not a list"),
    "a fraction": ('{"bin": [1, 1, 1], "items": [[1, 1.0, 1]]}', "is not in 1..1"),
    "a truth value": ('{"bin": [1, 1, 1], "items": [[true, 1, 1]]}', "is not in 1..1"),
    "nan": ('{"bin": [1, 1, NaN], "items": [[1, 1, 1]]}', "is not in 1..1000000"),
    "text": ('{"bin": "111", "items": [[1, 1, 1]]}', "three sides"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_JSON.values(), ids=BAD_JSON.keys())
def test_a_bad_json_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InstanceFormatError, match=reason):
        parse_json(text, "bad.json")


def test_published_instances_have_the_values_of_the_table(tmp_path: Path) -> None:
    folder = tmp_path / "binpack3d" / "small"
    folder.mkdir(parents=True)
    (folder / "two.txt").write_text(GOOD)
    (tmp_path / "binpack3d" / "bks.json").write_text(
        '{"small/two": {"best": 2, "optimal": true, "source": "by hand"}}'
    )
    (ref,) = DOMAIN.published(tmp_path)
    assert ref.reference is not None
    assert (ref.key, ref.reference.value, ref.reference.kind) == ("small/two", 2.0, "optimal")
    assert DOMAIN.load(ref).data["item_sizes"].shape == (2, 3)
