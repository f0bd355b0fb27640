"""No test fails because the machine is busy, and whole programs are tried first: with two workers, the files
that wait and start processes should not be left to one of them at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from dga2d.domains.core import plugins

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

HERE = Path(__file__).parent
FIRST = ("system/attacks", "system", "runtime", "browser", "docs", "agents")
"""Folders of tests that come before all others, in this order."""


@pytest.fixture(autouse=True)
def no_problem_file_is_left_behind() -> Iterator[None]:
    """Forget problems in files that a test made known: a process has one list of domains."""
    before = dict(plugins._problem_files), dict(plugins._recorded)
    yield
    plugins._problem_files, plugins._recorded = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.path.relative_to(HERE).as_posix()))


def _place(path: str) -> int:
    return next((n for n, folder in enumerate(FIRST) if path.startswith(f"{folder}/")), len(FIRST))
