"""A user's key is the user's alone, the same in every process, and made once."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from dga2d.runtime.user_files import KEY_BYTES, user_key

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no mode to read there")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "dga2d" / "keys"


def test_a_key_is_made_once_and_only_its_user_may_read_it(folder: Path) -> None:
    key = user_key("snapshots")
    assert key is not None
    assert len(key) == KEY_BYTES
    assert user_key("snapshots") == key
    [path] = folder.iterdir()
    assert (path.name, stat.S_IMODE(path.stat().st_mode)) == ("snapshots.key", 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    assert user_key("another") != key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o606])
def test_a_key_that_others_may_read_or_write_is_replaced(folder: Path, mode: int) -> None:
    key = user_key("snapshots")
    (folder / "snapshots.key").chmod(mode)
    assert user_key("snapshots") not in (key, None)
    assert stat.S_IMODE((folder / "snapshots.key").stat().st_mode) == 0o600


def test_a_key_of_another_length_is_replaced(folder: Path) -> None:
    user_key("snapshots")
    (folder / "snapshots.key").write_bytes(b"short")
    assert len(user_key("snapshots") or b"") == KEY_BYTES


def test_all_who_ask_at_once_get_the_same_key() -> None:
    start, found = threading.Barrier(8), list[bytes | None]()

    def ask() -> None:
        start.wait()
        found.append(user_key("snapshots"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert found[0] is not None


def test_there_is_no_key_where_none_can_be_kept(folder: Path) -> None:
    folder.parent.parent.joinpath("dga2d").write_text("a file where the folder should be")
    assert user_key("snapshots") is None
