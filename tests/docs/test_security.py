"""Each promise of the page on security has a test beside it, and the test exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "security.md"
PROGRAMS = ROOT / "tests" / "system" / "attacks" / "programs"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[(\w+)\])?`")


def sections() -> dict[str, str]:
    """Text below each heading of the second level."""
    first, *parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert first.startswith("# ")
    return dict(zip(parts[::2], parts[1::2], strict=True))


def promises() -> list[str]:
    """Items of lists and rows of tables that promise something."""
    found = sections()
    del found["Who is trusted with what"], found["What is not promised"]
    text = "\n".join(found.values())
    items = re.findall(r"^- .*(?:\n  .*)*", text, re.M)
    rows = [row for row in re.findall(r"^\|.*\|$", text, re.M) if not re.match(r"\| layer|\|---", row)]
    assert len(items) > 20
    assert len(rows) > 5
    return items + rows


def test_every_promise_has_a_test() -> None:
    bare = [promise for promise in promises() if not NAMED.search(promise)]
    assert bare == []


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8").count("::test_") == len(named)
    for file, test, program in named:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:async )?def {test}\(", text, re.M), f"{file} has no {test}"
        if program:
            assert (PROGRAMS / f"{program}.py").is_file(), program
