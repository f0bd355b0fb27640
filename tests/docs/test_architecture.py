"""The walks through the program name files and functions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
MODULE = re.compile(r"`((?:agents|domains|events|replay|runtime|store)/[\w/]+\.py)`(?::\s+`([\w.]+)`)?")


def names_in(path: Path) -> set[str]:
    """Functions and classes of a module, methods as ``Class.method`` and alone."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{child.name}" for child in node.body if hasattr(child, "name")}
    return names


def test_every_file_and_function_that_is_named_exists() -> None:
    named = MODULE.findall(PAGE)
    assert len(named) > 25
    for file, name in named:
        assert (ROOT / file).is_file(), file
        assert not name or name in names_in(ROOT / file), f"{file} has no {name}"


def test_the_way_of_an_answer_takes_ten_files_at_most() -> None:
    walk = SECTIONS["One answer of a model, from the wire into a pool"]
    assert 5 <= len({file for file, _ in MODULE.findall(walk)}) <= 10


def test_every_room_is_in_the_table() -> None:
    for room in ("events", "store", "replay", "agents", "domains", "runtime"):
        assert f"| `{room}/` |" in PAGE
