"""Variants of hostile programs: pieces put together anew, other numbers and names, other moments."""

from __future__ import annotations

import ast
import random
from collections.abc import Sequence

NUMBERS = (-1, 0, 1, 3, 9, 255, 4096, 2**16, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**64, 10**400)
STRINGS = (
    *("@DATABASE@", "@FORBIDDEN_FOLDER@/evil", "@HOME@/.dga2d-attack", "/tmp/dga2d-attack", "/proc/self/mem"),
    *("/dev/shm/dga2d-attack", "/proc/1/environ", "/etc/passwd", "..", "", "\0", "\ud800", "{0.__class__}"),
)
FUNCTIONS = (
    *(
        "open",
        "read",
        "write",
        "close",
        "dup2",
        "pipe",
        "mkdir",
        "unlink",
        "rename",
        "symlink",
        "link",
        "chmod",
    ),
    *("fork", "kill", "killpg", "setsid", "chdir", "listdir", "stat", "truncate", "mkfifo", "_exit", "abort"),
)
WRAPPINGS = (
    "try:\n    {}\nexcept BaseException:\n    pass",
    "for _ in range(3):\n    {}",
    "while True:\n    try:\n        {}\n    except BaseException:\n        continue",
    "import threading\nthreading.Thread(target=lambda: attack(env_data, state, calc)).start()\n{}",
    "import atexit\natexit.register(lambda: attack(env_data, state, calc))\n{}",
    "import gc\ngc.collect()\n{}",
)


def mutant(texts: Sequence[str], choose: random.Random) -> str:
    """Return a program made of one to three of `texts` that Python can at least parse."""
    tree = ast.parse(choose.choice(texts))
    for _ in range(choose.randrange(1, 5)):
        choose.choice((_splice, _renumber, _rename, _reorder, _wrap, _strike_at_import))(tree, texts, choose)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _attack(tree: ast.Module) -> ast.FunctionDef:
    """The function ``attack``, or another one of a program that defines it otherwise."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return next((node for node in functions if node.name == "attack"), functions[-1])


def _splice(tree: ast.Module, texts: Sequence[str], choose: random.Random) -> None:
    """Put statements of another program's attack into this one's, with all that stands around them."""
    other = ast.parse(choose.choice(texts))
    body, strange = _attack(tree).body, _attack(other).body
    at = choose.randrange(len(body) + 1)
    body[at:at] = strange[: choose.randrange(1, len(strange) + 1)]
    tree.body[:0] = [node for node in other.body if node is not _attack(other)]


def _renumber(tree: ast.Module, _: Sequence[str], choose: random.Random) -> None:
    """Replace a number or a text by one at the edge of what is expected."""
    constants = [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, str)
    ]
    if constants:
        constant = choose.choice(constants)
        if isinstance(constant.value, int):
            constant.value = choose.choice(NUMBERS)
        else:
            constant.value = choose.choice(STRINGS)


def _rename(tree: ast.Module, _: Sequence[str], choose: random.Random) -> None:
    """Call another function of ``os``."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    ]
    if calls:
        choose.choice(calls).attr = choose.choice(FUNCTIONS)


def _reorder(tree: ast.Module, _: Sequence[str], choose: random.Random) -> None:
    """Move, repeat or drop a statement of the attack."""
    body = _attack(tree).body
    statement = body.pop(choose.randrange(len(body)))
    for _again in range(choose.randrange(3) if body else 1):
        body.insert(choose.randrange(len(body) + 1), statement)


def _wrap(tree: ast.Module, _: Sequence[str], choose: random.Random) -> None:
    """Let the attack be stubborn, repeated, threaded or late."""
    attack = _attack(tree)
    wrapping = ast.parse(choose.choice(WRAPPINGS).format("inner_statement"))
    inner = list(attack.body)
    for node in ast.walk(wrapping):
        block = getattr(node, "body", None)
        if isinstance(block, list) and any(ast.unparse(part) == "inner_statement" for part in block):
            at = next(i for i, part in enumerate(block) if ast.unparse(part) == "inner_statement")
            block[at : at + 1] = inner
    attack.body = [*wrapping.body, ast.Return(ast.Name("state", ast.Load()))]


def _strike_at_import(tree: ast.Module, _: Sequence[str], __: random.Random) -> None:
    """Attack as soon as the text is imported, too."""
    name = _attack(tree).name
    call = f"try:\n    {name}({{'n': 20, 'points': None}}, None, None)\nexcept BaseException:\n    pass"
    tree.body.extend(ast.parse(call).body)
