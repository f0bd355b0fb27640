"""The problem card of root finding."""

from __future__ import annotations

from typing import Final

from dga2d.domains.core.contract import Card

CARD: Final = Card(
    title="Root finding",
    objective=(
        "Find x with max |f(x)| <= tolerance in few evaluations of an unknown function f of one or two "
        "variables. The score S = 1 - 0.05 ln(1 + evaluations) - 0.02 ln(1 + rounds) is maximised; a "
        "failure counts -2."
    ),
    encoding=(
        "state.sequence is empty. state.metadata holds x, float64 (n,), the answer so far, and fx, float64 "
        "(n,), f at x (x alone, with done = True, ends the iteration without evaluating there). Shared by "
        "all operators: points and values, float64 (k, n), the points evaluated so far, in order, and f "
        "there; jacobian,  float64 (n, n), an approximation at x, where one is known; other arrays by names "
        "of an operator's own. Numbers must be finite at the end."
    ),
    decoder=(
        "The walk is a step of an iteration: its first operator runs once, the others again and again in "
        "their order until max |fx| <= tolerance, done is True, or the budget of evaluations is spent (1000 "
        "at most). So an operator does one step and returns. calc_makespan_fn(state) is max |fx|, free."
    ),
    environment={
        "dimension": "int: number of variables and of equations n, 1 or 2",
        "x0": "float64 (n,): initial guess",
        "radius": "float: a root is at most so far from x0 in each coordinate",
        "tolerance": "float: largest residual of a root, 1e-8",
    },
    constraints=(
        "f is asked by env_data['f'](x) -> (n,); f_many(points (k, n)) -> (k, n), k evaluations in one "
        "round; f_derivatives(x, order) -> f, f', … to order <= 2 for n = 1, order + 1 evaluations in one "
        "round; f_jacobian(x) -> f (n,) and its Jacobian (n, n), n + 1 evaluations in one round. All that "
        "is asked at once is one round. Evaluations are counted by the program, whatever the state says."
    ),
    repeats=True,
)
"""Says nothing of the families: an operator that knew their formulas could evaluate for free."""
