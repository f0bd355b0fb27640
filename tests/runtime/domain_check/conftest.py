"""Domains of a user's own: a folder for them on the domain path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dga2d.domains.core.plugins import use_domain_path


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A folder on the domain path."""
    folder = tmp_path / "own"
    folder.mkdir()
    use_domain_path([folder])
    yield folder
    use_domain_path([])
