"""Further hostile programs, by what they are after; each differs from the others in its means.

A family is a table name → text that defines ``attack(env_data, state, calc)``. What must become of each, in
every sandbox mode and under every kind of budget, stands in ``outcomes.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.system.attacks.corpus import escape, exhaustion, forging, information, persistence

FAMILIES = {
    "escape": escape.PROGRAMS,
    "exhaustion": exhaustion.PROGRAMS,
    "forging": forging.PROGRAMS,
    "information": information.PROGRAMS,
    "persistence": persistence.PROGRAMS,
}
TEXTS = {
    f"{family}: {name}": text for family, programs in FAMILIES.items() for name, text in programs.items()
}
OUTCOMES: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("outcomes.json").read_text(encoding="utf-8")
)
"""Name → failure kinds of which an evaluation must give one; ``none``: it may end well."""
