"""The claim that a domain begun from the skeleton has nothing of the skeleton's problem left in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from dga2d.domains.claims.descriptions import CARD_TEXTS
from dga2d.domains.claims.examination import Contradictions
from dga2d.domains.core.contract import Domain

SKELETON = "dga2d.domains.skeleton"
TEST_FILE = "test_domain.py.txt"


def skeleton_texts(name: str) -> dict[str, str]:
    """Return path and text of every file of the skeleton as it stands in a package called `name`."""
    return dict(_texts(files(SKELETON), name, ""))


def _texts(folder: Traversable, name: str, below: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _texts(entry, name, f"{below}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            path = f"tests/test_{name}.py" if entry.name == TEST_FILE else below + entry.name
            yield path, _rename_package(entry.read_text(encoding="utf-8"), name)


def _rename_package(text: str, name: str) -> str:
    """Return a text of the skeleton as it stands in the package `name`: relative imports, the new name.

    Relative imports are sorted behind all others, as formatters want them.
    """
    text = re.sub(rf"^( *)from {re.escape(SKELETON)}\.", r"\1from .", text, flags=re.MULTILINE)
    return _own_imports_last(text).replace("skeleton", name)


def _own_imports_last(text: str) -> str:
    """Put a blank line between a module's imports of other packages and its relative ones."""
    lines = text.split("\n")
    own = [i for i, line in enumerate(lines) if line.startswith("from .")]
    if not own or not own[0] or not lines[own[0] - 1].startswith(("from ", "import ", ")")):
        return text
    moved = [lines[i] for i in own]
    last = max(i for i, line in enumerate(lines) if line.startswith(("from ", "import ")))
    rest = [line for i, line in enumerate(lines[: last + 1]) if i not in own]
    return "\n".join([*rest, "", *moved, *lines[last + 1 :]])


def leftovers_claim(domain: Domain, folder: Path) -> Contradictions:
    """No text of the skeleton speaks of data that the domain does not have.

    As long as the card's environment is the skeleton's, everything may stay; then it is still a knapsack.
    `folder` is the domain's package.
    """
    from dga2d.domains.skeleton.card import CARD

    gone = sorted(set(CARD.environment) - set(domain.card.environment))
    if not gone:
        return "the data are the skeleton's own"
    for text in CARD_TEXTS:
        if getattr(domain.card, text) == getattr(CARD, text):
            yield f"card.py: {text!r} is still the skeleton's"
    texts = skeleton_texts(domain.name)
    for path, text in sorted(texts.items()):
        own = folder / path
        if not own.is_file() or own.read_text(encoding="utf-8", errors="replace") != text:
            continue
        spoken_of = [key for key in gone if re.search(rf"\b{key}\b", text)]
        if spoken_of:
            yield f"{path} is still the skeleton's and speaks of {', '.join(spoken_of)}: change or delete it"
    return f"{len(texts)} files of the skeleton"
