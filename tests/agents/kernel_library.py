"""A small library whose improving operators share two functions, and an evaluator that runs its texts."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
from tests.agents.made_up_library import OPERATORS
from tests.agents.outside_world import Fails, HashEvaluator

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.proposing.kernel_harness import OPERATOR
from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Implementation, State
from dga2d.domains.core.kernels import Kernel
from dga2d.domains.execution import execute
from dga2d.domains.source_rules import check_source
from dga2d.events.payloads import PositionTrace

ADD_UP = '''@njit(cache=True)
def add_up(values, sums):
    """Running sums of the values; returns the last one."""
    total = 0
    for i in range(values.size):
        total += values[i]
        sums[i] = total
    return total
'''
MEAN_OF = """@njit(cache=True)
def mean_of(values, sums):
    return add_up(values, sums) / values.size
"""
HEAD = "import numpy as np\nfrom numba import njit\n"
SOURCE = (
    f'"""Sums in rounds."""\n\n{HEAD}\nNAME = "{{name}}"\n\n\n{ADD_UP}\n\n{MEAN_OF}'
    + """

def run(env_data, state, calc_makespan_fn):
    values, sums = np.arange(9, dtype=np.int64), np.zeros(9, np.int64)
    while not env_data["budget"].exhausted():
        values[:] = env_data["rng"].integers(0, {top}, 9)
        mean_of(values, sums)
        env_data["budget"].charge(1)
    return state
"""
)
KERNELS = (
    Kernel("add_up", "Adds up.", ("values: int64 (n,)", "sums: int64 (n,), written"), f"{HEAD}\n\n{ADD_UP}"),
    Kernel(
        "mean_of",
        "The mean, with running sums.",
        ("values: int64 (n,)", "sums: int64 (n,), written"),
        f"{HEAD}\n\n{ADD_UP}\n\n{MEAN_OF}",
    ),
)
FAST = '''import numpy as np
from numba import njit

add_up_START = 0


@njit(cache=True)
def add_up_step(total, value):
    return total + value


@njit(cache=True)
def add_up(values, sums):
    """The same at once."""
    total = add_up_START
    for i in range(values.size):
        total = add_up_step(total, values[i])
        sums[i] = total
    return total
'''


def holding(operator: Any, *, top: int = 50) -> Any:
    """An operator whose implementations hold both kernels."""
    texts = [SOURCE.format(name=f"{operator.id}{i}", top=top) for i in range(len(operator.implementations))]
    kept = tuple(Implementation(operator.id, text, "library:test") for text in texts)
    return replace(operator, implementations=kept)


HOLDING = tuple(holding(op) if op.id in ("climb", "intensify") else op for op in OPERATORS)


class KernelEvaluator(HashEvaluator):
    """Runs the texts that compare kernels, in this process; times of compiled ones are made up: texts that
    hold `fast` take half as long."""

    fast = "add_up_step"
    slow = ""

    def __init__(self, order: random.Random, fails: Fails = lambda request: False) -> None:
        super().__init__(order, fails)

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        if not request.key.startswith("kernel/"):
            return await super().evaluate(request)
        self.keys.append(request.key)
        text = request.steps[-1]
        if text.operator == OPERATOR:
            return run_here(text.source, request)
        seconds = 0.2 if self.fast in text.source else 0.4
        trace = (PositionTrace(score_before=None, score_after=1.0, elapsed_s=seconds, work=9),)
        solution = b"other" if self.slow and self.slow in text.source else b"same"
        return EvaluationReply(1.0, None, "", seconds, int(request.budget or 0), trace, solution, seconds)


def run_here(source: str, request: EvaluationRequest) -> EvaluationReply:
    """Run one plain text behind a step that does nothing."""
    assert check_source(source) == ()
    module: dict[str, Any] = {}
    exec(compile(source, "host", "exec"), module)
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(request.seed[0])))
    budget = Budget(float(request.budget or 1), "work", 2)
    runs = (lambda env, state, score: state, module["run"])
    try:
        done = execute(runs, {}, Still(), budget, rng)
    except Exception as error:
        told = f"running position 2:\nhost.{type(error).__name__}: {error}"
        return EvaluationReply(None, "runtime_error", told, 0.1, 0, (), None)
    trace = tuple(
        PositionTrace(score_before=t.score_before, score_after=t.score_after, elapsed_s=0.1, work=t.work)
        for t in done.trace
    )
    return EvaluationReply(1.0, None, "", 0.1, budget.work, trace, b"given")


class Still:
    """A decoder for which all states are as good."""

    def __call__(self, state: State) -> float:
        return 1.0
