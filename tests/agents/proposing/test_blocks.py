from __future__ import annotations

import ast

import pytest

from dga2d.agents.proposing.blocks import Block, Module, exchange_block, read_module

HEAD = "import math\nimport numpy as np\n"


def module_with(block: str, head: str = HEAD, tail: str = "") -> Module:
    return read_module(f"{head}\n\n# exchangeable: step\n{block}\n{tail}")


def swap(target: str, donor: str, head: str = HEAD, donor_head: str = HEAD) -> str | None:
    into, out_of = module_with(target, head), module_with(donor, donor_head)
    return exchange_block(into, into.blocks[0], out_of, out_of.blocks[0])


TARGET = "def step(x, n):\n    return x + n\n"


def test_only_marked_top_level_functions_are_blocks(parent_source: str) -> None:
    (block,) = read_module(parent_source).blocks
    assert (block.name, block.function, block.needs) == ("kick", "kick", ("njit",))
    assert block.text.startswith("@njit(cache=True)\ndef kick(")
    assert read_module("# exchangeable: a\n\ndef f(x):\n    return x\n").blocks == ()
    assert read_module("def g():\n    # exchangeable: a\n    def f(x):\n        return x\n").blocks == ()
    assert read_module("'''\n# exchangeable: a\n'''\ndef f(x):\n    return x\n").blocks == ()


def test_the_donors_function_takes_the_place_and_the_name(parent_source: str, donor_source: str) -> None:
    target, donor = read_module(parent_source), read_module(donor_source)
    text = exchange_block(target, target.blocks[0], donor, donor.blocks[0])
    assert text is not None
    ast.parse(text)
    assert 'def kick(order, rng):\n    """Several exchanges.' in text
    assert "def shake" not in text
    assert "STRENGTH = 4  # tunable: int 1..9\n# exchangeable: kick\n@njit(cache=True)\ndef kick" in text
    before, behind = parent_source.split("# exchangeable: kick\n")
    assert text.startswith(before)
    assert text.endswith(behind[behind.index("\n\ndef run") :])


@pytest.mark.parametrize(
    "donor",
    [
        "def step(x, n):\n    return x * n\n",
        "def other(x, n):\n    return np.abs(x) + math.exp(n)\n",
        "def step(x, n):\n    return step(x, n - 1) if n else x\n",
        "def step(x: int, n: int) -> int:\n    return sum(y for y in range(n))\n",
    ],
    ids=["same name", "imports shared", "recursive", "annotated"],
)
def test_a_self_contained_function_of_the_same_signature_is_exchanged(donor: str) -> None:
    text = swap(TARGET, donor)
    assert text is not None
    found = read_module(text)
    assert [block.function for block in found.blocks] == ["step"]
    assert found.blocks[0].needs == tuple(n for n in module_with(donor).blocks[0].needs)


@pytest.mark.parametrize(
    ("donor", "donor_head"),
    [
        ("def step(x):\n    return x\n", HEAD),
        ("def step(n, x):\n    return x - n\n", HEAD),
        ("def step(x, n=1):\n    return x - n\n", HEAD),
        ("def other(x, n):\n    return other(x, n - 1) if n else x\n", HEAD),
        ("def step(x, n):\n    return helper(x)\n", f"{HEAD}\ndef helper(x):\n    return x\n"),
        ("def step(x, n):\n    return np.floor(x)\n", "import math as np\n"),
        ("def step(x, n):\n    return heappop(x)\n", "from heapq import heappop\n"),
        ("def step(x, n):\n    return x * TABLE\n", "TABLE = tuple(range(3))\n"),
    ],
    ids=[
        "fewer arguments",
        "other order",
        "default",
        "recursive under another name",
        "helper",
        "other meaning",
        "missing import",
        "constant that is computed",
    ],
)
def test_a_function_that_would_not_fit_is_left_alone(donor: str, donor_head: str) -> None:
    assert swap(TARGET, donor, donor_head=donor_head) is None


def test_blocks_of_another_name_are_never_exchanged() -> None:
    target = module_with(TARGET)
    block = target.blocks[0]
    other = Block("jump", *(getattr(block, field) for field in list(Block.__annotations__)[1:]))
    assert exchange_block(target, block, target, other) is None


def test_a_constant_both_modules_have_keeps_the_targets_value() -> None:
    text = swap(TARGET, "def step(x, n):\n    return x * SIZE\n", HEAD + "SIZE = 3\n", HEAD + "SIZE = 9\n")
    assert text is not None
    assert text.count("SIZE =") == 1
    assert "SIZE = 3" in text


def test_a_helper_that_is_the_same_in_both_modules_may_be_used() -> None:
    head = f"{HEAD}\ndef helper(x):\n    return x\n"
    assert swap(TARGET, "def step(x, n):\n    return helper(x)\n", head, head) is not None
