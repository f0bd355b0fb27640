"""Saved states: addressed by digest, complete or absent, pruned, and refused when damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.agents.policy.archive import PolicyArchive
from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.errors import PolicyCheckpointError

pytestmark = pytest.mark.timeout(300)  # the first test imports torch, which takes a loaded machine a minute


@pytest.fixture
def archive(tmp_path: Path) -> PolicyArchive:
    return PolicyArchive(tmp_path / "runs" / "policies")


def test_a_restored_policy_goes_on_as_the_saved_one(
    archive: PolicyArchive, embedded: Callable[..., Any], context: PolicyContext, walks: list[Any]
) -> None:
    policy = embedded()
    policy.update(context, walks[:2], [1.0, -1.0])
    saved = archive.save(policy)
    folder = archive.folder / saved.digest
    assert saved.size_bytes == sum(path.stat().st_size for path in folder.iterdir())
    restored = embedded()
    archive.load(restored, saved.digest)
    assert restored.digest() == policy.digest()
    following = [p.update(context, walks[1:3], [0.5, -0.5]) for p in (policy, restored)]
    assert following[0] == following[1]


def test_the_name_depends_on_the_content_alone(
    archive: PolicyArchive, embedded: Callable[..., Any], context: PolicyContext, walks: list[Any]
) -> None:
    policy = embedded()
    first = archive.save(policy)
    assert archive.save(embedded()) == first
    policy.update(context, walks[:1], [1.0])
    assert archive.save(policy).digest != first.digest
    assert len(list(archive.folder.iterdir())) == 2


def test_pruning_leaves_what_is_kept_and_no_torn_saves(
    archive: PolicyArchive, embedded: Callable[..., Any]
) -> None:
    kept, dropped = archive.save(embedded(1)), archive.save(embedded(2))
    (archive.folder / "partial-1").mkdir()
    archive.prune({kept.digest, "gone"})
    assert [path.name for path in archive.folder.iterdir()] == [kept.digest]
    with pytest.raises(PolicyCheckpointError, match=f"{dropped.digest}: it is missing"):
        archive.load(embedded(), dropped.digest)
    PolicyArchive(archive.folder / "nowhere").prune(set())


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "optimizer.safetensors").unlink(),
        lambda folder: (folder / "parameters.safetensors").write_bytes(b"x" * 100),
        lambda folder: (folder / "more").touch(),
    ],
    ids=["missing file", "other file", "foreign file"],
)
def test_a_damaged_state_is_refused_and_the_policy_left_alone(
    archive: PolicyArchive, embedded: Callable[..., Any], damage: Callable[[Path], Any]
) -> None:
    saved = archive.save(embedded(1))
    damage(archive.folder / saved.digest)
    policy = embedded(2)
    before = policy.digest()
    with pytest.raises(PolicyCheckpointError, match="its files are not those that were saved"):
        archive.load(policy, saved.digest)
    assert policy.digest() == before


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, embedded: Callable[..., Any]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PolicyCheckpointError, match="cannot be written"):
        PolicyArchive(tmp_path / "file" / "policies").save(embedded())
