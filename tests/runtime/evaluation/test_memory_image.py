"""What a worker leaves out of its memory is not missed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from dga2d.runtime.evaluation import memory_image
memory_image.import_numba()
import numba, numpy as np

@numba.njit
def solved(a, b):
    return np.linalg.solve(a, b) @ b

value = float(solved(2.0 * np.eye(2), np.ones(2)))
loaded = sorted({"coverage", "scipy.linalg", "numpy.f2py"} & sys.modules.keys())
memory_image.settle()
import scipy.linalg
print(json.dumps([value, loaded, scipy.linalg.norm([3.0, 4.0]), float(solved(np.eye(2), np.ones(2)))]))
"""


@pytest.mark.slow
def test_compiled_linear_algebra_works_and_scipy_stays_whole() -> None:
    command = [sys.executable, "-P", "-c", SCRIPT]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(out) == [1.0, [], 5.0, 2.0]
