"""What the rules of races and of the checkpoint gain, on made-up problems where the best is known.

    python benchmarks/races.py             # 20 seeds, ten seconds for each and rule
    python benchmarks/races.py --seeds 6 --generations 6

The real agents evolve the real operators of job shops in memory, with the default preset, but no code runs:
an objective is a planted loss times the difficulty of its instance, with noise. A program loses by its
structures of code, by the distance of every constant from a planted value, and by its walk; all are drawn
anew for each seed. Difficulties vary by a factor of about ten, as they do between small and large instances,
and so does the noise. Reported is what of the baseline's loss is gone at the end of a run, in the champion of
the races and in the checkpoint, without any noise, and how many evaluations it took. Intervals (95 %) are
percentile bootstraps over seeds. The table is Markdown; progress goes to stderr. Everything repeats exactly.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from independent import without_constants
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import Fails
from tests.agents.simulation import SMALL, Simulation

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.proposing.variation import place_in_range
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import Draft, InstanceKey
from dga2d.events.payloads import InstanceEntry, PositionTrace, RunStarted, Step
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.runs.config import DEFAULT

TRAIN, VALIDATION = 36, 16
"""Instances of the splits."""
STRUCTURE, CONSTANT, WALK = 0.03, 0.04, 0.02
"""Largest losses by one structure of code, one constant and one transition."""
NOISE = 0.25
"""Standard deviation of the noise on an instance, relative to the baseline's usual loss."""
USUAL = 0.05
SPREAD = 0.8
"""Standard deviation of the logarithm of an instance's difficulty."""
AS_THEY_WERE: Mapping[str, Any] = {
    "race_error": 0.2,
    "race_returns": 0,
    "champion_share": 0.0,
    "beam_width": 4,
    "share_effort": 0.0,
    "race_ties": False,
}
"""Values of the settings examined, before they were."""
RULES: Mapping[str, Mapping[str, Any]] = {
    "as they were": {},
    "race_error 0.5": {"race_error": 0.5},
    "race_returns 2": {"race_returns": 2},
    "champion_share 0.8, beam_width 1": {"champion_share": 0.8, "beam_width": 1},
    "all of these": {"race_error": 0.5, "race_returns": 2, "champion_share": 0.8, "beam_width": 1},
    "default without race_evidence": {**DEFAULT, "race_evidence": False},
    "default without race_memory": {**DEFAULT, "race_memory": 0},
    "default without race_shrinkage": {**DEFAULT, "race_shrinkage": 0.0},
    "default without gate_patience": {**DEFAULT, "gate_patience": 0.0},
    "default by survival": {**DEFAULT, "race_credit": "stays"},
    "default by holm": {**DEFAULT, "checkpoint_test": "holm", "champion_share": 0.8},
    "default against the checkpoint": {**DEFAULT, "checkpoint_against": "checkpoint"},
    "default": DEFAULT,
}


