"""Drawings as SVG: an element of a page, or a file of its own.

Nothing in it is taken over unescaped, no attribute holds a style, and colours are variables of the style
sheet, so that a page in the dark and a printed one need no other picture.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.drawing.described import describe
from dga2d.domains.drawing.layout import (
    CHARACTER,
    LINE,
    TITLE,
    TITLE_LINE,
    USUAL,
    Frame,
    Key,
    Sheet,
    Size,
    laid_out,
)
from dga2d.domains.drawing.looks import DASHES, EDGE, FILLS, HATCHES, STROKES, look_of
from dga2d.domains.drawing.model import Bar, Dots, Drawing, Line, Role, Segments, Shape, Solid

MOST_EXPLAINED: Final = 6000
"""Items up to which each has a text of its own; of more, those of a category share one."""
TILE: Final = 8
"""Side of a pattern in pixels."""
HATCH_PATHS: Final = (
    "",
    "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "M2 2h0M6 6h0",
    "M-2 6L2 10M0 0L8 8M6 -2L10 2",
    "M0 8L8 0M0 0L8 8",
    "M4 1.5a2.5 2.5 0 1 0 .01 0",
    "M0 4H8",
    "M0 4H8M4 0V8",
)
"""The patterns of `HATCHES`, in a tile."""


def _variables(prefix: str, colours: Sequence[str]) -> str:
    return " ".join(f"--{prefix}{place}: {colour};" for place, colour in enumerate(colours))


def _style() -> str:
    light, dark = _variables("s", STROKES), _variables("s", FILLS)
    rules = [f".drawn .k{place} {{ fill: var(--k{place}); }}" for place in range(len(FILLS))]
    rules += [f".drawn .s{place} {{ stroke: var(--s{place}); }}" for place in range(len(STROKES))]
    dashes = {place: " ".join(map(str, dash)) for place, dash in enumerate(DASHES) if dash}
    rules += [f".drawn .d{place} {{ stroke-dasharray: {dash}; }}" for place, dash in dashes.items()]
    return "\n".join(
        (
            f":root {{ --edge: {EDGE}; {_variables('k', FILLS)} {light} }}",
            f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}",
            *rules,
            _read_packaged("rules.css"),
        )
    )


def _read_packaged(name: str) -> str:
    return files("dga2d.domains.drawing").joinpath(name).read_text(encoding="utf-8")


STYLE: Final = _style()
"""Rules for drawings in a page."""


def svg_file(drawing: Drawing) -> str:
    """Return an SVG file."""
    style = f"<style>{_read_packaged('alone.css')}{STYLE}</style>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_svg(drawing, style)}\n'


def svg_element(drawing: Drawing, size: Size = USUAL) -> str:
    """Return an element for a page with `STYLE`. It may stand there more than once."""
    return _svg(drawing, "", size)


def _svg(drawing: Drawing, style: str, size: Size = USUAL) -> str:
    sheet = laid_out(drawing, size)
    mark = "p" + hashlib.blake2b(repr(drawing.title).encode(), digest_size=4).hexdigest()
    is_explained = _n_items(drawing) <= MOST_EXPLAINED
    body = "".join(
        part for frame in sheet.frames for part in (*_axes(frame), *_shapes(frame, mark, is_explained))
    )
    notes = drawing.notes
    if not is_explained:
        said = f"More than {MOST_EXPLAINED} items: those of one kind are explained together."
        notes = (*notes, said)
        sheet = sheet._replace(height=sheet.height + LINE, notes=(*sheet.notes, (sheet.height, said)))
    box = f'viewBox="0 0 {_n(sheet.width)} {_n(sheet.height)}"'
    paper = f'<path class="sheet" d="M0 0H{_n(sheet.width)}V{_n(sheet.height)}H0z"/>' if style else ""
    parts = (
        f"{style}<defs>{_patterns(drawing, mark)}</defs>{paper}",
        f"{_title(sheet)}{body}",
        '<g class="keys">',
        *_keys(sheet, mark),
        "</g>",
        *(_words(14, y, note) for y, note in sheet.notes),
    )
    label = _text(". ".join((drawing.title, *notes)))
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn" {box} role="img" aria-label="{label}">'
    return f"{opening}<desc>{_text(describe(sheet.frames))}</desc>{''.join(parts)}</svg>"


def _n_items(drawing: Drawing) -> int:
    return sum(len(shape.words) if isinstance(shape, Dots) else 1 for shape in drawing.shapes)


def _text(text: str) -> str:
    """Return text that is neither markup nor hidden, reversed or forbidden in XML."""
    return html.escape("".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text))


def _n(value: float) -> str:
    """Return a number of pixels with at most two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _title(sheet: Sheet) -> str:
    """Return the title, which a reader without eyes hears as one line."""
    first, *others = (_text(line) for line in sheet.title or ("",))
    more = "".join(f' <tspan x="14" dy="{_n(TITLE_LINE)}">{line}</tspan>' for line in others)
    return f'<text class="title" x="14" y="{_n(TITLE - 6)}">{first}{more}</text>'


