"""Whole runs in which an endpoint writes kernels: a faster one is taken and used, a wrong one refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.behaviours import answer
from tests.fakes.conversation import KEY
from tests.fakes.endpoint import Asked, Exchange, Server, serving
from tests.fakes.obliging import obliging
from tests.runtime.domain_check.skeletons import skeleton
from tests.system.conftest import SMALL, Program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SLOW = """import numpy as np
from numba import njit


@njit(cache=True)
def tally(order, turns):
    \"\"\"A checksum of the order, gone over again and again.\"\"\"
    total = 0
    for _ in range(turns):
        for i in range(order.size):
            total = (total * 31 + order[i]) % 1009
    return total
"""
FAST = """from numba import njit


@njit(cache=True)
def tally(order, turns):
    \"\"\"The same: a turn is a linear function of the total, which one pass finds.\"\"\"
    scale, shift = 1, 0
    for i in range(order.size):
        scale = scale * 31 % 1009
        shift = (shift * 31 + order[i]) % 1009
    total = 0
    for _ in range(turns):
        total = (total * scale + shift) % 1009
    return total
"""
WRONG = FAST.replace("    return total", "    return total if total % 100 != 7 else 8")
TABLE = """
[[kernel]]
function = "tally"
summary = "A checksum of an order."
arguments = { order = "int32 (n,): the items", turns = "how often it is gone over" }
"""
CALL = "tally(order, 400)"
CHANGES = (
    ("library.toml", "# Operators", f"{TABLE}\n# Operators"),
    *(
        (f"library/{name}.py", "import numpy as np\n", "import numpy as np\nfrom parts.tally import tally\n")
        for name in ("iterated_swaps", "swap_descent")
    ),
    (
        "library/iterated_swaps.py",
        "        changed = decode(state)\n",
        f"        {CALL}\n        changed = decode(state)\n",
    ),
    (
        "library/swap_descent.py",
        "        changed = calc_makespan_fn(state)\n",
        f"        {CALL}\n        changed = calc_makespan_fn(state)\n",
    ),
)
RUN = (*SMALL, "--operator-limit", "6", "--kernels", "evolved", "--generations", "2", "--llm-calls", "20")


def writing(code: str):  # type: ignore[no-untyped-def]
    def behave(exchange: Exchange, asked: Asked) -> None:
        if "You make one function" in asked.prompt:
            answer(exchange, asked, f"```python\n{code}```\n")
        else:
            obliging(exchange, asked)

    return behave


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Server]:
    with serving({"fast": writing(FAST), "wrong": writing(WRONG)}) as server:
        yield server


@pytest.fixture
def program(tmp_path: Path) -> Program:
    own = tmp_path / "own"
    package = skeleton(own, "bag", *CHANGES)
    (package / "library" / "parts").mkdir()
    (package / "library" / "parts" / "tally.py").write_text(SLOW)
    return Program(tmp_path, {"DGA2D_LLM_KEY": KEY, "DGA2D_DOMAIN_PATH": str(own)})


def evolve(program: Program, server: Server, behaviour: str) -> list[dict[str, object]]:
    given = ("--llm", "openai:fake", "--llm-base-url", server.url(behaviour))
    outcome = program.run("evolve", "bag", *RUN, "--run-id", "run", *given, wait_s=500)
    assert outcome.code in (0, 3), outcome
    verified = program.run("replay", "run", "--verify")
    assert (verified.code, verified.err) == (0, "")
    return [{"type": row.type, **row.fields} for row in program.rows("run")]


def test_a_faster_kernel_is_taken_and_used_and_the_log_verifies(program: Program, endpoint: Server) -> None:
    events = evolve(program, endpoint, "fast")
    measured = [e for e in events if e["type"] == "KernelMeasured"]
    (taken,) = [e for e in events if e["type"] == "KernelReplaced"]
    assert measured[0]["stage"] == ""
    assert float(str(taken["factor"])) > 1.1
    new = {host["implementation"] for host in taken["replaced"]}  # type: ignore[attr-defined]
    later = events[events.index(taken) :]
    walks = [e["steps"] for e in later if e["type"] == "PipelineSampled"]
    assert new & {step["implementation"] for steps in walks for step in steps}  # type: ignore[attr-defined]
    audited = program.run("audit", "run", "--json")
    bought = [str(call["bought"]) for call in audited.json["calls"]]
    assert any(text.startswith("kernel tally, ") for text in bought)


def test_a_kernel_that_differs_now_and_then_is_refused(program: Program, endpoint: Server) -> None:
    events = evolve(program, endpoint, "wrong")
    assert not [e for e in events if e["type"] == "KernelReplaced"]
    refused = [e for e in events if e["type"] == "KernelRejected"]
    assert refused
    assert all(e["stage"] == "unequal" for e in refused), json.dumps(refused)
    assert "it returns: 8, expected " in str(refused[0]["diagnostic"])
