"""Reads a model's answer: finds its code or JSON, and checks a proposed implementation without running it.

Answers come from outside. They are bounded before anything reads them, and everything that survives encodes
as UTF-8 and shows all its characters.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from dga2d.agents.proposing.errors import ProposalError, abbreviate
from dga2d.agents.proposing.errors import parse_source as parse_source
from dga2d.agents.proposing.kernel_code import inline_kernels
from dga2d.agents.proposing.tasks import ImplementTask, PoolEntry
from dga2d.domains.core.tunables import find_tunables
from dga2d.domains.source_rules import check_source

MAX_ANSWER_CHARS = 200_000
NO_CHANGE = "NO_CHANGE"
"""The whole answer of a proposer that would change nothing, where that is allowed."""
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


def clean_answer(text: str) -> str:
    """Return the answer with ``\\n`` line ends, without a byte-order mark or a leading ``<think>`` section.

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
    """Return all fenced blocks in order; a fence closes with at least as many of its own marks (CommonMark).

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
    """Return the text of the answer's only code block.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `cleaned`; ``code_block``: none, several, not Python, or never
        closed; ``encoding``: the code holds invisible or unencodable characters.
    """
    blocks = code_blocks(clean_answer(text))
    if len(blocks) != 1:
        found = f"{len(blocks)} code blocks" if blocks else "no code block"
        raise ProposalError("code_block", f"expected exactly one fenced Python code block, found {found}")
    block = blocks[0]
    if block.language not in ("", "python", "python3", "py"):
        raise ProposalError("code_block", f"expected a Python code block, found {abbreviate(block.language)}")
    if not block.text.strip():
        raise ProposalError("code_block", "the code block is empty")
    refuse_hidden_characters(block.text)
    return block.text


def refuse_hidden_characters(code: str) -> None:
    """Raise ProposalError (``encoding``) if a line of code holds an invisible character."""
    for number, line in enumerate(code.split("\n"), start=1):
        for char in line:
            if char != "\t" and unicodedata.category(char) in _HIDDEN:
                raise ProposalError(
                    "encoding", f"line {number} holds the invisible character U+{ord(char):04X}"
                )


def json_object(text: str) -> dict[str, Any]:
    """Return the answer's JSON object: the whole answer, or its only code block.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `cleaned`; ``json``: not one strict JSON object (repeated keys,
        NaN and infinities are refused).
    """
    text = clean_answer(text)
    if not text.lstrip().startswith("{"):
        blocks = code_blocks(text)
        if len(blocks) != 1:
            raise ProposalError("json", "expected one JSON object and nothing else")
        text = blocks[0].text
    return json_text(text)


def json_text(text: str) -> dict[str, Any]:
    """Return a strict JSON object. Raises ProposalError (``json``) as `json_object`."""
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except ProposalError:
        raise
    except RecursionError:
        raise ProposalError("json", "the JSON is nested too deeply") from None
    except ValueError as error:
        raise ProposalError("json", f"not valid JSON: {abbreviate(str(error), 200)}") from None
    if not isinstance(value, dict):
        raise ProposalError("json", f"expected a JSON object, found {type(value).__name__}")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ProposalError("json", f"the key {abbreviate(key)} occurs twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ProposalError("json", f"{name} is not a JSON number")


MAX_VIOLATIONS = 10
"""Violations of the source rules named in one diagnostic."""


def parse_implementation(text: str, task: ImplementTask) -> str:
    """Return the source text of an answer, ending in one line end.

    Raises
    ------
    ProposalError
        ``size``, ``code_block``, ``encoding``, ``no_variation``: see `python_block`; ``diff``: see
        `apply_replacements`; ``syntax``: not Python; ``signature``: no
        ``def run(env_data, state, calc_makespan_fn)``; ``source_rules``: another breach of `check_source`;
        ``duplicate``: runs like an implementation of the pool (`normalised_ast_digest`); ``near_copy``: too
        few new lines against one of them; ``kernels``: see `inline_kernels`; ``no_change``: the answer is
        `NO_CHANGE`, where that is allowed.
    """
    if task.allows_no_change and clean_answer(text).strip() == NO_CHANGE:
        raise ProposalError("no_change", "the proposer would change nothing")
    is_diff = task.answer_form == "diff" and SEARCH in text
    source = apply_replacements(text, task.base.source) if is_diff else python_block(text)
    source = inline_kernels(source.strip("\n") + "\n", task.kernels)
    digest = normalised_ast_digest(source)
    check_code(source)
    for entry in task.pool:
        if normalised_ast_digest(entry.source) == digest:
            raise ProposalError("duplicate", f"the code runs exactly like {entry.id}, which is in the pool")
    if (near := near_copy_of(source, task)) is not None:
        new = len(new_lines(source, near.source))
        least = f"at least {task.near_copy_lines} must be new beside constants and names"
        raise ProposalError("near_copy", f"{new} lines differ from {near.id}; {least}")
    return source


DIFF_STAGE = "diff"
"""Stage of an answer whose replacements do not fit."""
SEARCH, DIVIDER, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
"""Lines around the two texts of a replacement."""
MAX_REPLACEMENTS = 40


def apply_replacements(text: str, base: str) -> str:
    """Return `base` after the replacements of an answer, one after the other.

    Raises
    ------
    ProposalError
        ``size``, ``no_variation``: see `clean_answer`; ``encoding``: a new text holds invisible characters;
        ``diff``: a replacement is not closed, is one of too many, or what it looks for does not occur exactly
        once.
    """
    found = list(_replacements(clean_answer(text)))
    if len(found) > MAX_REPLACEMENTS:
        raise ProposalError(DIFF_STAGE, f"{len(found)} replacements, at most {MAX_REPLACEMENTS} are allowed")
    for number, (old, new) in enumerate(found, start=1):
        count = base.count(old) if old.strip() else 0
        if count != 1:
            what = "is empty" if not old.strip() else f"occurs {count} times, expected exactly once"
            raise ProposalError(DIFF_STAGE, f"what replacement {number} looks for {what}:\n{old[:400]}")
        base = base.replace(old, new)
    refuse_hidden_characters(base)
    return base


def _replacements(text: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of each replacement, whole lines."""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.rstrip() != SEARCH:
            continue
        parts: tuple[list[str], list[str]] = ([], [])
        for end, part in zip((DIVIDER, REPLACE), parts, strict=True):
            for inner in lines:
                if inner.rstrip() == end:
                    break
                part.append(f"{inner}\n")
            else:
                raise ProposalError(DIFF_STAGE, f"a replacement has no line {end!r}; was the answer cut off?")
        yield "".join(parts[0]), "".join(parts[1])


