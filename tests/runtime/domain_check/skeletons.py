"""Skeleton domains with faults in them, installed ones, and the program beside them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from dga2d.runtime.domain_check import write_skeleton


def skeleton(folder: Path, name: str, *changes: tuple[str, str, str]) -> Path:
    """A skeleton domain with `changes` (file, old text, new text)."""
    write_skeleton(name, folder)
    for file, old, new in changes:
        path = folder / name / file
        text = path.read_text(encoding="utf-8")
        assert old in text, (file, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder / name


def installed(folder: Path, name: str) -> Path:
    """A folder as pip would leave it: a package and the metadata of its distribution."""
    site = folder / "site"
    skeleton(site, name)
    metadata = site / f"{name}_domain-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-domain\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[dga2d.domains]\n{name} = {name}:DOMAIN\n")
    return site


def dga2d(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    url = f"sqlite+aiosqlite:///{folder / 'log.db'}"
    return subprocess.run(
        [sys.executable, "-P", "-m", "dga2d", *arguments],
        cwd=folder,
        env={**os.environ, "DGA2D_STORE": url, **environment},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


def half_edited(folder: Path, name: str) -> Path:
    """A skeleton whose data are another problem's: what read ``values`` now has to read ``profits``.

    Its owner has changed what defines the problem, but not the operators, the picture and OR-Tools' model.
    """
    package = skeleton(folder, name)
    for file in ("card", "reader", "generator", "decoder", "verifier", "domain"):
        path = package / f"{file}.py"
        path.write_text(re.sub(r"\bvalues\b", "profits", path.read_text(encoding="utf-8")), encoding="utf-8")
    return package
