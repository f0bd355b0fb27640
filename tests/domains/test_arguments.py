"""Long functions of the libraries say what their arguments and slots are, in a table beside them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(str(files("dga2d.domains")))
MANY = 9
"""Arguments from which on a function needs the table."""
HIGH = 3
"""A slot such as ``counts[3]`` needs it, too, from this number on."""
COMMON = tomllib.loads((ROOT / "shared" / "arguments.toml").read_text(encoding="utf-8"))
LIBRARIES = sorted({path.parents[0] for path in ROOT.glob("**/library/arguments.toml")})


def slots(function: ast.FunctionDef) -> dict[str, set[int]]:
    """Numbers that the function writes or reads arguments at."""
    arguments = {argument.arg for argument in function.args.args}
    found = defaultdict(set)
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(number))):
                if name in arguments:
                    found[name].add(number)
    return found


def long_functions(library: Path) -> Iterator[ast.FunctionDef]:
    for path in sorted(library.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and is_long(node):
                yield node


def is_long(function: ast.FunctionDef) -> bool:
    high = (number for numbers in slots(function).values() for number in numbers)
    return len(function.args.args) >= MANY or max(high, default=0) >= HIGH


def numbers_in(text: str) -> set[int]:
    """Slots that an entry names, such as ``[2]`` or ``[2] to [5]``."""
    named = {int(number) for number in re.findall(r"\[(\d+)\]", text)}
    for first, last in re.findall(r"\[(\d+)\] to \[(\d+)\]", text):
        named.update(range(int(first), int(last) + 1))
    return named


def test_every_library_with_long_functions_has_a_table() -> None:
    with_code = {path for path in ROOT.glob("**/library") if any(long_functions(path))}
    assert with_code == set(LIBRARIES)
    assert len(LIBRARIES) == 14


@pytest.mark.parametrize("library", LIBRARIES, ids=[path.parent.name for path in LIBRARIES])
def test_the_table_says_what_every_argument_and_slot_is(library: Path) -> None:
    table = tomllib.loads((library / "arguments.toml").read_text(encoding="utf-8"))
    used, missing = set(), []
    for function in long_functions(library):
        numbers = slots(function)
        for argument in (argument.arg for argument in function.args.args):
            own = f"{function.name}.{argument}"
            key = own if own in table else argument
            said = table.get(key, COMMON.get(argument))
            used.add(key)
            if said is None or not numbers[argument] <= numbers_in(said):
                missing.append((own, sorted(numbers[argument])))
    assert missing == []
    assert sorted(set(table) - used) == []
