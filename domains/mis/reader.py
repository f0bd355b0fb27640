"""Strict reader of DIMACS graphs: clique instances (``.clq``) and independent-set instances (``.mis``).

A ``.clq`` file states a maximum-clique problem, so its *complement* is the graph of the independent set; a
``.mis`` file (BHOSLIB) states the graph itself. Both may be gzipped.

References
----------
D. S. Johnson, M. A. Trick (eds.), Cliques, Coloring, and Satisfiability: Second DIMACS Implementation
Challenge, 1996: the format. K. Xu, BHOSLIB: Benchmarks with Hidden Optimum Solutions, 2004: ``.mis`` files.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.shared.integer_lines import UNUSUAL_BLANKS, integer

SUFFIXES: Final = (".clq", ".clq.gz", ".mis", ".mis.gz")
MAX_VERTICES: Final = 10_000
"""Largest graph read: its adjacency matrix takes 100 MB."""
MAX_TEXT_BYTES: Final = 128 * 1024 * 1024
"""Longest text read, after decompression; the largest DIMACS clique file has 70 MB."""
_EDGES: Final = re.compile(r"(?:e [0-9]{1,9} [0-9]{1,9}\r?\n)+")


class _Header(NamedTuple):
    vertices: int
    edges: int


def read_graph(path: Path) -> NDArray[np.uint8]:
    """Return the adjacency matrix, uint8 `(n, n)`, of the graph whose largest independent set is sought.

    Lines are ``c`` comments, one ``p edge N M`` (or ``p col N M``) before all that follow, ``n i w`` vertex
    weights (checked and ignored) and ``e i j`` edges; vertices count from 1.

    Raises
    ------
    InstanceFormatError
        The file cannot be read or decompressed, is longer than `MAX_TEXT_BYTES`, has another suffix, an
        unknown line, a number that is none, a vertex out of 1 … N, more than `MAX_VERTICES` vertices, a
        loop, an edge or weight that is given twice, or another number of edges than M.
    """
    if not path.name.lower().endswith(SUFFIXES):
        raise InstanceFormatError(path, None, f"expected a file name ending in {', '.join(SUFFIXES)}")
    adjacency = parse_graph(_text(path), path)
    if path.name.lower().endswith((".clq", ".clq.gz")):
        np.subtract(1, adjacency, out=adjacency)
        np.fill_diagonal(adjacency, 0)
    return adjacency


def _text(path: Path) -> str:
    try:
        if path.name.lower().endswith(".gz"):
            with gzip.open(path) as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        if len(data) > MAX_TEXT_BYTES:
            raise InstanceFormatError(path, None, f"has more than {MAX_TEXT_BYTES} bytes of text")
        return data.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as text: {error}") from error


def parse_graph(text: str, path: Path | str) -> NDArray[np.uint8]:
    """Return the graph a text states, as it stands: uint8 `(n, n)`, symmetric, zero diagonal.

    Raises
    ------
    InstanceFormatError
        As for :func:`read_graph`; `path` names the file.
    """
    start = text.find("\ne ") + 1
    regular = _EDGES.fullmatch(text, start) if start else None
    header = _Header(0, 0)
    weighted: set[int] = set()
    edges: list[tuple[int, int]] = []
    numbers: list[int] = []
    for number, tokens in _lines(text[:start] if regular else text, path):
        if tokens[0] == "p":
            header = _header(path, number, tokens, header)
        elif header.vertices == 0:
            raise InstanceFormatError(path, number, "expected the line 'p edge N M' before this one")
        elif tokens[0] == "n":
            _check_weight(path, number, tokens, header, weighted)
        else:
            edges.append(_edge(path, number, tokens, header))
            numbers.append(number)
    if header.vertices == 0:
        raise InstanceFormatError(path, None, "the line 'p edge N M' is missing")
    if regular:
        pairs = np.array(text[start:].replace("e", " ").split(), dtype=np.int64).reshape(-1, 2)
        first = text.count("\n", 0, start) + 1
        return _adjacency(path, header, pairs, np.arange(first, first + len(pairs)))
    return _adjacency(path, header, np.array(edges, np.int64).reshape(-1, 2), np.array(numbers, np.int64))


def _lines(text: str, path: Path | str) -> Iterator[tuple[int, list[str]]]:
    """Return the line number and words of each line that is neither blank nor a comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line == "c" or line.startswith(("c ", "c\t", "c\r")) or not line.strip():
            continue
        if set(line.rstrip("\r")) & UNUSUAL_BLANKS:
            raise InstanceFormatError(path, number, "words are separated by other blanks than space and tab")
        tokens = line.split()
        lengths = {"p": 4, "n": 3, "e": 3}
        if tokens[0] not in lengths:
            raise InstanceFormatError(path, number, f"expected a line c, p, n or e, got {tokens[0][:40]!r}")
        if len(tokens) != lengths[tokens[0]]:
            raise InstanceFormatError(
                path, number, f"expected {lengths[tokens[0]]} words on this line, got {len(tokens)}"
            )
        yield number, tokens