def check_code(source: str) -> None:
    """Hold the source rules.

    Raises
    ------
    ProposalError
        ``syntax``, ``signature`` or ``source_rules``, with the first violations.
    """
    if violations := check_source(source):
        stage = violations[0].rule if violations[0].rule in ("syntax", "signature") else "source_rules"
        lines = [f"line {v.line}: {v.message}" if v.line else v.message for v in violations[:MAX_VIOLATIONS]]
        raise ProposalError(stage, "\n".join(lines))


def near_copy_of(source: str, task: ImplementTask) -> PoolEntry | None:
    """Return the first member of the pool that `source` nearly repeats, or ``None``.

    A configuration of a member is no copy where configurations are allowed.
    """
    if task.allows_configurations and configured_member(source, task.pool):
        return None
    least = task.near_copy_lines
    return next((e for e in task.pool if least and len(new_lines(source, e.source)) < least), None)


MAX_IDEA_CHARS = 300


@lru_cache(maxsize=1024)
def idea_of(source: str) -> str:
    """Return the first sentence of a module's docstring on one line, shortened; empty where there is none."""
    text = " ".join((ast.get_docstring(parse_source(source)) or "").split())
    sentence = re.match(r".*?[.!?](?= |$)", text)
    return (sentence.group() if sentence else text)[:MAX_IDEA_CHARS]


def function_names(source: str) -> list[str]:
    """Return the names of a module's functions besides ``run``, in their order."""
    nodes = parse_source(source).body
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name != "run"]


def configured_member(source: str, pool: Iterable[PoolEntry]) -> PoolEntry | None:
    """Return the first member of a pool that `source` differs from in constants alone; ``None`` if none is.

    Constants are all numbers, and the values of declared choices.
    """
    digest = normalised_ast_digest(source, keeps_constants=False)
    return next((e for e in pool if normalised_ast_digest(e.source, keeps_constants=False) == digest), None)


