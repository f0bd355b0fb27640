from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.paper_suite import paper_refs
from dga2d.domains.core.splits import split
from dga2d.domains.fssp import DOMAIN
from dga2d.domains.fssp.taillard import generate, table


def test_the_first_instance_starts_as_printed() -> None:
    """Times of the first 20 x 5 instance on machine 0 as in Taillard 1993."""
    times = generate(20, 5, 873654221).times
    assert times.shape == (20, 5)
    assert times[:10, 0].tolist() == [54, 83, 15, 71, 77, 36, 53, 38, 27, 87]
    assert not times.flags.writeable


def test_the_generated_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    refs = paper_refs(DOMAIN, None)
    for ref in refs:
        times = DOMAIN.load(ref).data["times"]
        digest.update(f"{ref.key} {times.shape}".encode())
        digest.update(times.astype("<i4").tobytes())
    assert len(refs) == 110
    assert [ref.key for ref in refs] == sorted(ref.key for ref in refs)
    assert digest.hexdigest() == "277cb4c4f3aef915abe5387a3def54a68e797caadd4eba29fe6ebb4eb2bb6ad9"


def test_groups_are_the_sizes_and_their_split_is_the_papers() -> None:
    refs = paper_refs(DOMAIN, None)
    groups = Counter(ref.group for ref in refs)
    assert groups["20x5"] == groups["200x20"] == 10
    assert len(groups) == 11
    assert tuple(map(len, split(refs))) == (66, 22, 22)
    for ref in refs:
        entry = table()[ref.name]
        assert ref.group == f"{entry['jobs']}x{entry['machines']}"


def test_generated_instances_equal_the_published_files(data_dir: Path) -> None:
    """Where the table beside the files is older, ours has the better bound."""
    published = {ref.key: ref for ref in DOMAIN.published(data_dir)}
    for ref in paper_refs(DOMAIN, None):
        ours, theirs = DOMAIN.load(ref), DOMAIN.load(published[ref.key])
        assert (ours.data["times"] == theirs.data["times"]).all()
        assert ours.reference is not None
        assert theirs.reference is not None
        assert ours.reference == theirs.reference or ours.reference.value < theirs.reference.value


def test_an_unknown_generated_instance_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("fssp", "20x5", "tfs111", None))
