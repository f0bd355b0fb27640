"""Writes ``run-v<version>.zip`` for the present version of the file format, ``dialogue.zip``, a run with new
operators, turns and the third edition of prompts, ``lagging.zip``, a run whose edits are made generations
after they were asked for, ``scores.zip``, one of a domain with a score of its own, and ``kernels.zip``, one
in which a kernel is replaced, if there are none yet.

Run it from the root after raising the version: ``PYTHONPATH=. python -m tests.agents.golden.record_run``.
A file that was part of a release is never changed or removed: today's program must read it for ever.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import anyio
from tests.agents.kernel_library import FAST, HOLDING, KERNELS, KernelEvaluator
from tests.agents.outside_world import Answers
from tests.agents.simulation import SMALL, Simulation

from dga2d.events import RunId
from dga2d.events.payloads import ScoreEntry
from dga2d.replay.archive import Manifest, export_run
from dga2d.store import open_store

RUN = RunId("simulated")


PLAIN = Simulation(SMALL).changed(generations=2, pipelines=2, batch_size=1)
DIALOGUE = replace(PLAIN, seed=2).changed(
    generations=3,
    gate_instances=2,
    incumbent_edits=1,
    prompt_edition=3,
    answers_per_edit=2,
    turns=2,
    answer_form="auto",
    edge_smoke=True,
    new_operators=1,
    operator_limit=5,
    max_length=6,
)
LAGGING = replace(PLAIN, patience=4000).changed(
    generations=6, edit_lag=3, edit_landing="arrival", gate_instances=2, incumbent_edits=1, prompt_edition=2
)

SCORES = replace(PLAIN, seed=3, own_score=ScoreEntry(failure=-7.0, formula="-log10(error)")).changed(
    generations=4, gate_instances=2, incumbent_edits=1, prompt_edition=4, checkpoint_margin=2.0
)


KERNEL = replace(
    replace(PLAIN, seed=4, operators=HOLDING, kernels=KERNELS, evaluator=KernelEvaluator),
    model=Answers(
        {"KernelTask": [f"```python\n{FAST.replace('[i]', '[0]')}```\n", f"```python\n{FAST}```\n"]}
    ),
).changed(
    generations=4,
    kernels="evolved",
    gate_instances=2,
    incumbent_edits=1,
    prompt_edition=4,
    race_contenders=2,
    race_instances=2,
)


async def record(path: Path, simulation: Simulation) -> None:
    """A small run, exported."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite+aiosqlite:///{folder}/log.db") as store:
            async with store.write(RUN, create=True, quotas={"llm-call": 50}) as writer:
                await simulation.process(writer, store, [])
            await export_run(store, RUN, path)


if __name__ == "__main__":
    folder = Path(__file__).parent
    version = Manifest.model_fields["version"].default
    runs = {
        f"run-v{version}.zip": PLAIN,
        "dialogue.zip": DIALOGUE,
        "lagging.zip": LAGGING,
        "scores.zip": SCORES,
        "kernels.zip": KERNEL,
    }
    for name, simulation in runs.items():
        if not (folder / name).exists():
            anyio.run(record, folder / name, simulation)
