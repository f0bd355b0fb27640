"""What a domain's reader and its list of published instances have to keep, as classes that tests inherit.

A domain derives a class, whose name ends in ``Claims``, from :class:`MalformedTexts` for its reader, and one
from :class:`PublishedFiles`, :class:`FilesWithTable` or :class:`ShopFiles` for a small file of it;
``tests/domains/conftest.py`` gives the first every malformed text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import numpy as np
import pytest

from dga2d.domains.core.contract import Domain, Instance
from dga2d.domains.core.errors import InstanceFormatError

Malformed = tuple[str, int | None]
"""A text and the line that its refusal names, ``None`` where no line is to blame."""


Parse = Callable[[str, str], Any]
"""A reader of texts: text and path to the data of an instance."""


@dataclass(frozen=True)
class Refused:
    """What a reader must refuse."""

    parse: Parse
    malformed: Mapping[str, Malformed]


class MalformedTexts:
    """What is wrong with a text is refused with the line that it is in."""

    specimen: ClassVar[Refused]

    def test_a_malformed_file_is_refused_with_its_line(self, malformed: Malformed) -> None:
        text, line = malformed
        with pytest.raises(InstanceFormatError) as caught:
            self.specimen.parse(text, "bad")
        assert caught.value.line == line, caught.value
        assert caught.value.path == "bad"
        assert caught.value.reason


@dataclass(frozen=True)
class ReadFile:
    """A file of a domain and what it holds."""

    domain: Domain
    text: str
    file: str
    """``group/file``."""
    expected: object
    """What `holds` gives."""
    holds: Callable[[Instance], object]
    """Something of the instance."""

    @property
    def key(self) -> str:
        """Of the instance in that file: group and file without its ending."""
        return str(PurePosixPath(self.file).with_suffix(""))


class PublishedFiles:
    """Published instances come with their references, and what is wrong with files or table is refused."""

    specimen: ClassVar[ReadFile]

    def publish(self, folder: Path, table: object) -> Path:
        """Write the file, a hidden one and the table of best values below `folder`; the domain's folder."""
        below = folder / self.specimen.domain.name
        path = below / self.specimen.file
        path.parent.mkdir(parents=True)
        path.write_text(self.specimen.text)
        (path.parent / ".hidden").write_text("x")
        (path.parent / "notes.md").write_text("x")
        (below / "bks.json").write_text(table if isinstance(table, str) else json.dumps(table))
        return below

    def test_published_instances_come_with_their_references(self, tmp_path: Path) -> None:
        self.publish(tmp_path, {self.specimen.key: {"best": 21, "optimal": None, "source": "by hand"}})
        (ref,) = self.specimen.domain.published(tmp_path)
        assert (ref.key, ref.domain) == (self.specimen.key, self.specimen.domain.name)
        assert ref.reference is not None
        assert (ref.reference.value, ref.reference.kind) == (21.0, "best_known")
        assert self.specimen.holds(self.specimen.domain.load(ref)) == self.specimen.expected

    def test_an_instance_without_an_entry_has_no_reference(self, tmp_path: Path) -> None:
        self.publish(tmp_path, {})
        assert self.specimen.domain.published(tmp_path)[0].reference is None

    @pytest.mark.parametrize(
        "table",
        [
            pytest.param("{", id="not JSON"),
            pytest.param("[]", id="a list"),
            pytest.param('{"KEY": {"optimal": true, "source": "x"}}', id="no best"),
            pytest.param('{"KEY": {"best": "21", "optimal": true, "source": "x"}}', id="best is text"),
            pytest.param(
                '{"KEY": {"best": true, "optimal": true, "source": "x"}}', id="best is a truth value"
            ),
            pytest.param('{"KEY": {"best": -1, "optimal": true, "source": "x"}}', id="best is negative"),
            pytest.param('{"KEY": {"best": NaN, "optimal": true, "source": "x"}}', id="best is not finite"),
            pytest.param('{"KEY": {"best": 21, "optimal": 1, "source": "x"}}', id="optimal is a number"),
            pytest.param('{"KEY": {"best": 21, "optimal": true}}', id="no source"),
        ],
    )
    def test_a_malformed_table_of_best_values_is_refused(self, tmp_path: Path, table: str) -> None:
        self.publish(tmp_path, table.replace("KEY", self.specimen.key))
        with pytest.raises(InstanceFormatError, match=r"bks\.json"):
            self.specimen.domain.published(tmp_path)

    def test_a_missing_or_binary_file_is_a_format_error(self, tmp_path: Path) -> None:
        self.publish(tmp_path, {})
        (ref,) = self.specimen.domain.published(tmp_path)
        assert ref.path is not None
        ref.path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(InstanceFormatError):
            self.specimen.domain.load(ref)
        ref.path.unlink()
        with pytest.raises(InstanceFormatError):
            self.specimen.domain.load(ref)


