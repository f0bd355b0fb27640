"""The reference values of generated instances, as the scripts that compute them keep them in a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_references(path: Path) -> dict[str, Any]:
    """Entries of the table by instance, ``group/name``; none where there is no file yet."""
    if not path.exists():
        return {}
    references: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["references"]
    return references


def write_references(path: Path, provenance: Mapping[str, Any], references: Mapping[str, Any]) -> None:
    """Write the table with its provenance, keys sorted."""
    table = {"provenance": provenance, "references": references}
    path.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
