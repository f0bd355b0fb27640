"""Makes a solver file of a run's best algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.domains.core.registry import get_domain
from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.solver_file import Provenance, solver_source
from dga2d.runtime.supervisor import load_state
from dga2d.runtime.views import gap_of, test_view
from dga2d.store import open_store


@dataclass(frozen=True)
class TakenAway:
    """A solver file before it is written."""

    text: str
    generation: int
    operators: tuple[str, ...]
    head_hash: str


async def solver_of_run(url: str, run_id: str, now: datetime) -> TakenAway:
    """The best validated algorithm of a run, or its best on the training batch before any validation.

    Raises
    ------
    RunStateError
        The run has not scored any algorithm yet.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state = await load_state(store, RunId(run_id))
        program = state.checkpoint or state.best
        if program is None:
            raise RunStateError(f"run {run_id} has not scored any algorithm yet")
        sources = SourceReader(store)
        steps = [await sources.implementation(state, step) for step in program.steps]
        head = (await store.head(RunId(run_id))).hash.hex()
    provenance = Provenance(
        domain=state.header.domain,
        title=get_domain(state.header.domain).card.title,
        program=state.code_version,
        run=f"run {run_id}, generation {program.generation}, seed {state.header.seed}",
        head_hash=head,
        results=tuple(_results(state)),
        written_at=now,
    )
    text = solver_source(steps, provenance)
    return TakenAway(text, program.generation, tuple(step.operator for step in steps), head)


def _results(state: RunState) -> list[str]:
    lines = []
    for label, program in (("training batch", state.best), ("validation", state.checkpoint)):
        gap = None if program is None else gap_of(program.score, state.settings.failure_reward)
        if gap is not None:
            lines.append(f"{label} gap {gap:.2f} %")
    test = test_view(state)
    if test is not None and test["gap_percent"].get("evolved") is not None:
        lines.append(
            f"held-out gap {test['gap_percent']['evolved']:.2f} % over {test['instances']} instances"
        )
    return lines
