"""Two thousand variants of the hostile programs, each with a number of its own: nothing escapes.

Variant k follows from ``SEED`` and k alone, so that a failure can be repeated: its test names both.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from tests.system.attacks.containment import LIMITS as USUAL_LIMITS
from tests.system.attacks.containment import Containment, open_pool
from tests.system.attacks.corpus import TEXTS
from tests.system.attacks.corpus.mutants import mutant

from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux"),
]
LIMITS = replace(USUAL_LIMITS, prepare_run_s=0.4, work_wall_s=0.4, wall_grace_s=0.3)
"""Most variants that take long would take for ever: what overruns its time is killed soon."""
SEED = 20_260
VARIANTS = 2000
AT_ONCE = 50


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict_pool(host: Any, domain_file: Any) -> AsyncIterator[EvaluatorPool]:
    async with open_pool(host, "strict", domain_file, LIMITS) as pool:
        yield pool


def variant(texts: list[str], number: int) -> str:
    return mutant(texts, random.Random(f"{SEED}:{number}"))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, VARIANTS, AT_ONCE))
async def test_no_variant_of_a_hostile_program_escapes(
    first: int, strict_pool: EvaluatorPool, host: Any, all_attacks: dict[str, Any]
) -> None:
    texts = [*TEXTS.values(), *(attack.text for attack in all_attacks.values())]
    for number in range(first, first + AT_ONCE):
        containment = Containment(strict_pool, host, ("work", "s")[number % 2])
        text = variant(texts, number)
        try:
            await containment.throw(text)
            await containment.evaluate_honestly()
        except (AssertionError, TimeoutError) as error:
            raise AssertionError(f"variant {number} of seed {SEED} was not contained:\n{text}") from error


async def test_variants_repeat_and_differ(all_attacks: dict[str, Any]) -> None:
    texts = [*TEXTS.values(), *(attack.text for attack in all_attacks.values())]
    made = [variant(texts, number) for number in range(300)]
    assert made == [variant(texts, number) for number in range(300)]
    assert len(set(made)) > 295
    assert not set(made) & set(texts)
