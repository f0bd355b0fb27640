"""Python interface: evolve, open a database of runs, look at a run and put its algorithm to work."""

from dga2d.runtime.api.evaluators import ProcessEvaluator, Question
from dga2d.runtime.api.evolving import AskTell, Runs, evolve, evolve_async, open
from dga2d.runtime.api.following import StopEvolution
from dga2d.runtime.api.run import Program, Run, Solution

__all__ = [
    "AskTell",
    "ProcessEvaluator",
    "Program",
    "Question",
    "Run",
    "Runs",
    "Solution",
    "StopEvolution",
    "evolve",
    "evolve_async",
    "open",
]
