"""The file of a bank: what is written is read again, and anything else is refused whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.domains.core.registry import get_domain
from dga2d.events import BlobDigest, OperatorId, blob_digest
from dga2d.events.payloads import OperatorAdded, OperatorProposed
from dga2d.runtime.bank.choosing import bank_for, keys_read, suited_entries
from dga2d.runtime.bank.collecting import collect
from dga2d.runtime.bank.entries import (
    Bank,
    BankError,
    Entry,
    Measurement,
    bank_text,
    entry_line,
    merge,
    parse_bank,
    read_bank,
    write_bank,
)
from dga2d.runtime.runs.start import library_operator
from dga2d.runtime.runs.states import open_file

SOURCE = "def run(env_data, state, calc_makespan_fn):\n    return state\n"


def entry(source: str = SOURCE, **values: Any) -> Entry:
    given = {
        "domain": "tsp",
        "operator": "two_opt",
        "digest": blob_digest(source.encode()),
        "category": "local_search",
        "requires": "complete",
        "provides": "complete",
        "idea": "An idea.",
        "run": "first",
        "log": "0" * 64,
        "seq": 7,
        "model": "openai:x",
        "licence": "MIT",
        "measurements": (),
        "source": source,
    }
    return Entry(**{**given, **values})


def measured(run: str, how: Any, gain: float, pairs: int = 4, library: Any = "") -> Measurement:
    return Measurement(run=run, library=library, how=how, gain=gain, spread=0.01, pairs=pairs)


BANK: Bank = (entry(), entry(SOURCE + "\nX = 1\n"))


def test_a_bank_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    write_bank(path, BANK)
    assert set(read_bank(str(path))) == set(BANK)
    write_bank(tmp_path / "again.jsonl", reversed(read_bank(str(path))))
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


def test_a_bank_from_before_libraries_were_written_down_is_read_as_ever(tmp_path: Path) -> None:
    line = entry_line(entry(measurements=(measured("r", "gate", 0.5),)))
    assert '"library"' not in line
    path = tmp_path / "bank.jsonl"
    path.write_text(f"{bank_text([])}{line}\n", encoding="utf-8")
    (old,) = read_bank(str(path))
    assert [m.library for m in old.measurements] == [""]
    assert '"library":"basic"' in entry_line(entry(measurements=(measured("r", "gate", 1, library="basic"),)))


def changed(**values: Any) -> str:
    """The text of a bank whose only entry has other values, in the canonical form."""
    fields = {**json.loads(entry_line(entry())), **values}
    text = bank_text([])
    return text + json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        ("a letter, no bank\n", "line 1"),
        ('{"format":"dga2d-bank","version":2}\n', "line 1"),
        (bank_text(BANK)[:-2], "line 3: is cut off"),
        (bank_text(BANK).replace('"seq":7', '"seq": 7'), "line 2: is not written in the canonical form"),
        (
            bank_text(BANK).replace("return state", "return None"),
            "line 2: the source text has another digest",
        ),
        (changed(seq=0), "line 2: seq"),
        (changed(more=1), "line 2: more"),
        (changed(operator="../x"), "line 2: operator"),
        (changed(idea="\x1b[31mred"), "U\\+001B"),
        (changed(licence="\u202eTIM"), "U\\+202E"),
        (changed(source=SOURCE + "\n", digest=blob_digest((SOURCE + "\n").encode())), "one line end"),
        (changed(source="\ud800"), "is not UTF-8"),
        (changed() + changed().splitlines()[1] + "\n", "line 3: is a second time there"),
        (
            changed(measurements=[{"run": "r", "how": "hearsay", "gain": 1, "spread": None, "pairs": 1}]),
            "how",
        ),
        (
            changed(measurements=[{"run": "r", "how": "gate", "gain": 1e999, "spread": None, "pairs": 1}]),
            "line 2",
        ),
    ],
)
def test_a_broken_or_hostile_bank_is_refused_whole(text: str, place: str) -> None:
    with pytest.raises(BankError, match=place):
        parse_bank(text.encode("utf-8", errors="surrogatepass"), "x")


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()], ids=["missing", "folder"])
def test_a_bank_that_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "bank")
    with pytest.raises(BankError, match="opening"):
        read_bank(str(tmp_path / "bank"))


def test_what_is_in_two_banks_keeps_its_origin_and_gets_all_measurements() -> None:
    one = entry(measurements=(measured("first", "training", 0.5),))
    two = entry(run="second", measurements=(measured("second", "gate", 0.1), measured("second", "gate", 0.1)))
    (both,) = merge([one], [two])
    assert both.run == "first"
    assert [(m.run, m.how) for m in both.measurements] == [("first", "training"), ("second", "gate")]
    assert both.evidence is not None
    assert both.evidence.how == "gate"


def test_a_run_takes_along_what_suits_its_library_best_first() -> None:
    domain = get_domain("tsp")
    library = [library_operator(o) for o in domain.operators()]
    two_opt = next(o for o in library if o.id == OperatorId("two_opt"))
    role = {"category": two_opt.category, "requires": two_opt.requires, "provides": two_opt.provides}
    texts = [SOURCE + f"\nX = {i}\n" for i in range(6)]
    foreign = SOURCE.replace("return state", 'x = env_data["{}"]\n    return state')
    given = [
        entry(texts[0], **role, measurements=(measured("r", "gate", -0.1),)),
        entry(texts[1], **role),
        entry(texts[2], **role, measurements=(measured("r", "gate", 0.1), measured("s", "training", 9.0))),
        entry(texts[3], **role, measurements=(measured("r", "training", 0.2),)),
        entry(texts[4], category="not_in_the_library"),
        entry(texts[5], category="not_in_the_library", domain="jsp"),
        entry(foreign.format("no_such_key"), domain="jsp", **role),
        entry(foreign.format(next(iter(domain.card.environment))), domain="jsp", **role),
    ]
    found = suited_entries(tuple(given), "tsp", domain.card, library, "full")
    assert found.entries is not None
    order = [given[i].digest for i in (3, 2, 1, 4, 7, 0)]
    assert [e.source for e in found.entries][:2] == order[:2]
    assert {e.source for e in found.entries} == set(order)
    assert found.entries[-1].source == given[0].digest
    assert [blob_digest(text) for text in found.sources] == [e.source for e in found.entries]


def test_what_gained_in_runs_from_the_same_library_comes_first() -> None:
    """Much is easily gained on simple operators, and says little of what the whole library leaves."""
    domain = get_domain("tsp")
    library = [library_operator(o) for o in domain.operators()]
    texts = [SOURCE + f"\nX = {i}\n" for i in range(4)]
    given = (
        entry(texts[0], measurements=(measured("r", "gate", 0.5, library="basic"),)),
        entry(texts[1], measurements=(measured("s", "training", 0.02, library="full"),)),
        entry(
            texts[2],
            measurements=(
                measured("r", "gate", 0.3, library="basic"),
                measured("s", "gate", 0.03, library="full"),
            ),
        ),
        entry(texts[3], measurements=(measured("s", "gate", -0.1, library="full"),)),
    )
    for tier, order, gains in (
        ("full", (2, 1, 0, 3), (0.03, 0.02, 0.5, -0.1)),
        ("basic", (0, 2, 1, 3), (0.5, 0.3, 0.02, -0.1)),
    ):
        found = suited_entries(given, "tsp", domain.card, library, tier).entries
        assert found is not None
        assert [e.source for e in found] == [given[i].digest for i in order]
        assert [e.gain for e in found] == list(gains)


def test_keys_that_code_reads_are_found() -> None:
    assert keys_read('def run(env_data, s, f):\n    return env_data["a"] + env_data["b"]\n') == {"a", "b"}
    assert keys_read("def run(env_data, s, f):\n    return env_data[s]\n") == {""}
    assert keys_read("(") == {""}


def test_the_shipped_bank_serves_the_domains_of_its_runs() -> None:
    bank = read_bank("shipped")
    assert {e.domain for e in bank} == {"cvrp", "fjsp", "fssp", "jsp", "rcpsp", "tsp", "mis"}
    assert {e.licence for e in bank} == {"MIT, as the program's"}
    domain = get_domain("tsp")
    library = [library_operator(o) for o in domain.operators()]
    found = bank_for("shipped", "tsp", domain.card, library, "full").entries
    assert found
    assert sum(e.domain == "tsp" for e in found) == sum(e.domain == "tsp" for e in bank)
    assert bank_for("none", "jsp", get_domain("jsp").card, (), "full").entries is None


async def test_a_run_with_operators_of_its_own_brings_their_code_and_role() -> None:
    golden = Path(__file__).parents[2] / "agents" / "golden" / "dialogue.zip"
    async with open_file(golden) as (store, run):
        events = [event.payload async for event in store.read(run)]
        bank = await collect(store, run, "MIT")
    added = [payload for payload in events if isinstance(payload, OperatorAdded)]
    assert added
    for payload in added:
        (first,) = [e for e in bank if e.digest == find_source(events, payload)]
        assert (first.operator, first.requires) == (payload.operator, "complete")
        assert first.evidence is not None
        assert first.evidence.how == "gate"


def find_source(events: list[Any], added: OperatorAdded) -> BlobDigest:
    """Digest of the code that an operator came with."""
    return next(
        payload.source
        for payload in events
        if isinstance(payload, OperatorProposed) and payload.operator == added.operator
    )
