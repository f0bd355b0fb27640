"""Puts an operator's file and the definitions it takes from parts together into a text that stands alone.

A file of ``library/`` may begin with ``from parts.MODULE import NAME, …``. ``library/parts/MODULE.py`` holds
functions, classes and constants that several files share; ``parts.DOMAIN.MODULE`` is one of another domain
or of a folder of ``domains/shared``. In the bundled text the import is replaced by the named definitions and
by all that they need, from their own part or, by the same kind of import, from another: each once, constants
behind the imports, functions and classes ahead of the file's own, in the order of the parts' texts. Comments
directly above a definition come along; imports are merged.

Parts are closed: what a definition of theirs uses is defined in the part, imported by it, or a builtin. Where
operators differ in one function within shared ones, the part says ``from parts.taker import NAME``, and each
file that takes from it defines NAME, or takes it from another part (as ``import NAME as NAME`` if it does not
use it itself, which tells linters that this is no slip).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from itertools import groupby
from pathlib import PurePath

from dga2d.domains.core.definitions import (
    PARTS,
    TAKER,
    Definition,
    Import,
    SourceText,
    take_apart,
    takes_from_parts,
)
from dga2d.domains.core.errors import BundlingError


@dataclass(frozen=True)
class _Linked:
    """A text with the parts it takes from."""

    text: SourceText
    lenders: dict[str, _Linked]
    """Name → the part it is taken from; without those that the taker brings."""


class Bundler:
    """Bundles the files of one library; each part is read once.

    The libraries of the folders in `domains` lend their parts to others, too.
    """

    def __init__(self, library: Traversable, domains: Traversable) -> None:
        self._library = library
        self._domains = domains
        self._parts: dict[str, _Linked] = {}

    def text(self, file: str) -> str:
        """Return the text of `file`; one that takes nothing from parts stays as it is.

        ``PLACE/FILE`` is a file of ``domains/shared/PLACE/library``, any other name one of the library.

        Raises
        ------
        BundlingError
            It takes what no part defines, a name would be bound twice, a part is not closed or takes from
            itself in a circle, or :func:`take_apart` refuses a text.
        """
        place = self._place(file)
        source = place.read_text(encoding="utf-8")
        if not takes_from_parts(source):
            return source
        own = self._link(take_apart(str(place), source), self._library, ())
        return _Bundle(own.text, _taken_by(own)).text()

    def _place(self, file: str) -> Traversable:
        place, _, name = file.rpartition("/")
        return self._domains / "shared" / place / "library" / name if place else self._library / name

    def _link(self, text: SourceText, library: Traversable, above: tuple[str, ...]) -> _Linked:
        """Return `text`, which stands in `library`, with its lenders; the texts `above` led to it."""
        lenders = {}
        for name, (module, line) in text.taken.items():
            if module == TAKER and above:
                continue
            if module == TAKER:
                raise BundlingError(text.path, line, f"{name} is to be taken from the file that it stands in")
            lenders[name] = self._lender(module, (text.path, line), library, (*above, text.path))
            if lenders[name].text.definition_of(name) is None:
                raise BundlingError(text.path, line, f"parts.{module} defines no {name}")
        return _Linked(text, lenders)

    def _lender(
        self, module: str, place: tuple[str, int], library: Traversable, above: tuple[str, ...]
    ) -> _Linked:
        domain, _, stem = module.rpartition(".")
        home = self._home(domain, stem) if domain else library
        file = home / PARTS / f"{stem}.py"
        path = str(file)
        if path in above:
            circle = " → ".join(PurePath(one).stem for one in (*above[above.index(path) :], path))
            reason = f"parts take from each other in a circle ({circle}); let a third hold what both need"
            raise BundlingError(*place, reason)
        if path not in self._parts:
            if not file.is_file():
                raise BundlingError(*place, f"there is no parts.{module}; {PARTS}/ holds {_list_parts(home)}")
            part = take_apart(path, file.read_text(encoding="utf-8"))
            _require_closed(part)
            self._parts[path] = self._link(part, home, above)
        return self._parts[path]

    def _home(self, domain: str, stem: str) -> Traversable:
        """Return the library of another domain, or of a folder of ``shared``, that holds the part `stem`."""
        homes = [self._domains / domain / "library", self._domains / "shared" / domain / "library"]
        return next((home for home in homes if (home / PARTS / f"{stem}.py").is_file()), homes[0])


def _list_parts(library: Traversable) -> str:
    folder = library / PARTS
    entries = folder.iterdir() if folder.is_dir() else ()
    return ", ".join(sorted(entry.name[:-3] for entry in entries if entry.name.endswith(".py"))) or "nothing"


def _taken_by(own: _Linked) -> list[tuple[SourceText, Definition]]:
    """Return what `own` takes, in the order of the parts' texts, with the part that each stands in."""
    names: dict[str, set[str]] = {}
    waiting = [(own.lenders[name], name, line) for name, (_, line) in own.text.taken.items()]
    while waiting:
        part, name, line = waiting.pop()
        taken = names.setdefault(part.text.path, set())
        definition = part.text.definition_of(name)
        if definition is None or name in taken:
            continue
        taken.update(definition.names)
        for need in definition.needs:
            holder = part.lenders.get(need, part)
            if holder is part and need in part.text.taken:
                holder = _brought(own, need, part.text.path, line)
            waiting.append((holder, need, line))
    return [
        (part.text, definition)
        for part in _in_order(own, {})
        for definition in part.text.definitions
        if names.get(part.text.path, set()).intersection(definition.names)
    ]


