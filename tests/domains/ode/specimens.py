"""Library pipelines on instances of the suite, in this process."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Implementation, Instance, InstanceRef, PipelineStep, Verdict
from dga2d.domains.core.oracle import with_record
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.ode import DOMAIN
from dga2d.domains.ode.oracle import CountedRightHandSide, make_oracle


class Outcome(NamedTuple):
    verdict: Verdict
    evaluations: int
    metadata: dict[str, Any]


@cache
def instance_of(key: str) -> Instance:
    group, name = key.split("/")
    return DOMAIN.load(InstanceRef("ode", group, name, None))


def implementation(file: str, **constants: float) -> Implementation:
    """Return an implementation of the library by its file, with other constants."""
    found = next(
        i for op in DOMAIN.operators() for i in op.implementations if i.origin == f"library:{file}.py"
    )
    source = found.source
    for name, value in constants.items():
        lines = source.split("\n")
        place = next(k for k, line in enumerate(lines) if line.startswith(f"{name} = "))
        lines[place] = f"{name} = {value!r}"
        source = "\n".join(lines)
    return replace(found, source=source)


def integrate(
    key: str,
    *texts: Implementation | PipelineStep | str,
    cache: Path,
    oracle: CountedRightHandSide | None = None,
) -> Outcome:
    """Run texts, or files of the library by name, on an instance."""
    instance = instance_of(key)
    environment = DOMAIN.environment(instance)
    oracle = oracle or make_oracle(DOMAIN.oracle_data(instance))
    chosen = [implementation(t) if isinstance(t, str) else t for t in texts]
    runs = [
        load_implementation(t.implementation if isinstance(t, PipelineStep) else t, cache) for t in chosen
    ]
    rng, budget = np.random.default_rng(0), Budget(100_000, "work", len(runs))
    found = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, ask=oracle.answer)
    state = with_record(found.state, oracle.record())
    return Outcome(DOMAIN.verify(instance, state), int(oracle.record()["evaluations"]), state.metadata)
