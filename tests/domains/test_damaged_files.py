"""Every reader and every verifier against what no writer ever meant: they refuse it in words, or take it.

Files come from small texts of each format and, where they are, from published ones; they are cut, shuffled,
filled with odd numbers and bytes. Whatever arises, a reader gives an instance or names file and line.
"""

from __future__ import annotations

import gzip
import importlib
import os
import re
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.domains.cvrp.specimens import E13
from tests.domains.rcpsp.test_reader import GOOD as RCPSP

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.registry import get_domain

LONGEST_MESSAGE = 300
"""Characters of a refusal, beside the file's name."""
MOST_BYTES = 300_000_000
"""Memory that a small file may ask for: a domain's largest matrix, 10,000 × 10,000 bytes, and its copies."""

TSP = """NAME : four
TYPE : TSP
COMMENT : a square
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10.5 0
3 1e1 10
4 0 10
EOF
"""
SALBP1 = """<number of tasks>
4

<cycle time>
10

<order strength>
0,5

<task times>
1 4
2 3
3 9
4 5

<precedence relations>
1,2
2,3
2,4

<end>
"""
SMALL: Mapping[str, tuple[tuple[str, str], ...]] = {
    "binpack3d": (
        ("a.txt", "3\n10 10 10\n5 5 5\n3 4 10\n10 1 2\n"),
        ("a.json", '{"bin": [10, 10, 10], "items": [[5, 5, 5], [3, 4, 10]]}'),
    ),
    "clp3d": (
        ("a.txt", "1\n1 2502505\n587 233 220\n2\n1 108 0 76 0 30 1 4\n2 110 0 43 1 25 1 3\n"),
        (
            "a.json",
            '{"container": [58, 23, 22], "boxes": '
            '[{"sides": [10, 7, 3], "upright": [0, 0, 1], "quantity": 4}]}',
        ),
    ),
    "cvrp": (("a.vrp", E13),),
    "fjsp": (("a.txt", "2 3\n2 2 0 5 1 7 1 2 2\n1 1 1 4\n"),),
    "fssp": (("a.txt", "2 3\n0 5 1 6 2 1\n0 2 1 3 2 4\n"),),
    "jsp": (("a.txt", "# small\n2 3\n0 5 2 6 1 1\n2 2 1 3 0 4\n"),),
    "maxcut": (("a.txt", "4 5\n1 2 1\n2 3 -1\n3 4 2\n1 4 1\n1 3 1\n"),),
    "mis": (
        ("a.mis", "c small\np edge 5 4\nn 1 2\ne 1 2\ne 2 3\ne 3 4\ne 4 5\n"),
        ("a.clq", "p col 4 3\ne 1 2\ne 2 3\ne 3 4\n"),
    ),
    "ossp": (("a.txt", "2 3\n5 6 1\n2 3 4\n"),),
    "rcpsp": (("a.sm", RCPSP),),
    "salbp1": (("a.alb", SALBP1),),
    "tsp": (("a.tsp", TSP),),
}
"""Domain → names and texts of small files, all in order."""

PATTERNS = {"cvrp": "*.vrp", "rcpsp": "*.sm", "tsp": "*.tsp*", "salbp1": "*.alb"}
ODD = (
    *(b"NaN", b"nan", b"inf", b"-inf", b"Infinity", b"1e999", b"1e-999", b"-1", b"0", b"-0", b"+1", b"1.5"),
    *(b"2147483648", b"-2147483649", b"9223372036854775808", b"999999999", b"999999999999", b"9" * 5000),
    *(b"10000", b"100000", b"1000000", b"0x10", b"1_0", "٣".encode(), "½".encode(), b"", b"true", b"null"),
    *(b"[", b"{", b"}", b'"', b":", b"#", b"EOF", b"-", b"\x00", b"\xff\xfe", b"\x1a", b"x" * 2000),
)
SEPARATORS = (b" ", b"\n", b"\t", b"\r\n", b"\r", b"", b"\x0b", b"\x0c", b"\xc2\xa0", "\u2028".encode())
PLACE = st.integers(0, 1_000_000)
"""Where in a file something happens, modulo its length."""
DAMAGES = st.lists(
    st.one_of(
        st.tuples(st.just("cut"), PLACE, PLACE),
        st.tuples(st.just("bytes"), PLACE, st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("number"), st.integers(0, 12) | PLACE, st.sampled_from(ODD)),
        st.tuples(st.just("swap"), PLACE, PLACE),
        st.tuples(st.just("drop a line"), PLACE, PLACE),
        st.tuples(st.just("repeat a line"), PLACE, PLACE),
        st.tuples(st.just("shuffle"), PLACE, PLACE),
        st.tuples(st.just("separate"), st.sampled_from(SEPARATORS[:4]), st.sampled_from(SEPARATORS)),
    ),
    min_size=1,
    max_size=3,
)
Damage = tuple[str, Any, Any]


