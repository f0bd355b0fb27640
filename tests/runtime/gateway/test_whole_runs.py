"""Whole runs of the program against an endpoint, in processes of their own."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.behaviours import BEHAVIOURS
from tests.fakes.conversation import KEY
from tests.fakes.endpoint import Asked, Exchange, RefusedError, Server, serving
from tests.fakes.obliging import obliging
from tests.system.conftest import SMALL, Program, digests

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MIXED = ("obliging", "storm", "obliging", "half", "obliging", "injection", "obliging", "empty", "unicode")


def mixed(exchange: Exchange, asked: Asked) -> None:
    """Useful more often than not."""
    name = MIXED[asked.number % len(MIXED)]
    if name == "storm":
        raise RefusedError(429, Retry_After="0")
    (obliging if name == "obliging" else BEHAVIOURS[name])(exchange, asked)


def hesitant(exchange: Exchange, asked: Asked) -> None:
    """Takes its time, so that a kill finds calls in flight."""
    time.sleep(random.Random(asked.number).uniform(0.0, 0.3))
    obliging(exchange, asked)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Server]:
    behaviours = {"obliging": obliging, "mixed": mixed, "hesitant": hesitant}
    with serving({**behaviours, "no-key": BEHAVIOURS["key-in-401"]}) as server:
        yield server


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, {"DGA2D_LLM_KEY": KEY})


def of(server: Server, behaviour: str, llm: str = "openai:fake") -> tuple[str, ...]:
    return ("--llm", llm, "--llm-base-url", server.url(behaviour))


def assert_accounted(program: Program, server: Server, behaviour: str, run: str) -> dict[str, object]:
    """Every check of the audit holds, and the server counts no more calls than the ledger."""
    audited = program.run("audit", run, "--json")
    assert (audited.code, audited.err) == (0, "")
    ledger: dict[str, int] = audited.json["ledger"]
    assert server.ledger.taken[behaviour] <= ledger["used"] <= ledger["limit"]
    verified = program.run("replay", run, "--verify")
    assert (verified.code, verified.err) == (0, "")
    written = b"".join(path.read_bytes() for path in program.folder.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    report: dict[str, object] = audited.json
    return report


@pytest.mark.parametrize("llm", ["openai:fake", pytest.param("anthropic:fake", marks=pytest.mark.long)])
def test_an_endpoint_writes_graph_code_and_edges_and_its_recording_gives_the_same_run(
    program: Program, endpoint: Server, llm: str
) -> None:
    endpoint.ledger.taken.clear()
    arguments = (*SMALL, "--run-id", "first", *of(endpoint, "obliging", llm))
    outcome = program.run("evolve", "tsp", *arguments, wait_s=400)
    assert outcome.code in (0, 3), outcome
    assert KEY not in outcome.out + outcome.err
    report = assert_accounted(program, endpoint, "obliging", "first")
    bought = [str(call["bought"]).split()[0] for call in report["calls"] if call["bought"]]  # type: ignore[attr-defined]
    assert "graph" in bought
    assert len(bought) > 1
    asked = len(endpoint.ledger.asked)
    again = program.run("evolve", "tsp", *SMALL, "--run-id", "again", "--llm", "recorded:first", wait_s=400)
    assert again.code == outcome.code
    assert len(endpoint.ledger.asked) == asked
    assert digests(program.rows("again")) == digests(program.rows("first"))
    listing = program.run("audit", "first", "--calls")
    assert "graph of" in listing.out
    export = program.folder / "usage.json"
    rows = [
        {"id": call["response_id"], "prompt_tokens": call["prompt_tokens"], "completion_tokens": 7}
        for call in report["calls"]  # type: ignore[attr-defined]
    ]
    export.write_text(json.dumps(rows))
    assert program.run("audit", "first", "--against", str(export)).code == 0
    rows[0]["prompt_tokens"] += 1
    export.write_text(json.dumps(rows[:-1]))
    compared = program.run("audit", "first", "--against", str(export))
    assert (compared.code, compared.out.count("DIFF")) == (1, 2)


def test_a_run_with_an_unreliable_endpoint_comes_to_its_end(program: Program, endpoint: Server) -> None:
    outcome = program.run("evolve", "tsp", *SMALL, "--run-id", "run", *of(endpoint, "mixed"), wait_s=400)
    assert outcome.code in (0, 3), outcome
    assert program.rows("run")[-1].type == "RunCompleted"
    assert_accounted(program, endpoint, "mixed", "run")


def test_a_refused_key_pauses_the_run_and_another_key_lets_it_go_on(
    program: Program, endpoint: Server
) -> None:
    endpoint.behaviours["later"] = BEHAVIOURS["key-in-401"]
    outcome = program.run("evolve", "tsp", *SMALL, "--run-id", "run", *of(endpoint, "later"))
    assert outcome.code == 3
    assert "answered 401" in outcome.out
    assert "dga2d resume run" in outcome.out
    assert KEY not in outcome.out + outcome.err
    assert program.rows("run")[-1].type == "RunPaused"
    endpoint.behaviours["later"] = obliging
    other = replace(program, environment={"DGA2D_LLM_KEY": KEY[::-1]})
    assert other.run("resume", "run", "--quiet", "--no-report", wait_s=400).code in (0, 3)
    assert program.rows("run")[-1].type == "RunCompleted"
    assert_accounted(program, endpoint, "later", "run")


def test_a_limit_of_tokens_ends_the_run_in_words(program: Program, endpoint: Server) -> None:
    limits = ("--llm-tokens", "12000", "--llm-max-tokens", "2000")
    arguments = (*SMALL, "--run-id", "run", *of(endpoint, "obliging"), *limits)
    outcome = program.run("evolve", "tsp", *arguments, wait_s=400)
    assert outcome.code == 3
    assert "the limit of tokens leaves no room" in outcome.out
    report = assert_accounted(program, replaced(endpoint, "obliging"), "obliging", "run")
    assert report["refused"]


def replaced(server: Server, behaviour: str) -> Server:
    """The server without the counts of earlier tests."""
    server.ledger.taken[behaviour] = 0
    return server


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_run_killed_at_random_never_pays_twice(program: Program, endpoint: Server, seed: int) -> None:
    endpoint.ledger.taken["hesitant"] = 0
    rng = random.Random(seed)
    for life in range(6):
        arguments = (
            ("evolve", "tsp", *SMALL, "--run-id", "run", *of(endpoint, "hesitant"))
            if not program.rows("run")
            else ("resume", "run", "--quiet", "--no-report")
        )
        with program.started(*arguments) as process:
            before = endpoint.ledger.taken["hesitant"]
            end = time.monotonic() + 60
            while endpoint.ledger.taken["hesitant"] < before + 2 and process.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.005)
            if life < 5:
                time.sleep(rng.uniform(0.0, 0.3))
                process.kill()
            process.communicate()
        if process.returncode in (0, 3):
            break
    assert program.rows("run")[-1].type == "RunCompleted"
    assert_accounted(program, endpoint, "hesitant", "run")
