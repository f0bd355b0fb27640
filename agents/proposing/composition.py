"""Implementations made one: improvements that are repeated from perturbed solutions.

The texts of one or two improving operators and of a perturbing one, behind that of an initialiser where one
is to be replaced, are merged. All keep their code, tunables and exchangeable blocks; a new ``run`` alternates
improvement and perturbation (iterated local search; with two improving operators their neighbourhoods take
turns until neither gains). An improvement is given a part of the budget, so one that never stops by itself,
such as annealing, can be repeated, too. How large the parts are, what is accepted and when the search returns
to its best solution are tunables. Definitions that are the same as the first text's stand once, the other
names of later texts get a prefix.

Such a search can be taken apart again, with its constants as they have become since, so that whoever varies
it exchanges one part and keeps the others.

References
----------
H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, Handbook of Metaheuristics, 2003 (acceptance
and perturbation). N. Mladenović, P. Hansen, Variable neighborhood search, Computers & Operations Research,
1997 (neighbourhoods that take turns).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dga2d.agents.proposing.answers import parse_source
from dga2d.domains.core.statements import Statement, split_statements
from dga2d.domains.core.tunables import find_tunables

CONSTRUCT, IMPROVE, DEEPEN, PERTURB = "construct_once", "improve_once", "deepen_once", "perturb_once"
TITLE = "Iterated local search."
"""First line of a search's docstring, by which `take_apart` knows it."""
THEN = "\n\nThen:\n"
"""What stands between the summaries of the parts in a docstring."""
OWN_NAMES = frozenset({"KICKS_IN_VAIN", "PARTS", "WARMTH", "Part", "improve_all"})
"""Names that the new text needs for itself."""
_DRIVER = """

KICKS_IN_VAIN = {patience}  # tunable: int 1..100
PARTS = {parts}  # tunable: int 1..400
WARMTH = {warmth}  # tunable: float 0.0..2.0


class Part:
    \"\"\"One of PARTS equal parts of a budget, or what is left of it, for one improvement.

    It begins when the improvement first asks what remains: preparing may take longer than a short part.
    \"\"\"

    def __init__(self, budget):
        self.budget = budget
        self.start = None

    def charge(self, units=1):
        self.budget.charge(units)

    def remaining(self):
        if self.start is None:
            self.start = self.budget.remaining()
            self.length = max(min(1.0 / PARTS, self.start), 1e-9)
        left = 1.0 - (self.start - self.budget.remaining()) / self.length
        return max(0.0, min(left, 1.0))

    def exhausted(self):
        return self.remaining() <= 0.0 or self.budget.exhausted()


def improve_all(env_data, state, calc_makespan_fn):
    \"\"\"Improve `state` with a part of the budget{turns}.\"\"\"
    env_data = {{**env_data, "budget": Part(env_data["budget"])}}
{improvement}

def run(env_data, state, calc_makespan_fn):
    \"\"\"{summary}\"\"\"
    budget = env_data["budget"]
{start}    state = improve_all(env_data, state, calc_makespan_fn)
    score = calc_makespan_fn(state)
    best, best_score = state.copy(), score
    failures, kicks, change = 0, 0, 0.0
    while not budget.exhausted():
        trial = perturb_once(env_data, state.copy(), calc_makespan_fn)
        trial = improve_all(env_data, trial, calc_makespan_fn)
        trial_score = calc_makespan_fn(trial)
        budget.charge({round_units})
        kicks += 1
        change += abs(trial_score - score)
        temperature = WARMTH * budget.remaining() * change / kicks
        worse = trial_score - score
        if worse <= 0.0 or (temperature > 0.0 and env_data["rng"].random() < math.exp(-worse / temperature)):
            state, score = trial.copy(), trial_score
        failures += 1
        if trial_score < best_score:
            best, best_score, failures = trial.copy(), trial_score, 0
        if failures >= KICKS_IN_VAIN:
            state, score, failures = best.copy(), best_score, 0
    return best
"""
_ONE = "    return improve_once(env_data, state, calc_makespan_fn)\n"
_TURNS = """    state = improve_once(env_data, state, calc_makespan_fn)
    score = calc_makespan_fn(state)
    while not env_data["budget"].exhausted():
        trial = deepen_once(env_data, state.copy(), calc_makespan_fn)
        trial = improve_once(env_data, trial, calc_makespan_fn)
        trial_score = calc_makespan_fn(trial)
        if trial_score >= score:
            break
        state, score = trial, trial_score
    return state
"""


@dataclass(frozen=True)
class Habits:
    """Values of a search's tunables, at first or as they have become."""

    patience: int
    """Kicks in vain before it returns to its best solution."""
    parts: int
    """Improvements that share the budget, if each takes all it may."""
    warmth: float = 0.0
    """Temperature, in mean changes of the score by a kick, at which worse solutions are accepted at first; it
    falls with the budget that is left. 0 accepts what is no worse."""
    round_units: int = 1
    """Work units that a round, a kick and its improvement, counts beside their own; no tunable. Where nothing
    can be improved any more both end at once, and rounds that cost time must not count for nothing."""