def damaged(data: bytes, damages: list[Damage]) -> bytes:
    """The bytes after all damages in order."""
    for damage in damages:
        data = _damaged(data, *damage)
    return data


def _damaged(data: bytes, kind: str, first: Any, second: Any) -> bytes:
    if kind == "separate":
        return data.replace(bytes(first), bytes(second))
    if kind == "bytes":
        place = first % (len(data) + 1)
        return data[:place] + bytes(second) + data[place:]
    if kind == "cut":
        return data[: first % (len(data) + 1)]
    words = [match.span() for match in re.finditer(rb"[^\s,:\[\]{}\"]+", data)]
    if kind in ("number", "swap") and words:
        start, end = words[first % len(words)]
        if kind == "number":
            return data[:start] + bytes(second) + data[end:]
        other = slice(*words[second % len(words)])
        return data[:start] + data[other] + data[end:]
    lines = data.split(b"\n")
    place, other_place = (number % len(lines) for number in (first, second if kind != "number" else 0))
    if kind == "shuffle":
        np.random.default_rng(first).shuffle(lines)
    elif kind == "drop a line":
        del lines[place]
    else:
        lines.insert(place, lines[other_place])
    return b"\n".join(lines)


def reader(domain: str) -> Callable[[Path], dict[str, Any]]:
    """What a solver reads its file with."""
    found: Callable[[Path], dict[str, Any]] = importlib.import_module(
        f"dga2d.domains.{domain}.reader"
    ).environment_of_file
    return found


def check(domain: str, path: Path, data: bytes) -> None:
    """Read `data` as a file; raises unless the reader gives an instance or refuses it in words."""
    path.write_bytes(data)
    try:
        environment, error = reader(domain)(path), None
    except InstanceFormatError as refusal:
        environment, error = {}, refusal
    if error is not None:
        assert error.path == str(path)
        assert "\n" not in error.reason
        assert 0 < len(error.reason) <= LONGEST_MESSAGE, error.reason
        text = gzip.decompress(data) if path.suffix == ".gz" and error.line is not None else data
        lines = len(re.split(rb"\r\n|\r|\n", text))
        assert error.line is None or 1 <= error.line <= lines, (error, lines)
    else:
        assert environment.keys() == get_domain(domain).card.environment.keys()
        for name, value in environment.items():
            is_number = isinstance(value, str) or not np.isnan(np.asarray(value)).any()
            assert is_number, f"{name} holds what is no number"


