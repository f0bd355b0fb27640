"""Problems in files that a test makes known are forgotten after it: a process has one list of domains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dga2d.domains.core import plugins


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """Forget the files that a test made known."""
    before = dict(plugins._problem_files), dict(plugins._recorded)
    yield
    plugins._problem_files, plugins._recorded = before
