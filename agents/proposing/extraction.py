"""Finds the machine-readable part of an answer: one code block, or one JSON object.

Answers come from outside. They are bounded before anything reads them, and everything that survives
encodes as UTF-8 and shows all its characters.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, NoReturn

from dga2d.agents.proposing.errors import ProposalError, shown

MAX_ANSWER_CHARS = 200_000
NO_VARIATION = "NO_VARIATION:"
"""First word of the offline proposer's answer when there is nothing it could propose."""

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block of an answer."""

    language: str
    """Lower-case first word after the fence, possibly empty."""
    text: str


def cleaned(text: str) -> str:
    """The answer with ``\\n`` line ends, without a byte-order mark or a leading ``<think>`` section.

    Raises
    ------
    ProposalError
        ``size``: longer than ``MAX_ANSWER_CHARS``, empty or nothing but thoughts; ``no_variation``: the
        offline proposer had nothing to propose.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise ProposalError("size", f"the answer has {len(text)} characters, {MAX_ANSWER_CHARS} are allowed")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("<think>"):
        _, is_closed, text = text.partition("</think>")
        if not is_closed:
            raise ProposalError("size", "the answer ends within its <think> section; was it cut off?")
    if not text.strip():
        raise ProposalError("size", "the answer is empty")
    if text.startswith(NO_VARIATION):
        raise ProposalError("no_variation", text.removeprefix(NO_VARIATION).strip())
    return text


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """All fenced blocks in order; a fence closes with at least as many of its own marks (CommonMark).

    Raises
    ------
    ProposalError
        ``code_block``: the last block is never closed.
    """
    blocks: list[CodeBlock] = []
    marks, language, lines = "", "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if not marks:
            if fence:
                words = fence["info"].split()
                marks, language, lines = fence["marks"], words[0].lower() if words else "", []
        elif fence and fence["marks"].startswith(marks) and not fence["info"].strip():
            blocks.append(CodeBlock(language, "".join(f"{line}\n" for line in lines)))
            marks = ""
        else:
            lines.append(line)
    if marks:
        raise ProposalError("code_block", "the code block is never closed; was the answer cut off?")
    return tuple(blocks)


def python_block(text: str) -> str:
    """The text of the answer's only code block.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `cleaned`; ``code_block``: none, several, not Python, or never
        closed; ``encoding``: the code holds invisible or unencodable characters.
    """
    blocks = code_blocks(cleaned(text))
    if len(blocks) != 1:
        found = f"{len(blocks)} code blocks" if blocks else "no code block"
        raise ProposalError("code_block", f"expected exactly one fenced Python code block, found {found}")
    block = blocks[0]
    if block.language not in ("", "python", "python3", "py"):
        raise ProposalError("code_block", f"expected a Python code block, found {shown(block.language)}")
    if not block.text.strip():
        raise ProposalError("code_block", "the code block is empty")
    _refuse_hidden_characters(block.text)
    return block.text


def _refuse_hidden_characters(code: str) -> None:
    for number, line in enumerate(code.split("\n"), start=1):
        for char in line:
            if char != "\t" and unicodedata.category(char) in _HIDDEN:
                raise ProposalError(
                    "encoding", f"line {number} holds the invisible character U+{ord(char):04X}"
                )


def json_object(text: str) -> dict[str, Any]:
    """The answer's JSON object: the whole answer, or the only code block of one.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `cleaned`; ``json``: not one strict JSON object (repeated keys,
        NaN and infinities are refused).
    """
    text = cleaned(text)
    if not text.lstrip().startswith("{"):
        blocks = code_blocks(text)
        if len(blocks) != 1:
            raise ProposalError("json", "expected one JSON object and nothing else")
        text = blocks[0].text
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except ProposalError:
        raise
    except RecursionError:
        raise ProposalError("json", "the JSON is nested too deeply") from None
    except ValueError as error:
        raise ProposalError("json", f"not valid JSON: {shown(str(error), 200)}") from None
    if not isinstance(value, dict):
        raise ProposalError("json", f"expected a JSON object, found {type(value).__name__}")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ProposalError("json", f"the key {shown(key)} occurs twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ProposalError("json", f"{name} is not a JSON number")
