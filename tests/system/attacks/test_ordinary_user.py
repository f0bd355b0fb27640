"""The attacks again as an ordinary user, when the tests themselves run as root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NOBODY = 65534


def can_run_as_nobody() -> bool:
    """Whether nobody may execute this interpreter, which can lie in root's home."""
    try:
        subprocess.run([sys.executable, "-c", ""], user=NOBODY, group=NOBODY, extra_groups=[], check=True)
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif("os.geteuid() != 0", reason="not root: the attack suite ran as an ordinary user already")
def test_every_attack_is_contained_for_an_ordinary_user_too() -> None:
    if not can_run_as_nobody():
        pytest.skip("an ordinary user may not execute this interpreter")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x"]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        os.chown(folder, NOBODY, NOBODY)
        run = subprocess.run(
            [*command, f"--basetemp={folder}/tests", str(HERE / "test_attacks.py")],
            cwd=HERE.parents[2],
            env={"HOME": folder, "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=840,
        )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout
