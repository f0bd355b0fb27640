from __future__ import annotations

import pytest

from dga2d.agents.proposing.answers import MAX_ANSWER_CHARS, code_blocks, json_object, python_block
from dga2d.agents.proposing.errors import ProposalError

CODE = "def run(env_data, state, calc_makespan_fn):\n    return state\n"
BLOCK = f"```python\n{CODE}```"

GOOD_CODE = {
    "alone": BLOCK,
    "final line end": BLOCK + "\n\n",
    "prose around": f"Here you are:\n\n{BLOCK}\n\nIt is `fast`.",
    "no language": f"```\n{CODE}```",
    "py": f"```py\n{CODE}```",
    "upper case": f"``` Python title=x\n{CODE}```",
    "long fence": f"````python\n{CODE}````",
    "longer closing fence": f"```python\n{CODE}`````",
    "tildes": f"~~~python\n{CODE}~~~",
    "indented fence": f"  ```python\n{CODE}  ```",
    "windows line ends": BLOCK.replace("\n", "\r\n"),
    "byte-order mark": "\ufeff" + BLOCK,
    "thoughts": f"<think>\nmaybe ```python\nx = 1\n``` no\n</think>\n{BLOCK}",
    "inline marks in prose": f"Uses ``x`` and ```y```.\n{BLOCK}",
}
BAD_CODE = {
    "empty": ("", "size"),
    "blank": (" \n\t\n", "size"),
    "too long": ("x" * (MAX_ANSWER_CHARS + 1), "size"),
    "thoughts alone": (f"<think>\n{BLOCK}\n</think>\n", "size"),
    "thoughts cut off": (f"<think>\n{BLOCK}\n", "size"),
    "no block": (CODE, "code_block"),
    "two blocks": (f"{BLOCK}\n\nor\n\n{BLOCK}", "code_block"),
    "never closed": (f"```python\n{CODE}", "code_block"),
    "closed by fewer marks": (f"````python\n{CODE}```", "code_block"),
    "closed by other marks": (f"```python\n{CODE}~~~", "code_block"),
    "json": ("```json\n{}\n```", "code_block"),
    "empty block": ("```python\n\n```", "code_block"),
    "lone surrogate": (BLOCK.replace("state\n", "state  # \ud800\n"), "encoding"),
    "right-to-left override": (BLOCK.replace("state\n", "state  # \u202e\n"), "encoding"),
    "zero-width space": (BLOCK.replace("state\n", "state  # \u200b\n"), "encoding"),
    "null": (BLOCK.replace("state\n", "state  # \0\n"), "encoding"),
    "line separator": (BLOCK.replace("state\n", "state  # \u2028import os\n"), "encoding"),
    "form feed": (BLOCK.replace("state\n", "state\f\n"), "encoding"),
    "refusal of the offline proposer": ("NO_VARIATION: nothing to vary", "no_variation"),
}


@pytest.mark.parametrize("text", GOOD_CODE.values(), ids=GOOD_CODE)
def test_the_only_code_block_is_found(text: str) -> None:
    assert python_block(text) == CODE


@pytest.mark.parametrize(("text", "stage"), BAD_CODE.values(), ids=BAD_CODE)
def test_an_answer_without_exactly_one_clean_code_block_is_refused(text: str, stage: str) -> None:
    with pytest.raises(ProposalError) as refusal:
        python_block(text)
    assert refusal.value.stage == stage
    refusal.value.diagnostic.encode("ascii")


def test_visible_unicode_in_code_is_kept() -> None:
    code = "# Größe → 最適化 𝛼\nx = 'é'\n"
    assert python_block(f"```python\n{code}```") == code


def test_a_fence_inside_a_longer_fence_belongs_to_the_code() -> None:
    code = '"""\n```\nexample\n```\n"""\n'
    assert [block.text for block in code_blocks(f"````python\n{code}````")] == [code]


GOOD_JSON = {
    "alone": '{"a": [1]}',
    "white space": ' \n{"a": [1]}\n ',
    "fenced": '```json\n{"a": [1]}\n```',
    "prose and fence": 'Sure!\n```\n{"a": [1]}\n```\nDone.',
    "thoughts": '<think>{"b": 2}</think>{"a": [1]}',
}
BAD_JSON = {
    "empty": ("", "size"),
    "prose": ("I would add no edge.", "json"),
    "prose before": ('Answer: {"a": [1]}', "json"),
    "prose behind": ('{"a": [1]} as asked', "json"),
    "list": ("```json\n[1]\n```", "json"),
    "trailing comma": ('{"a": [1],}', "json"),
    "single quotes": ("{'a': [1]}", "json"),
    "cut off": ('{"a": [1', "json"),
    "repeated key": ('{"a": [1], "a": [2]}', "json"),
    "not a number": ('{"a": NaN}', "json"),
    "infinite": ('{"a": -Infinity}', "json"),
    "deep": ('{"a": ' + "[" * 90_000, "json"),
    "huge integer": ('{"a": ' + "9" * 5000 + "}", "json"),
    "two fences": ("```\n{}\n```\n```\n{}\n```", "json"),
    "surrogates in a fault": ('{"\\ud800": 1, "\\ud800": 2}', "json"),
}


@pytest.mark.parametrize("text", GOOD_JSON.values(), ids=GOOD_JSON)
def test_the_json_object_is_found(text: str) -> None:
    assert json_object(text) == {"a": [1]}


@pytest.mark.parametrize(("text", "stage"), BAD_JSON.values(), ids=BAD_JSON)
def test_anything_but_one_strict_json_object_is_refused(text: str, stage: str) -> None:
    with pytest.raises(ProposalError) as refusal:
        json_object(text)
    assert refusal.value.stage == stage
    refusal.value.diagnostic.encode("utf-8")