class FilesWithTable(PublishedFiles):
    """Published instances of a domain that knows no best values but those of the table."""

    def test_a_missing_table_of_best_values_is_refused(self, tmp_path: Path) -> None:
        (self.publish(tmp_path, {}) / "bks.json").unlink()
        with pytest.raises(InstanceFormatError):
            self.specimen.domain.published(tmp_path)


MALFORMED_PAIRS: Mapping[str, Malformed] = {
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
    "time negative": ("1 2\n0 1 1 -2\n", 2),
    "times reach the invalid score": ("1 2\n0 999999998 1 1\n", None),
}
"""Rows that alternate machines and times, as in files of job shops and flow shops."""
EDGE_OF_PAIRS = "1 2\n0 999999997 1 1\n"
"""Such rows whose times add up to two less than the invalid score."""


def times_of(instance: Instance) -> object:
    """The times of an instance."""
    return instance.data["times"].tolist()


def longest_job_and_total(instance: Instance) -> tuple[int, int]:
    """Bounds of any shop: the time of the longest job, at least 1, and of all operations."""
    times = instance.data["times"]
    return max(int(times.sum(axis=1).max()), 1), int(times.sum())


@dataclass(frozen=True)
class ShopFile(ReadFile):
    """A file of a shop, which may end in ``.txt`` or not."""

    holds: Callable[[Instance], object] = times_of
    _: KW_ONLY
    parse: Parse
    """The reader; its data have an attribute ``times``."""
    n_published: int
    edge: str = EDGE_OF_PAIRS
    """A text whose times add up to two less than the invalid score."""
    bounds: Callable[[Instance], tuple[int, int]] = longest_job_and_total
    """Numbers between which the best known makespan of any instance lies."""

    @property
    def second_file(self) -> str:
        """The other name that the file of the same instance may have."""
        return self.key if self.file.endswith(".txt") else f"{self.file}.txt"


class ShopFiles(FilesWithTable):
    """Files with a row of times per job."""

    specimen: ClassVar[ShopFile]

    def test_a_file_is_read_row_by_row(self) -> None:
        times = self.specimen.parse(self.specimen.text, "good").times
        assert times.tolist() == self.specimen.expected
        assert times.dtype == np.int32
        assert not times.flags.writeable

    def test_windows_line_ends_and_tabs_pass(self) -> None:
        data = self.specimen.parse(self.specimen.text.replace("\n", "\r\n").replace(" ", "\t"), "dos")
        assert data.times.tolist() == self.specimen.parse(self.specimen.text, "good").times.tolist()

    def test_times_just_below_the_invalid_score_pass(self) -> None:
        assert self.specimen.parse(self.specimen.edge, "edge").times.sum() == 999_999_998

    def test_two_files_of_one_instance_are_refused(self, tmp_path: Path) -> None:
        below = self.publish(tmp_path, {})
        (below / self.specimen.second_file).write_text(self.specimen.text)
        later = max(self.specimen.file, self.specimen.second_file)
        with pytest.raises(InstanceFormatError) as caught:
            self.specimen.domain.published(tmp_path)
        assert caught.value.path == str(below / later)
        assert caught.value.reason == f"a second file of the instance {self.specimen.key}"

    def test_all_published_files_can_be_read(self, data_dir: Path) -> None:
        refs = self.specimen.domain.published(data_dir)
        assert len(refs) == len({ref.key for ref in refs}) == self.specimen.n_published
        for ref in refs:
            lower, upper = self.specimen.bounds(self.specimen.domain.load(ref))
            assert ref.reference is not None
            assert lower <= ref.reference.value <= upper