@dataclass(frozen=True)
class Search:
    """The parts of an iterated search, each a text with a ``run`` of its own."""

    improvers: tuple[str, ...]
    """One or two."""
    perturbation: str
    constructor: str | None
    """Initialiser that it starts from, if it does not start from what it is given."""
    habits: Habits
    """Its constants as they are; `Habits.round_units` is what the text counts."""


def is_iterated(source: str) -> bool:
    """Return whether a text was made here, so that iterating it again gains nothing."""
    return re.search(rf"^def {IMPROVE}\(", source, flags=re.MULTILINE) is not None


def iterate(
    improvers: Sequence[str],
    perturbation: str,
    habits: Habits,
    constructor: str | None = None,
    title: str = TITLE,
) -> str | None:
    """Return an iterated search around the ``run`` of one or two `improvers`, kicked by that of
    `perturbation` and started from what `constructor`, an initialiser, makes, or else from what it is given.
    `title` begins its docstring.

    ``None`` where one of the texts is such a search already, or has taken the names that are needed.

    Raises
    ------
    ProposalError
        ``syntax``: a text is not Python.
    """
    parts = [*zip(improvers, (IMPROVE, DEEPEN), strict=False), (perturbation, PERTURB)]
    if constructor is not None:
        parts.insert(0, (constructor, CONSTRUCT))
    if any(is_iterated(source) for source, _ in parts):
        return None
    merged = merge_modules(tuple(parts), title, OWN_NAMES)
    if merged is None:
        return None
    is_paired = len(improvers) > 1
    return merged + _DRIVER.format(
        patience=habits.patience,
        parts=habits.parts,
        warmth=habits.warmth,
        round_units=habits.round_units,
        turns=", both ways in turns until neither gains" if is_paired else "",
        improvement=_TURNS if is_paired else _ONE,
        summary="Construct a solution first, then improve, perturb and improve again; the best found."
        if constructor is not None
        else "Improve `state`, then perturb and improve again while the share lasts; the best found.",
        start="" if constructor is None else f"    state = {CONSTRUCT}(env_data, state, calc_makespan_fn)\n",
    )


@lru_cache(maxsize=256)
def merge_modules(parts: tuple[tuple[str, str], ...], title: str, taken: frozenset[str]) -> str | None:
    """Return one module made of several texts, each with a name for its ``run``; the first keeps all others.

    Draws that differ in a search's constants alone merge the same texts: what was merged lately is kept.
    ``None`` where two texts want the same name, or one that is `taken`.

    Raises
    ------
    ProposalError
        ``syntax``: a text is not Python.
    """
    imports: dict[str, None] = {"import math": None}
    texts: list[str] = []
    before: tuple[Statement, ...] = ()
    bound = {*taken, "math"}
    for source, role in parts:
        pieces = _pieces(source)
        imports.update((_with_comments(piece).strip(), None) for piece in pieces if piece.is_import)
        shared = _shareable(before, pieces)
        own = [piece for piece in pieces if not piece.is_import and piece.meaning not in shared]
        prefix = role.partition("_")[0] if before else ""
        renamed = {name: _add_prefix(prefix, name) for piece in own for name in piece.names} | {"run": role}
        if bound & {*renamed.values()}:
            return None
        bound.update(renamed.values())
        texts += [_rename(_with_comments(piece), renamed) for piece in own]
        before = before or pieces
    heading = THEN.join(_summary(source) for source, _ in parts)
    return "\n\n\n".join((f'"""{title}\n\n{heading}\n"""', "\n".join(imports), *texts))


