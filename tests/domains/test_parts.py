"""The files of the libraries repeat nothing: what operators share stands in a part, and nothing else does."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from itertools import chain
from pathlib import Path

from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Operator
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.own.domain import BASELINES

ROOT = Path(str(files("dga2d.domains")))
LIBRARIES = sorted(
    {path.parent for path in ROOT.glob("**/library/*") if path.suffix == ".py" or path.name == "parts"}
)
SHORT = 8
"""Lines below the first one of a function that may be written twice."""


def definitions(source: str) -> list[str]:
    """Functions, classes and constants of a text's top level, as dumps, equal where the meaning is."""
    return [
        ast.dump(node)
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)
    ]


def generic() -> Iterator[Operator]:
    """Operators of the encodings that problems in one file take."""
    for folder in BASELINES:
        yield from libraries.load_library(ROOT / "own" / folder)


def test_every_definition_of_a_part_stands_in_two_texts_or_more() -> None:
    texts = Counter(
        entry
        for operator in (*chain(*(get_domain(name).operators() for name in domain_names())), *generic())
        for implementation in operator.implementations
        for entry in definitions(implementation.source)
    )
    parts = [path for library in LIBRARIES for path in sorted((library / "parts").glob("*.py"))]
    assert len(parts) > 50
    rare = [
        (str(path), entry)
        for path in parts
        for entry in definitions(path.read_text(encoding="utf-8"))
        if texts[entry] < 2
    ]
    assert rare == []


def test_no_function_is_written_twice() -> None:
    seen: dict[str, str] = {}
    twice = []
    for library in LIBRARIES:
        for path in sorted(library.rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= SHORT:
                    place = f"{path}:{node.lineno}"
                    if (first := seen.setdefault(ast.dump(node), place)) != place:
                        twice.append((node.name, first, place))
    assert twice == []