@dataclass(frozen=True)
class Planted:
    """Losses that are drawn for a seed."""

    seed: int

    def draw(self, *words: object) -> float:
        """Return a number in [0, 1) that depends on the words alone."""
        text = "|".join(map(str, (self.seed, *words)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48

    def loss(self, parts: Sequence[Implementation], shares: Sequence[float]) -> float:
        """Return the loss of a program: of its code, by the share of each position, and of its walk."""
        weights = [share / sum(shares) for share in shares]
        code = math.fsum(w * self._code(part.source) for w, part in zip(weights, parts, strict=True))
        names = ["", *(part.operator for part in parts)]
        walk = fmean(WALK * self.draw("walk", *pair) for pair in pairwise(names))
        return code + walk + 0.002 * len(parts)

    def _code(self, source: str) -> float:
        structure, places = _anatomy(source)
        found = STRUCTURE * self.draw("structure", structure)
        for name, place in places:
            found += CONSTANT * (place - self.draw("constant", structure, name)) ** 2
        return found


@lru_cache(maxsize=4096)
def _anatomy(source: str) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return the digest of a text without its constants, and where these stand in their ranges."""
    places = [(t.name, place_in_range(t, t.value)) for t in find_tunables(source) if t.can_vary]
    digest = hashlib.sha256(without_constants(source)).hexdigest()
    return digest, tuple((name, place) for name, place in places if place is not None)


class PlantedEvaluator:
    """Answers with planted losses instead of running code."""

    def __init__(self, order: random.Random, fails: Fails) -> None:
        self.planted = Planted(order.randrange(10**9))

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        """Return the objective of a program on an instance under its random stream."""
        draw = self.planted.draw
        difficulty = math.exp(SPREAD * _normal(draw("difficulty", request.instance.key)))
        loss = self.planted.loss(request.steps, request.shares or [1.0] * len(request.steps))
        digests = [step.digest for step in request.steps]
        luck = _normal(draw("luck", request.instance.key, request.seed, digests, request.shares))
        value = 100.0 * (1.0 + difficulty * (loss + NOISE * USUAL * luck))
        trace = tuple(
            PositionTrace(score_before=value + 1 if i else None, score_after=value, elapsed_s=0.1, work=30)
            for i in range(len(request.steps))
        )
        return EvaluationReply(value, None, "", 0.1, 30 * len(trace), trace, b"")


def _normal(uniform: float) -> float:
    """Return the value of a standard normal distribution at a quantile."""
    from scipy.special import ndtri

    return float(ndtri(min(max(uniform, 1e-9), 1.0 - 1e-9)))


@dataclass(frozen=True)
class PlantedRun(Simulation):
    """A run over instances of three groups."""

    def started(self) -> tuple[Draft, list[bytes]]:
        draft, sources = super().started()
        payload = draft.payload
        assert isinstance(payload, RunStarted)
        train = [InstanceKey(f"g{i % 3}/train{i:02}") for i in range(TRAIN)]
        validation = [InstanceKey(f"g{i % 3}/validation{i:02}") for i in range(VALIDATION)]
        splits = payload.splits.model_copy(
            update={"train": _entries(train), "validation": _entries(validation)}
        )
        batch = tuple(sorted(train)[i] for i in (0, TRAIN // 2, TRAIN - 1))
        return replace(draft, payload=payload.model_copy(update={"splits": splits, "batch": batch})), sources


def _entries(keys: Sequence[InstanceKey]) -> tuple[InstanceEntry, ...]:
    return tuple(InstanceEntry(key=key, reference=100.0) for key in sorted(keys))


def evolve(rules: Mapping[str, Any], seed: int, generations: int) -> tuple[float, float, int]:
    """Return what of the baseline's loss is gone, in the champion and in the checkpoint, and evaluations."""
    known = {**DEFAULT, **AS_THEY_WERE}
    settings = RunSettings.model_validate(
        {**SMALL.model_dump(), **known, **rules, "generations": generations, "batch_size": 3}
        | {"pipelines": 4, "max_length": 10, "pool_limit": 10, "llm_calls": 500}
        | {"validation_interval": generations // 2, "calibration": "off"}
    )
    operators = tuple(op for op in get_domain("jsp").operators() if op.tier == "basic")
    run = PlantedRun(
        settings,
        seed=seed,
        order=seed,
        operators=operators,
        baseline=("giffler_thompson", "critical_block_annealing"),
        evaluator=PlantedEvaluator,
    )
    planted = Planted(random.Random(seed).randrange(10**9))
    state, log = run.run()
    count = sum(event.type == "EvaluationRecorded" for event in log.events)

    def loss(steps: Sequence[Step]) -> float:
        parts = [_text(state, log, step) for step in steps]
        return planted.loss(parts, [step.share or 1.0 for step in steps])

    start = loss(state.header.baseline)
    champion = state.header.baseline if state.champion is None else state.champion.steps
    kept = state.header.baseline if state.checkpoint is None else state.checkpoint.steps
    return 1.0 - loss(champion) / start, 1.0 - loss(kept) / start, count


def _text(state: RunState, log: MemoryLog, step: Step) -> Implementation:
    source = log.blobs[state.sources[step.implementation]].decode()
    return Implementation(OperatorName(step.operator), source, "")


def interval(values: Sequence[float]) -> str:
    """Return the mean in percent with a percentile bootstrap interval."""
    draws = np.random.default_rng(0).choice(values, (2000, len(values)))
    low, high = np.percentile(draws.mean(axis=1), [2.5, 97.5])
    return f"{100 * fmean(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("--rules", nargs="+", choices=list(RULES), default=list(RULES))
    options = parser.parse_args()
    print("| rules | evaluations | loss gone, %: champion (95 %) | checkpoint | kept the baseline |")
    print("|---|--:|---|---|--:|")
    for name in options.rules:
        rows = []
        for seed in range(options.seeds):
            rows.append(evolve(RULES[name], seed, options.generations))
            print(f"{name}, seed {seed}: {rows[-1]}", file=sys.stderr, flush=True)
        champions, kept, counts = zip(*rows, strict=True)
        baseline = sum(gone == 0.0 for gone in kept)
        print(
            f"| {name} | {fmean(counts):.0f} | {interval(champions)} | {interval(kept)} | {baseline} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