def _words(x: float, y: float, text: str, kind: str = "", turn: str = "") -> str:
    attributes = (f' class="{kind}"' if kind else "") + (f' transform="{turn}"' if turn else "")
    return f'<text x="{_n(x)}" y="{_n(y)}"{attributes}>{_text(text)}</text>'


def _path(data: str, words: str = "", kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<path{attribute} d="{data}"' + (f"><title>{_text(words)}</title></path>" if words else "/>")


def _track(points: NDArray[Any]) -> str:
    """Return the path through points in pixels; a row of NaN interrupts it."""
    parts, is_on = [], False
    for x, y in np.round(points, 1).tolist():
        if x != x or y != y:
            is_on = False
            continue
        parts.append(f"{'L' if is_on else 'M'}{_n(x)} {_n(y)}")
        is_on = True
    return "".join(parts)


def _patterns(drawing: Drawing, mark: str) -> str:
    looks = {look_of(shape.category) for shape in drawing.shapes if isinstance(shape, Bar | Solid)}
    return "".join(
        f'<pattern id="{mark}-{look.colour}-{look.pattern}" width="{TILE}" height="{TILE}" '
        f'patternUnits="userSpaceOnUse"><rect class="k{look.colour}" width="{TILE}" height="{TILE}"/>'
        f'<path class="hatch" d="{HATCH_PATHS[look.pattern]}"/></pattern>'
        for look in sorted(looks)
        if HATCHES[look.pattern]
    )


def _fill(category: int, mark: str) -> str:
    look = look_of(category)
    if HATCHES[look.pattern]:
        return f'fill="url(#{mark}-{look.colour}-{look.pattern})"'
    return f'class="k{look.colour}"'


def _line_class(look: int | Role) -> str:
    if isinstance(look, str):
        return look
    found = look_of(look, len(DASHES))
    return f"s{found.colour} d{found.pattern}" if found.pattern else f"s{found.colour}"


def _axes(frame: Frame) -> Iterator[str]:
    panel, bottom, right = frame.panel, frame.y + frame.height, frame.x + frame.width
    if panel.title:
        yield _words(frame.x + frame.width / 2, frame.y - 5, panel.title, "middle")
    if not panel.has_frame:
        return
    for x, text in frame.x_ticks:
        yield _path(f"M{_n(x)} {_n(frame.y)}V{_n(bottom)}", kind="grid")
        yield _words(x, bottom + 13, text, "middle")
    for y, text in frame.y_ticks:
        if panel.y.ticks is None:
            yield _path(f"M{_n(frame.x)} {_n(y)}H{_n(right)}", kind="grid")
        yield _words(frame.x - 5, y + 4, text if len(text) <= 24 else text[:23] + "…", "end")
    yield _path(f"M{_n(frame.x)} {_n(frame.y)}V{_n(bottom)}H{_n(right)}", kind="frame")
    if panel.x.words:
        yield _words(frame.x + frame.width / 2, bottom + 13 + LINE, panel.x.words, "middle")
    if panel.y.words:
        texts = max((min(len(text), 24) for _, text in frame.y_ticks), default=0)
        x, y = max(frame.x - 10 - CHARACTER * texts, 11.0), frame.y + frame.height / 2
        yield _words(x, y, panel.y.words, "middle", f"rotate(-90 {_n(x)} {_n(y)})")


def _shapes(frame: Frame, mark: str, is_explained: bool) -> Iterator[str]:
    """Yield the shapes in their order, bars that follow each other by category."""
    bars: list[Bar] = []
    for shape in frame.panel.shapes:
        if isinstance(shape, Bar):
            bars.append(shape)
            continue
        yield from _bars(frame, bars, mark, is_explained)
        bars = []
        yield from _shape(frame, shape, mark, is_explained)
    yield from _bars(frame, bars, mark, is_explained)


def _bars(frame: Frame, bars: Sequence[Bar], mark: str, is_explained: bool) -> Iterator[str]:
    if not bars:
        return
    corners = frame.at(np.array([[[bar.left, bar.low], [bar.right, bar.high]] for bar in bars], dtype=float))
    low, high = corners.min(axis=1), corners.max(axis=1)
    places = [
        f"M{_n(x)} {_n(y)}h{_n(width)}v{_n(height)}h-{_n(width)}z"
        for (x, y), (width, height) in zip(low.tolist(), (high - low).tolist(), strict=True)
    ]
    groups: dict[int, list[int]] = {}
    for number, bar in enumerate(bars):
        groups.setdefault(bar.category, []).append(number)
    for category, numbers in groups.items():
        if is_explained:
            inside = "".join(_path(places[i], bars[i].words) for i in numbers)
        else:
            names = frame.panel.categories
            name = names[category] if category < len(names) else bars[numbers[0]].words
            inside = _path("".join(places[i] for i in numbers), f"{name} ({len(numbers)} bars)")
        yield f'<g class="items"><g {_fill(category, mark)}>{inside}</g></g>'
    for bar, (x, y), (width, height) in zip(bars, low.tolist(), (high - low).tolist(), strict=True):
        if bar.label and width >= CHARACTER * len(bar.label) + 2 and height >= 10:
            yield _chip(x + width / 2, y + height / 2, bar.label)


def _chip(x: float, y: float, label: str) -> str:
    width = 5.6 * len(label) + 2
    corner = f'x="{_n(x - width / 2)}" y="{_n(y - 5.5)}"'
    paper = f'<rect class="chip" {corner} width="{_n(width)}" height="11" rx="2"/>'
    return f"<g>{paper}{_words(x, y + 3.5, label, 'middle')}</g>"


def _shape(frame: Frame, shape: Shape, mark: str, is_explained: bool) -> Iterator[str]:
    if isinstance(shape, Line):
        kinds = (_line_class(shape.look), "dashed" * shape.is_dashed, "faint" * shape.is_faint)
        track = _track(frame.at(shape.points))
        yield f'<g class="lines">{_path(track, shape.words, " ".join(filter(None, kinds)))}</g>'
    elif isinstance(shape, Segments):
        ends = np.round(frame.at(shape.ends), 1).tolist()
        data = "".join(f"M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}" for (a, b), (c, d) in ends)
        crowd = " faint" if len(ends) > 400 else ""
        yield _path(data, shape.words, f"{_line_class(shape.look)} many{crowd}")
    elif isinstance(shape, Dots):
        yield from _dots(frame, shape, is_explained)
    elif isinstance(shape, Solid):
        yield _solid(frame, shape, mark)


def _dots(frame: Frame, shape: Dots, is_explained: bool) -> Iterator[str]:
    places = [f"M{_n(x)} {_n(y)}h0" for x, y in frame.at(shape.points).tolist()]
    kind = _line_class(shape.look).split()[0]
    if shape.shape == "ring":
        circles = (
            f'<circle class="ring {kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(shape.radius)}">'
            f"<title>{_text(words)}</title></circle>"
            for (x, y), words in zip(frame.at(shape.points).tolist(), shape.words, strict=True)
        )
        yield f"<g>{''.join(circles)}</g>"
    else:
        inside = (
            "".join(_path(place, words) for place, words in zip(places, shape.words, strict=True))
            if is_explained
            else _path("".join(places), shape.name or "points")
        )
        square = " square" * (shape.shape == "square")
        yield f'<g class="dots{square} {kind}" stroke-width="{_n(2 * shape.radius)}">{inside}</g>'
    for (x, y), label in zip(frame.at(shape.points).tolist(), shape.labels, strict=bool(shape.labels)):
        yield _words(x + shape.radius + 1, y - shape.radius, label)


def _solid(frame: Frame, shape: Solid, mark: str) -> str:
    faces = [_track(frame.at(face)) + "z" for face in (shape.top, shape.left, shape.right)]
    return (
        f'<g class="items"><g {_fill(shape.category, mark)}><title>{_text(shape.words)}</title>'
        f"{_path(''.join(faces))}{_path(faces[1], kind='shade')}{_path(faces[2], kind='deep')}</g></g>"
    )


def _keys(sheet: Sheet, mark: str) -> Iterator[str]:
    for key in sheet.keys:
        yield _key(key, mark)
        yield _words(key.x + 22, key.y + 4, key.name)


def _key(key: Key, mark: str) -> str:
    x, y = _n(key.x), _n(key.y)
    if key.mark == "fill" and isinstance(key.look, int):
        field = _path(f"M{x} {_n(key.y - 5)}h18v10h-18z")
        return f'<g class="items"><g {_fill(key.look, mark)}>{field}</g></g>'
    kind = _line_class(key.look)
    if key.mark == "line":
        dashed = " dashed" * key.is_dashed
        return f'<g class="lines">{_path(f"M{x} {y}h18", kind=kind + dashed)}</g>'
    return f'<g class="dots {kind.split()[0]}" stroke-width="7">{_path(f"M{_n(key.x + 9)} {y}h0")}</g>'
