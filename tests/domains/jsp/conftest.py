"""The job-shop specimens as fixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.domains.jsp import specimens

from dga2d.domains.contract import Instance


@pytest.fixture
def make_instance() -> Callable[..., Instance]:
    return specimens.random_instance


@pytest.fixture
def random_sequence() -> Callable[[Instance, int], NDArray[np.int32]]:
    return specimens.random_sequence


@pytest.fixture
def plain_makespan() -> Callable[[Instance, Any], float]:
    return specimens.plain_makespan