def new_lines(source: str, before: str) -> tuple[str, ...]:
    """Return the statements of `source` that `before` lacks, in order; names of locals and numbers, layout,
    comments and docstrings do not count.

    Raises
    ------
    ProposalError
        ``syntax``: one of the texts is not Python.
    """
    there = Counter(statement_lines(before))
    found = []
    for line in statement_lines(source):
        if there[line]:
            there[line] -= 1
        else:
            found.append(line)
    return tuple(found)


@lru_cache(maxsize=1024)
def statement_lines(source: str) -> tuple[str, ...]:
    """Return the lines of code with ``_`` for every local and ``0`` for every number. Raises as
    `new_lines`."""
    tree = _bare_tree(source, keeps_constants=False)
    try:
        _RenameLocals(_keyword_names(tree), is_uniform=True).visit(tree)
        return tuple(line.strip() for line in ast.unparse(tree).splitlines() if line.strip())
    except RecursionError:
        raise ProposalError("syntax", "an expression of the code is nested too deeply") from None


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=1024)
def normalised_ast_digest(source: str, *, keeps_constants: bool = True) -> str:
    """Return the SHA-256 (64 hex digits) of code without layout, comments, docstrings and names of locals.

    Two texts with the same digest run alike, but for their constants where those are not kept. Locals keep
    their names where the module passes a keyword argument of that name, since there the name has a meaning.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    tree = _bare_tree(source, keeps_constants)
    try:
        _RenameLocals(_keyword_names(tree)).visit(tree)
        return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    except RecursionError:
        raise ProposalError("syntax", "an expression of the code is nested too deeply") from None


def _bare_tree(source: str, keeps_constants: bool) -> ast.Module:
    """Return the tree of a text without docstrings and, unless they are kept, with 0 for every constant."""
    tree = parse_source(source)
    choices = set() if keeps_constants else {t.name for t in find_tunables(source) if t.kind == "choice"}
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[:1] = []
        if keeps_constants:
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            is_signed = isinstance(node.value, ast.UnaryOp) and isinstance(node.value.operand, ast.Constant)
            if is_signed or node.targets[0].id in choices:
                node.value = ast.Constant(0)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
            node.value = 0
    return tree


def _keyword_names(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg)


class _RenameLocals(ast.NodeTransformer):
    """Numbers the locals of every function in order of appearance, or makes them all alike; class bodies
    keep their names."""

    def __init__(self, kept: frozenset[str], *, is_uniform: bool = False) -> None:
        self._kept = kept
        self._is_uniform = is_uniform
        self._names: Mapping[str, str] = {}
        self._count = 0

    def _visit_function(self, node: Any) -> Any:
        outer = self._names
        inner = dict(outer)
        for name in _bound_names(node):
            if name in self._kept:
                inner.pop(name, None)
            else:
                inner[name] = "_" if self._is_uniform else f"<{self._count}>"
                self._count += 1
        for outside in _outside_body(node):
            self.visit(outside)
        self._names = inner
        for argument in _arguments(node.args):
            argument.arg = inner.get(argument.arg, argument.arg)
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child)
        self._names = outer
        if getattr(node, "name", None) in outer:
            node.name = outer[node.name]
        return node

    visit_FunctionDef = _visit_function
    visit_AsyncFunctionDef = _visit_function
    visit_Lambda = _visit_function

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _arguments(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [*found, *(extra for extra in (args.vararg, args.kwarg) if extra)]


def _outside_body(node: _Function) -> Iterator[ast.AST]:
    """Yield decorators, defaults and annotations, which are evaluated where the function is defined."""
    yield from (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None))
    yield from (a.annotation for a in _arguments(node.args) if a.annotation)
    if not isinstance(node, ast.Lambda):
        yield from node.decorator_list
        if node.returns:
            yield node.returns


def _bound_names(node: _Function) -> tuple[str, ...]:
    """Return arguments and assigned names of one function in order of appearance, without nested scopes."""
    found = dict.fromkeys(argument.arg for argument in _arguments(node.args))
    shared: set[str] = set()
    waiting: list[ast.AST] = list(reversed(node.body)) if isinstance(node.body, list) else [node.body]
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.Global | ast.Nonlocal):
            shared.update(child.names)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            found.setdefault(child.name)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            found.setdefault(child.id)
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(reversed(list(ast.iter_child_nodes(child))))
    return tuple(name for name in found if name not in shared)
