"""How many times faster each compiled decoder is than the plain-Python one that tests hold it against.

    python benchmarks/decoders.py

One random valid state of the tests' large instance, both decoders in turn, medians; the plain one reads the
instance's arrays into lists each time, as the tests call it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 15
LEAST_S = 0.002
"""Calls of a compiled decoder are timed together for at least so long."""


def seconds(call: Callable[[], object], calls: int) -> float:
    """Return the seconds of one call, as the mean of several."""
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def main() -> None:
    """Print a row for each domain whose tests have a plain decoder of states."""
    sys.path.insert(0, str(ROOT))
    scored = importlib.import_module("tests.domains.scoring_claims").Scored
    print("| domain | entries | compiled, µs | plain, µs | ratio |\n|---|--:|--:|--:|--:|")
    for file in sorted(ROOT.glob("tests/domains/*/test_decoder_and_verifier.py")):
        module = importlib.import_module(f"tests.domains.{file.parent.name}.test_decoder_and_verifier")
        found = [getattr(value, "specimen", None) for value in vars(module).values()]
        for specimen in dict.fromkeys(one.domain.name for one in found if isinstance(one, scored)):
            chosen = next(one for one in found if isinstance(one, scored) and one.domain.name == specimen)
            instance = chosen.large()
            state = chosen.random_state(instance, 0)
            decode = chosen.domain.decoder(chosen.domain.environment(instance))
            assert decode(state) == chosen.plain_score(instance, state)
            calls = max(1, round(LEAST_S / seconds(partial(decode, state), 3)))
            compiled, plain = [], []
            for _ in range(ROUNDS):
                compiled.append(seconds(partial(decode, state), calls))
                plain.append(seconds(partial(chosen.plain_score, instance, state), 1))
            fast, slow = 1e6 * median(compiled), 1e6 * median(plain)
            row = f"{specimen} | {state.sequence.size} | {fast:.1f} | {slow:,.0f} | {slow / fast:.0f}"
            print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