def take_apart(source: str) -> Search | None:
    """Return the parts of an iterated search that bears the usual title, `iterate` undone.

    Every part gets what its ``run`` rests on, by the names that it had before, and keeps its constants as
    they are now. Definitions that nothing uses are left behind. ``None`` where the text is no such search any
    more.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    pieces = _pieces(source)
    by_name = {name: piece for piece in pieces for name in piece.names}
    roles = [role for role in (CONSTRUCT, IMPROVE, DEEPEN, PERTURB) if role in by_name]
    title, _, heading = _summary(source).partition("\n\n")
    summaries = heading.split(THEN)
    habits = _habits_of(source)
    if title != TITLE or not {IMPROVE, PERTURB} <= {*roles} or len(summaries) != len(roles) or habits is None:
        return None
    used = {role: _rests_on(role, by_name) for role in roles}
    texts = {}
    for role, summary in zip(roles, summaries, strict=True):
        elsewhere = set().union(*(used[other] for other in roles if other != role))
        prefix = "" if role == roles[0] else role.partition("_")[0]
        renamed = {name: _without_prefix(prefix, name) for name in used[role] - elsewhere} | {role: "run"}
        has_driver = used[role] & {*OWN_NAMES, *roles, "run"} != {role}
        if has_driver or len({*renamed.values()} | (used[role] & elsewhere)) < len(used[role]):
            return None
        texts[role] = _module(summary, [p for p in pieces if used[role] & {*p.names}], renamed)
    return Search(
        tuple(texts[role] for role in (IMPROVE, DEEPEN) if role in texts),
        texts[PERTURB],
        texts.get(CONSTRUCT),
        habits,
    )


def _habits_of(source: str) -> Habits | None:
    """Return the constants of a search; ``None`` where its driver is not as `iterate` wrote it."""
    rounds = re.search(r"^        budget\.charge\((\d+)\)\n        kicks \+= 1$", source, flags=re.MULTILINE)
    values = {tunable.name: tunable.value for tunable in find_tunables(source)}
    patience, parts, warmth = (values.get(name) for name in ("KICKS_IN_VAIN", "PARTS", "WARMTH"))
    if not (isinstance(patience, int) and isinstance(parts, int) and isinstance(warmth, int | float)):
        return None
    return None if rounds is None else Habits(patience, parts, float(warmth), int(rounds[1]))


def _rests_on(name: str, by_name: dict[str, Statement]) -> set[str]:
    """Return the names at the top level that a definition needs, its own among them."""
    found, waiting = set[str](), [name]
    while waiting:
        piece = by_name.get(waiting.pop())
        if piece is not None and not found >= {*piece.names}:
            found.update(piece.names)
            waiting += sorted(piece.reads)
    return found


def _without_prefix(prefix: str, name: str) -> str:
    longest = f"{prefix.upper()}_" if name.isupper() else f"{prefix}_"
    return name.removeprefix(longest) if prefix else name


def _module(summary: str, pieces: Sequence[Statement], renamed: dict[str, str]) -> str:
    imports = [_with_comments(piece).strip() for piece in pieces if piece.is_import]
    texts = [_rename(_with_comments(piece), renamed) for piece in pieces if not piece.is_import]
    return "\n\n\n".join((f'"""{summary}"""', *(["\n".join(imports)] if imports else []), *texts)) + "\n"


def _add_prefix(prefix: str, name: str) -> str:
    if not prefix:
        return name
    return f"{prefix.upper()}_{name}" if name.isupper() else f"{prefix}_{name}"


def _shareable(first: tuple[Statement, ...], second: tuple[Statement, ...]) -> set[str]:
    """Return the meanings of definitions that need one copy: they are equal, and so is all they rest on."""
    shared = {piece.meaning for piece in first} & {piece.meaning for piece in second}
    while True:
        foreign = {
            name
            for piece in second
            if not piece.is_import and (piece.meaning not in shared or "run" in piece.names)
            for name in piece.names
        }
        kept = {piece.meaning for piece in second if piece.meaning in shared and not piece.reads & foreign}
        kept -= {piece.meaning for piece in second if "run" in piece.names}
        if kept == shared:
            return shared
        shared = kept


def _summary(source: str) -> str:
    return (ast.get_docstring(parse_source(source)) or "").replace('"""', "'''").replace("\\", "\\\\")


@lru_cache(maxsize=256)
def _pieces(source: str) -> tuple[Statement, ...]:
    """Return the statements of a text without its docstring and other strings."""
    statements = split_statements(source, parse_source(source))
    return tuple(statement for statement in statements if not statement.is_constant_expression)


def _with_comments(piece: Statement) -> str:
    """Return a statement with the comments above it."""
    return "\n".join((*filter(str.strip, piece.above), piece.text))


def _rename(text: str, names: dict[str, str]) -> str:
    """Return the text with names replaced wherever they are not attributes, methods or fields of classes."""
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    methods, fields = _members(text)
    out, done, before = [], 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and before != ".":
            is_member = (before == "def" and token.start[0] in methods) or token.start in fields
            start = offsets[token.start[0] - 1] + token.start[1]
            out += [text[done:start], token.string if is_member else names[token.string]]
            done = start + len(token.string)
        before = token.string
    return "".join((*out, text[done:]))


@lru_cache(maxsize=1024)
def _members(text: str) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Return the lines in which methods of classes begin, and where the names of fields stand: both are read
    as attributes, and a text may have something else of the same name at its top level."""
    methods, fields = set[int](), set[tuple[int, int]]()
    for node in ast.walk(ast.parse(text)):
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            match member:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    methods.add(member.lineno)
                case ast.Assign(targets=targets):
                    fields.update((n.lineno, n.col_offset) for n in targets if isinstance(n, ast.Name))
                case ast.AnnAssign(target=ast.Name() as name):
                    fields.add((name.lineno, name.col_offset))
    return frozenset(methods), frozenset(fields)