@pytest.mark.parametrize("domain", SMALL)
def test_the_small_files_are_in_order(domain: str, tmp_path: Path) -> None:
    for name, text in SMALL[domain]:
        (tmp_path / name).write_text(text)
        assert reader(domain)(tmp_path / name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


@pytest.mark.parametrize("domain", SMALL)
@settings(max_examples=30)
@given(choice=st.integers(0, 1), damages=DAMAGES)
@example(choice=0, damages=[("separate", b"\n", "\u2028".encode())])
@example(choice=0, damages=[("number", 0, b"x" * 2000)])
def test_a_damaged_file_is_read_or_refused_in_words(
    folder: Path, domain: str, choice: int, damages: list[Damage]
) -> None:
    name, text = SMALL[domain][choice % len(SMALL[domain])]
    check(domain, folder / f"{domain}-{name}", damaged(text.encode(), damages))


@pytest.mark.slow
@pytest.mark.parametrize("domain", SMALL)
def test_every_word_of_a_file_may_be_odd(folder: Path, domain: str) -> None:
    """Each of the first 40 words replaced by each odd one, among them numbers that ask for vast tables."""
    for name, text in SMALL[domain]:
        data = text.encode()
        words = len(re.findall(rb"[^\s,:\[\]{}\"]+", data))
        for odd in ODD:
            for place in range(min(words, 40)):
                check(domain, folder / f"{domain}-{name}", _damaged(data, "number", place, odd))


@pytest.mark.slow
@pytest.mark.parametrize("domain", SMALL)
def test_a_size_in_a_file_takes_no_memory_before_it_is_believed(folder: Path, domain: str) -> None:
    for name, text in SMALL[domain]:
        data = text.encode()
        words = len(re.findall(rb"[^\s,:\[\]{}\"]+", data))
        for odd in (b"10000", b"1000000", b"999999999", b"999999999999"):
            for place in range(min(words, 20)):
                tracemalloc.start()
                try:
                    check(domain, folder / f"{domain}-{name}", _damaged(data, "number", place, odd))
                    peak = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                assert peak < MOST_BYTES, (place, odd)


@settings(max_examples=30)
@given(text=DAMAGES, packed=DAMAGES, is_packed_damaged=st.booleans())
def test_a_damaged_compressed_file_is_read_or_refused_in_words(
    folder: Path, text: list[Damage], packed: list[Damage], is_packed_damaged: bool
) -> None:
    data = gzip.compress(damaged(SMALL["mis"][0][1].encode(), text), mtime=0)
    check("mis", folder / "a.mis.gz", damaged(data, packed) if is_packed_damaged else data)


def published(domain: str) -> list[Path]:
    """The three smallest published files of a domain; skips the test where there are none."""
    root = Path(__file__).resolve().parents[2]
    home = Path(os.environ.get("DGA2D_TEST_DATA", root.parent / "shared" / "benchmarks"))
    homes = [home, home.with_name("benchmarks-2")]
    found = [
        path
        for home in homes
        for path in (home / domain).rglob(PATTERNS.get(domain, "*"))
        if path.is_file() and path.suffix not in (".json", ".sol", ".md") and path.name[0] != "."
    ]
    if not found:
        pytest.skip(f"no published instances of {domain} below {homes[0]} (set DGA2D_DATA)")
    return sorted(found, key=lambda path: (path.stat().st_size, path.name))[:3]


@pytest.mark.parametrize("domain", SMALL)
@settings(max_examples=20)
@given(choice=st.integers(0, 2), damages=DAMAGES)
def test_a_damaged_published_file_is_read_or_refused_in_words(
    folder: Path, domain: str, choice: int, damages: list[Damage]
) -> None:
    files = published(domain)
    path = files[choice % len(files)]
    check(domain, folder / f"{domain}-{path.name}", damaged(path.read_bytes(), damages))


# ---------------------------------------------------------------- verifiers

NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from((2**31 - 1, -(2**31), 2**63 - 1, -(2**63))),
    st.floats(width=64),
)
ARRAYS = st.builds(
    lambda values, dtype, shape: np.array(values, dtype=np.float64).astype(dtype).reshape(shape(len(values))),
    st.lists(NUMBERS.map(float), max_size=40),
    st.sampled_from(("int32", "int64", "uint8", "float64", "bool", "complex128", "object", "U8", ">i4")),
    st.sampled_from((lambda n: (n,), lambda n: (1, n), lambda n: (n, 1), lambda n: (n, 1, 1))),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=4) | st.binary(max_size=4) | ARRAYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
METADATA_KEYS = ("orientations", "positions", "machines", "assignment", "starts", "containers", "rotations")


@pytest.fixture(scope="module")
def smoke() -> dict[str, Instance]:
    return {}


@pytest.mark.filterwarnings(
    "ignore:invalid value encountered in cast", "ignore:.*discards the imaginary part"
)
@pytest.mark.parametrize("domain", SMALL)
@settings(max_examples=30)
@given(
    sequence=st.one_of(ARRAYS, ANYTHING),
    metadata=st.one_of(ANYTHING, st.dictionaries(st.sampled_from(METADATA_KEYS), ANYTHING, max_size=3)),
)
def test_a_verifier_judges_whatever_a_program_returns(
    smoke: dict[str, Instance], domain: str, sequence: Any, metadata: Any
) -> None:
    judge = get_domain(domain)
    instance = smoke.setdefault(domain, judge.smoke_instance())
    state = State(sequence=sequence, metadata=metadata)
    verdict = judge.verify(instance, state)
    assert (verdict.objective is None) == bool(verdict.violation) == (not verdict.is_feasible)