def _header(path: Path | str, number: int, tokens: list[str], before: _Header) -> _Header:
    if before.vertices:
        raise InstanceFormatError(path, number, "a second line p")
    if tokens[1] not in ("edge", "col"):
        raise InstanceFormatError(path, number, f"expected 'p edge' or 'p col', got 'p {tokens[1][:40]}'")
    vertices, edges = integer(path, number, tokens[2]), integer(path, number, tokens[3])
    if not 1 <= vertices <= MAX_VERTICES:
        raise InstanceFormatError(path, number, f"expected 1 to {MAX_VERTICES} vertices, got {vertices}")
    if not 0 <= edges <= vertices * (vertices - 1) // 2:
        raise InstanceFormatError(path, number, f"{vertices} vertices cannot have {edges} edges")
    return _Header(vertices, edges)


def _check_weight(
    path: Path | str, number: int, tokens: list[str], header: _Header, weighted: set[int]
) -> None:
    vertex = _vertex(path, number, tokens[1], header)
    integer(path, number, tokens[2])
    if vertex in weighted:
        raise InstanceFormatError(path, number, f"a second weight of vertex {vertex}")
    weighted.add(vertex)


def _edge(path: Path | str, number: int, tokens: list[str], header: _Header) -> tuple[int, int]:
    return _vertex(path, number, tokens[1], header), _vertex(path, number, tokens[2], header)


def _vertex(path: Path | str, number: int, token: str, header: _Header) -> int:
    vertex = integer(path, number, token)
    if not 1 <= vertex <= header.vertices:
        raise InstanceFormatError(path, number, f"expected a vertex in 1..{header.vertices}, got {vertex}")
    return vertex


def _adjacency(
    path: Path | str, header: _Header, pairs: NDArray[np.int64], numbers: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the matrix of `pairs`, int64 `(m, 2)` from 1, which stand on lines `numbers`."""
    n = header.vertices
    outside = (pairs < 1) | (pairs > n)
    if outside.any():
        row, column = np.argwhere(outside)[0].tolist()
        raise InstanceFormatError(
            path, int(numbers[row]), f"expected a vertex in 1..{n}, got {pairs[row, column]}"
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        row = int(np.argmax(loops))
        raise InstanceFormatError(path, int(numbers[row]), f"vertex {pairs[row, 0]} is its own neighbour")
    codes = pairs.min(axis=1) * (n + 1) + pairs.max(axis=1)
    order = np.argsort(codes, kind="stable")
    again = order[1:][np.diff(codes[order]) == 0]
    if again.size:
        row = int(again.min())
        raise InstanceFormatError(
            path, int(numbers[row]), f"the edge {pairs[row, 0]} {pairs[row, 1]} is given twice"
        )
    if len(pairs) != header.edges:
        raise InstanceFormatError(
            path, None, f"line p announces {header.edges} edges, there are {len(pairs)}"
        )
    adjacency = np.zeros((n, n), np.uint8)
    adjacency[pairs[:, 0] - 1, pairs[:, 1] - 1] = 1
    adjacency[pairs[:, 1] - 1, pairs[:, 0] - 1] = 1
    return adjacency


def operator_environment(adjacency: NDArray[np.uint8]) -> dict[str, Any]:
    """Return the card's keys for `adjacency`, uint8 `(n, n)`; fresh, writable copies."""
    return {
        "num_vertices": len(adjacency),
        "total_vertices": len(adjacency),
        "adj": np.array(adjacency, dtype=np.uint8),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_graph(path))
