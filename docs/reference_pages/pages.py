"""The pages of the reference with a generated part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reference_pages import contract_page, events_page

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "events.md": events_page.generated,
    "domain-contract.md": contract_page.generated,
}
"""Page → what stands behind its mark."""

MARK = "<!-- From here on written by `make reference`. -->"


def page_text(name: str) -> str:
    """The page as it should be: its own text up to the mark, then what is generated."""
    written, mark, _ = (REFERENCE / name).read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise ValueError(f"{name} has no line {MARK}")
    return f"{written}{MARK}\n\n{PAGES[name]()}\n"


def write() -> None:
    """Write all pages."""
    for name in PAGES:
        (REFERENCE / name).write_text(page_text(name), encoding="utf-8")