def _brought(own: _Linked, name: str, asking: str, line: int) -> _Linked:
    """Return where `own` has what a part asks it for: itself, or the part it takes it from."""
    if name not in own.lenders and own.text.definition_of(name) is None:
        reason = f"{PurePath(asking).name} asks for {name}; define it, or take it from a part"
        raise BundlingError(own.text.path, line, reason)
    return own.lenders.get(name, own)


def _in_order(taker: _Linked, found: dict[str, _Linked]) -> Iterable[_Linked]:
    """Return the parts below `taker`, each behind those that it takes from itself."""
    for lender in taker.lenders.values():
        if lender.text.path not in found:
            _in_order(lender, found)
            found[lender.text.path] = lender
    return found.values()


def _require_closed(part: SourceText) -> None:
    known = {name for definition in part.definitions for name in definition.names}
    known.update(part.taken, (found.local for found in part.imports))
    for definition in part.definitions:
        for name in sorted(definition.needs - known):
            reason = (
                f"{definition.names[0]} uses {name}, which is no builtin and which the part does not bind"
            )
            raise BundlingError(part.path, definition.line, f"{reason}; make it an argument or bring it here")


class _Bundle:
    """One file with what it takes."""

    def __init__(self, own: SourceText, taken: list[tuple[SourceText, Definition]]) -> None:
        self._own = own
        self._taken = taken
        self._refuse_clashes()

    def text(self) -> str:
        own, skipped = self._own, {*self._own.import_lines}
        start = own.import_lines[0]
        functions = [definition.first for definition in own.definitions if not definition.is_constant]
        stop = min(functions, default=len(own.lines) + 1)
        between = [own.lines[n - 1] for n in range(start, stop) if n not in skipped]
        constants = [definition.text for _, definition in self._taken if definition.is_constant]
        shared = [definition.text for _, definition in self._taken if not definition.is_constant]
        head = "\n".join([*own.lines[: start - 1], *_merge_imports(self._imports())])
        middle = "\n".join(part for part in ("\n".join(constants), "\n".join(between).strip("\n")) if part)
        tail = "\n".join(own.lines[stop - 1 :])
        opening = f"{head}\n\n{middle}" if middle else head
        return "\n\n\n".join([opening, *shared, tail])

    def _imports(self) -> Iterator[Import]:
        yield from self._own.imports
        for part, definition in self._taken:
            yield from (found for found in part.imports if found.local in definition.needs)

    def _refuse_clashes(self) -> None:
        own = self._own
        bound: dict[str, tuple[str, int]] = {}
        places = [(own, definition) for definition in own.definitions]
        for text, definition in [*places, *self._taken]:
            for name in definition.names:
                place = text.path, definition.line
                if bound.setdefault(name, place) != place:
                    other = "{}:{}".format(*bound[name])
                    raise BundlingError(*place, f"{name} is bound twice, here and at {other}; rename one")
        imported: dict[str, Import] = {}
        for found in self._imports():
            if found.local in bound:
                raise BundlingError(*bound[found.local], f"{found.local} is an import as well; rename one")
            if found.clashes(imported.setdefault(found.local, found)):
                reason = f"{found.local} is imported as two things by the file and its parts"
                raise BundlingError(own.path, own.import_lines[0], reason)


def _merge_imports(imports: Iterable[Import]) -> Iterator[str]:
    """Import statements in the usual order: the standard library, a blank line, the rest."""
    before: int | None = None
    for (section, _, module), group in groupby(sorted({*imports}, key=_order), lambda one: _order(one)[:3]):
        if before not in (None, section):
            yield ""
        before = section
        yield from _statements(module, list(group))


def _order(one: Import) -> tuple[int, bool, str, int, str, str]:
    """Return the section, kind of statement and module; constants ahead of classes and functions."""
    root = one.module.partition(".")[0]
    section = 0 if root == "__future__" else 1 if root in sys.stdlib_module_names else 2
    rank = 0 if one.name.isupper() else 1 if one.name[:1].isupper() else 2
    return section, bool(one.name), one.module, rank, one.name, one.alias


def _statements(module: str, names: list[Import]) -> list[str]:
    if not names[0].name:
        return [f"import {module} as {one.alias}" if one.alias else f"import {module}" for one in names]
    parts = [f"{one.name} as {one.alias}" if one.alias else one.name for one in names]
    return [f"from {module} import {', '.join(parts)}"]
