"""Faster kernels: asked for, compared, timed, put into all texts that hold the old one, offered to others."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.kernel_library import ADD_UP, FAST, HOLDING, KERNELS, KernelEvaluator, holding
from tests.agents.made_up_library import OPERATORS
from tests.agents.outside_world import Answers
from tests.agents.test_wasted_calls import states_before

from dga2d.agents.proposing.kernel_code import holds_kernel, statements_of
from dga2d.agents.proposing.kernel_harness import write_comparison
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.proposing.tasks import ImplementTask, KernelTask
from dga2d.events import ImplementationId, encode_payload
from dga2d.events.payloads import (
    EvaluationRecorded,
    IncumbentSelected,
    KernelChosen,
    KernelMeasured,
    KernelRejected,
    KernelReplaced,
    KernelsKept,
    LLMCallReserved,
    PipelineSampled,
)
from dga2d.replay.errors import DecisionMismatchError, InvariantError
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

EVOLVED: dict[str, Any] = {
    "kernels": "evolved",
    "gate_instances": 2,
    "prompt_edition": 4,
    "generations": 5,
    "last_edits": False,
    "llm_calls": 90,
    "race_contenders": 3,
    "race_instances": 2,
    "trial_samples": 2,
    "configurations": True,
    "incumbent_edits": 1,
}


def fenced(code: str) -> str:
    return f"```python\n{code}```\n"


@dataclass
class Kerneller(Answers):
    """Offline answers, and given ones for kernels by attempt; code that imports a kernel."""

    given: dict[str, list[str]] = field(default_factory=dict)
    kernel: dict[str, list[str]] = field(default_factory=dict)
    """Kernel → answers by attempt; NO_CHANGE for all others."""
    imports: bool = False
    """Whether its code imports a kernel."""
    name: str = "kerneller"

    async def complete(self, request: CompletionRequest) -> Completion:
        task = request.task
        if isinstance(task, KernelTask):
            self.requests.append(request)
            texts = self.kernel.get(task.kernel, [])
            text = texts[task.attempt] if task.attempt < len(texts) else "NO_CHANGE"
            return Completion(text, 7, 5, False, 0.25)
        if isinstance(task, ImplementTask) and self.imports and task.attempt == 0:
            self.requests.append(request)
            mark = len(self.requests)
            return Completion(fenced(IMPORTING.format(mark=mark)), 7, 5, False, 0.25)
        return await super().complete(request)


IMPORTING = '''"""Kicks by sums, number {mark}."""
import numpy as np
from kernels import mean_of


def run(env_data, state, calc_makespan_fn):
    state.metadata["number {mark}"] = mean_of(np.ones({mark}, np.int64), np.zeros({mark}, np.int64))
    return state
'''


@pytest.fixture(scope="module")
def small(simulation: Simulation) -> Simulation:
    made = replace(simulation.changed(**EVOLVED), operators=HOLDING, kernels=KERNELS)
    return replace(made, evaluator=KernelEvaluator, model=Kerneller(kernel={"add_up": [fenced(FAST)]}))


@pytest.fixture(scope="module")
def evolved(small: Simulation) -> tuple[Simulation, RunState, MemoryLog]:
    return small, *small.run()


def payloads(log: MemoryLog, kind: type[Any]) -> list[Any]:
    return [event.payload for event in log.events if isinstance(event.payload, kind)]


def text_of(log: MemoryLog, state: RunState, name: ImplementationId) -> str:
    digest = state.source_of(name)
    assert digest is not None
    return log.blobs[digest].decode()


def test_a_faster_kernel_takes_the_old_ones_place_in_all_texts_that_hold_it(
    evolved: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, state, log = evolved
    (payload,) = payloads(log, KernelReplaced)
    assert payload.kernel == "add_up"
    assert payload.factor == pytest.approx(2.0)
    ((before, _),) = states_before(log, "KernelReplaced")
    held = {
        name
        for pool in before.pools.values()
        for name in pool
        if holds_kernel(text_of(log, before, name), KERNELS[0].source, "add_up")
    }
    assert {host.removed for host in payload.replaced} == held
    assert len(held) >= 3
    after = next(s for s, e in every_state(log) if e.seq == before.seq + 1)
    for host in payload.replaced:
        text = text_of(log, after, host.implementation)
        assert ADD_UP not in text
        assert FAST.split("\n\n\n")[-1] in text
        assert host.implementation in after.pools[host.operator]
        assert host.removed not in after.pools[host.operator]
        own = before.credits.implementation_credit(host.removed, 1e-8)
        assert after.credits.implementation_credit(host.implementation, 1e-8) == own
    assert {version.kernel for version in payload.versions} == {"add_up", "mean_of"}
    assert "add_up_step" in log.blobs[state.kernels["mean_of"]].decode()


def every_state(log: MemoryLog) -> list[tuple[RunState, Any]]:
    found, state = [], RunState()
    for event in log.events:
        state = fold_all([event], state)
        found.append((state, event))
    return found


def test_what_computes_the_same_goes_on_in_programs_trials_and_samples(
    evolved: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, state, log = evolved
    (payload,) = payloads(log, KernelReplaced)
    renamed = {host.removed: host.implementation for host in payload.replaced}
    replaced_at = next(e.seq for e in log.events if isinstance(e.payload, KernelReplaced))
    later = [e.payload for e in log.events if e.seq > replaced_at]
    sampled = {s.implementation for p in later if isinstance(p, PipelineSampled) for s in p.steps}
    won = {s.implementation for p in later if isinstance(p, IncumbentSelected) for s in p.pipeline}
    gone = set(renamed) - won  # a program keeps the names under which it was measured, and may win with them
    assert gone
    assert sampled & set(renamed.values())
    assert not sampled & gone
    assert not {step.implementation for step in incumbent(state)} & gone
    for trial in state.owed_trials:
        assert trial.implementation not in renamed


@pytest.mark.slow
def test_every_decision_on_kernels_is_made_again(evolved: tuple[Simulation, RunState, MemoryLog]) -> None:
    small, state, log = evolved
    assert small.made_again(log) > 60
    assert state.status == "completed"
    again, _ = replace(small, order=3).run()
    assert state_digest(again) == state_digest(state)


def test_an_interrupted_run_goes_on_with_the_same_kernel(
    evolved: tuple[Simulation, RunState, MemoryLog],
) -> None:
    small, state, log = evolved
    for kind in (KernelChosen, KernelMeasured):
        first = next(e.seq for e in log.events if isinstance(e.payload, kind))
        final, _ = small.run(log.until(first))
        assert dict(final.kernels) == dict(state.kernels)
        assert final.pools == state.pools


def test_kernels_take_turns_and_prompts_tell_what_came_of_them(
    evolved: tuple[Simulation, RunState, MemoryLog],
) -> None:
    small, _, log = evolved
    chosen = [p.kernel for p in payloads(log, KernelChosen)]
    assert chosen == ["add_up", "mean_of", "add_up", "mean_of"]
    assert isinstance(small.model, Kerneller)
    asked = [r for r in small.model.requests if isinstance(r.task, KernelTask)]
    again = [r for r in asked if r.subject == "kernel/3/0"]
    assert "generation 1: taken, the algorithms were 2.00 times as fast" in again[0].prompt.text
    assert "add_up_step" in again[0].prompt.text
    assert all(p.template == "kernel@1" for p in payloads(log, LLMCallReserved) if p.purpose == "kernel")


def test_code_may_import_kernels_and_stands_alone_all_the_same(small: Simulation) -> None:
    model = Kerneller(imports=True)
    state, log = replace(small.changed(kernels="offered"), model=model).run()
    asked = [r for r in model.requests if r.subject.startswith("implement")]
    assert all("`add_up(values, sums)`: Adds up." in r.prompt.text for r in asked)
    texts = [text_of(log, state, name) for name in state.sources]
    imported = [text for text in texts if "Kicks by sums" in text]
    assert imported
    assert not any("from kernels" in text for text in imported)
    assert any("def mean_of(" in text and "def add_up(" in text for text in imported)


def test_comparing_a_kernel_leaves_the_shared_statements_of_its_text_as_they_are() -> None:
    new = f"{FAST}\n\n"
    before = [statement.meaning for statement in statements_of(new)]
    host = next(op for op in HOLDING if op.id == "climb").implementations[0].source

    def written() -> str:
        return write_comparison(host, new, "add_up", is_initialiser=False, most_calls=9, units=100)

    first = written()
    assert "def kernel_after(" in first
    assert [ast.dump(statement.node) for statement in statements_of(new)] == before
    assert written() == first


WRONG = FAST.replace("    return total\n", "    return total if total != 211 else 212\n")
"""Differs for one sum in a few hundred."""
WRITING = FAST.replace("    total = add_up_START", "    values[3] = 700\n    total = add_up_START")
HIDDEN = FAST.replace("    return total\n", "    values[8] = 0\n    return total\n")
FLOATING = FAST.replace("    return total\n", "    return float(total)\n")


@pytest.mark.parametrize(
    ("code", "stage", "words"),
    [
        (WRONG, "unequal", "of add_up: it returns: 212, expected 211"),
        (WRITING, "unequal", "it returns: "),
        (HIDDEN, "unequal", "it leaves the arguments (values, sums)[0] at 8: 0, expected "),
        (FLOATING, "unequal", "real number, expected integer"),
        (FAST.replace("sums[i] =", "sums[i + 1] ="), "unequal", "it fails: IndexError"),
        (FAST.replace("(values, sums):", "(values):"), "signature", "def add_up(values, sums)"),
        (FAST.replace("import numpy as np", "import random"), "kernel_rules", "may be imported"),
    ],
)
def test_a_kernel_that_is_not_equal_is_refused_with_the_first_difference(
    small: Simulation, code: str, stage: str, words: str
) -> None:
    model = Kerneller(kernel={"add_up": [fenced(code)]})
    refused = replace(small.changed(generations=2), model=model)
    state, log = refused.run()
    first = payloads(log, KernelRejected)[0]
    assert (first.stage, first.is_final) == (stage, False)
    assert words in first.diagnostic
    assert not payloads(log, KernelReplaced)
    assert {k.id: k.source.encode() for k in KERNELS} == {n: log.blobs[d] for n, d in state.kernels.items()}
    assert refused.made_again(log)


class Even(KernelEvaluator):
    fast = "nothing"


class Other(KernelEvaluator):
    slow = "add_up_step"


@pytest.mark.parametrize(
    ("evaluator", "stage", "words"),
    [(Even, "speed", "it is not clearly faster"), (Other, "compiled", "comes to another solution")],
)
def test_an_equal_kernel_must_be_clearly_faster_and_come_to_the_same_solutions(
    small: Simulation, evaluator: type[KernelEvaluator], stage: str, words: str
) -> None:
    refused = replace(small.changed(generations=2), evaluator=evaluator)
    _, log = refused.run()
    first = payloads(log, KernelRejected)[0]
    assert first.stage == stage
    assert words in first.diagnostic
    assert refused.made_again(log)


def test_a_verdict_that_does_not_follow_from_the_record_is_found(
    evolved: tuple[Simulation, RunState, MemoryLog],
) -> None:
    small, _, log = evolved
    forged = log.until(len(log.events))
    place, event = next((i, e) for i, e in enumerate(forged.events) if isinstance(e.payload, KernelMeasured))
    assert isinstance(event.payload, KernelMeasured)
    slow = tuple(pair.model_copy(update={"after_s": 2.0 * pair.before_s}) for pair in event.payload.pairs)
    forged.events[place] = event._replace(payload_bytes=changed_bytes(event, pairs=slow))
    with pytest.raises((DecisionMismatchError, InvariantError)):
        small.made_again(forged)


def changed_bytes(event: Any, **changes: Any) -> bytes:
    return encode_payload(event.payload.model_copy(update=changes))


def test_without_kernels_in_several_implementations_none_is_asked_for(small: Simulation) -> None:
    lonely = replace(small.changed(generations=2), operators=OPERATORS)
    _, log = lonely.run()
    (kept,) = payloads(log, KernelsKept)
    assert "no kernel is in several implementations" in kept.reason
    assert not [p for p in payloads(log, LLMCallReserved) if p.purpose == "kernel"]


def test_a_kernel_that_is_offered_alone_is_never_asked_for(small: Simulation) -> None:
    kernels = (replace(KERNELS[0], evolves=False), KERNELS[1])
    _, log = replace(small.changed(generations=3), kernels=kernels).run()
    assert {p.kernel for p in payloads(log, KernelChosen)} == {"mean_of"}


def test_offered_kernels_are_shown_and_never_edited(small: Simulation) -> None:
    model = Kerneller(kernel={"add_up": [fenced(FAST)]})
    state, log = replace(small.changed(kernels="offered"), model=model).run()
    assert not payloads(log, KernelChosen)
    assert not [p for p in payloads(log, LLMCallReserved) if p.purpose == "kernel"]
    asked = [r for r in model.requests if r.subject.startswith("implement")]
    assert any("from kernels import NAME" in r.prompt.text for r in asked)
    assert state.kernels


def test_offline_answers_know_no_faster_kernel(small: Simulation, simulation: Simulation) -> None:
    _, log = replace(small.changed(generations=2), model=simulation.model).run()
    (first,) = payloads(log, KernelRejected)
    assert (first.stage, first.is_final) == ("no_change", True)


def test_hosts_that_the_kernel_does_not_suit_are_passed_by(small: Simulation) -> None:
    """Code that cannot be run as plain Python says nothing against a kernel."""
    broken = tuple(
        replace(
            op,
            implementations=tuple(
                replace(i, source=i.source.replace("  mean_of(values, sums)", "  mean_of(values, sums, 1)"))
                for i in op.implementations
            ),
        )
        if op.id == "intensify"
        else op
        for op in HOLDING
    )
    _, log = replace(small.changed(generations=2), operators=broken).run()
    measured = payloads(log, KernelMeasured)[0]
    assert measured.stage == ""
    assert {check.host.partition(".")[0] for check in measured.checks} == {"climb"}


def test_a_kernel_of_which_too_little_is_seen_is_not_judged(small: Simulation) -> None:
    idle = tuple(
        replace(
            holding(op),
            implementations=tuple(
                replace(i, source=i.source.replace("while not", "while False and not"))
                for i in holding(op).implementations
            ),
        )
        if op.id in ("climb", "intensify")
        else op
        for op in OPERATORS
    )
    _, log = replace(small.changed(generations=2), operators=idle).run()
    assert payloads(log, KernelRejected)[0].stage == "unchecked"


def test_evaluations_are_what_they_are_without_kernels(simulation: Simulation) -> None:
    _, plain = simulation.run()
    _, same = simulation.changed(kernels="evolved").run()  # the library declares none
    assert [e.payload for e in plain.events if isinstance(e.payload, EvaluationRecorded)] == [
        e.payload for e in same.events if isinstance(e.payload, EvaluationRecorded)
    ]
