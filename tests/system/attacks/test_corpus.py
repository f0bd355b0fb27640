"""The corpus of hostile programs: each is contained in every sandbox mode, under time and under work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from tests.system.attacks.containment import HARNESS, Containment, open_pool
from tests.system.attacks.corpus import FAMILIES, OUTCOMES, TEXTS

from dga2d.domains.source_rules import check_source
from dga2d.runtime.evaluation.limits import SandboxMode
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux"),
]
SETTINGS = [(mode, unit) for mode in ("strict", "best-effort") for unit in ("work", "s")]
SAMPLE = {f"{family}: {name}" for family, programs in FAMILIES.items() for name in list(programs)[::18]}
"""Programs thrown in every run of the tests; the slow ones throw all others."""


class PoolInTurn:
    """One pool at a time, of the mode that was asked for last.

    A fixture that is parametrised together with direct arguments would open one for each program.
    """

    def __init__(self, host: Any, domain_file: Any) -> None:
        self._host, self._domain_file = host, domain_file
        self._mode: SandboxMode = "off"
        self._pool: EvaluatorPool | None = None
        self._open = AsyncExitStack()

    async def of(self, mode: SandboxMode) -> EvaluatorPool:
        """Return the pool of a mode."""
        if self._pool is None or mode != self._mode:
            await self.close()
            opening = open_pool(self._host, mode, self._domain_file)
            self._pool, self._mode = await self._open.enter_async_context(opening), mode
        return self._pool

    async def close(self) -> None:
        """Close the pool that is open, if one is."""
        self._pool = None
        await self._open.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool_in_turn(host: Any, domain_file: Any) -> AsyncIterator[PoolInTurn]:
    pools = PoolInTurn(host, domain_file)
    yield pools
    await pools.close()


def cases() -> list[Any]:
    """Return each program with every mode and unit; each is met in one of the four, the rest takes long.

    Programs of one mode stand together, so that they share a pool.
    """
    found = []
    for turn, (mode, unit) in enumerate(SETTINGS):
        for number, name in enumerate(TEXTS):
            mark = pytest.mark.long if turn != number % 4 else () if name in SAMPLE else pytest.mark.slow
            found.append(pytest.param(mode, unit, name, marks=mark, id=f"{mode}-{name}-{unit}"))
    return found


@pytest.mark.parametrize(("mode", "unit", "name"), cases())
async def test_a_hostile_program_is_contained(
    mode: SandboxMode, unit: Any, name: str, pool_in_turn: PoolInTurn, host: Any
) -> None:
    containment = Containment(await pool_in_turn.of(mode), host, unit)
    reply = await containment.throw(TEXTS[name])
    allowed = {*OUTCOMES[name], "timeout"}  # on a busy machine a harmless one may be late too
    assert (reply.failure or "none") in allowed, reply
    await containment.evaluate_honestly()


async def test_there_are_enough_programs_and_each_has_an_outcome(all_attacks: dict[str, Any]) -> None:
    assert TEXTS.keys() == OUTCOMES.keys()
    assert len(TEXTS) + len(all_attacks) >= 250
    assert len(set(TEXTS.values())) == len(TEXTS)


HARMLESS_TEXTS = {
    *(
        f"exhaustion: {name}"
        for name in ("a string that doubles", "a dictionary without end", "permutations")
    ),
    *(f"exhaustion: {name}" for name in ("a number without end", "a loop inside the interpreter")),
    *(f"exhaustion: {name}" for name in ("a function too long to compile", "a million keys")),
    *(f"exhaustion: {name}" for name in ("a circle in the answer", "sort by asking back")),
    "exhaustion: a matrix too large",
    *(f"forging: {name}" for name in ("a state that changes its mind", "a sequence read backwards")),
    *(f"forging: {name}" for name in ("numbers that wrap around", "an error with control characters")),
}
"""Programs that the rules let pass: what they do wrong shows only when they run."""


@pytest.mark.parametrize("name", TEXTS)
async def test_the_source_rules_refuse_it_before_it_runs(name: str) -> None:
    found = check_source(TEXTS[name] + HARNESS)
    assert bool(found) is (name not in HARMLESS_TEXTS), found
