"""The problem card of numerical integration (facts: DGA2D paper, Appendix G)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 1e100
"""Score of a state without a time."""
MOST_EVALUATIONS = 200_000
"""What the oracle answers, and no more."""

CARD = Card(
    title="Integration of initial-value problems",
    objective=(
        "Integrate y' = f(t, y), y(0) = y0, to t = t_end with few evaluations of f. The score is maximised: "
        "-log10(error) - w log10(evaluations), error the Euclidean distance of the final y to the exact "
        "solution, w 0.1 (0.05 for systems of 100 unknowns). An error above 1 is a failure and counts -20."
    ),
    encoding=(
        "state.sequence is unused. state.metadata['y'], float64 (dimension,), is the solution at "
        "state.metadata['t']; the answer is y when t has come to t_end. 'end': t_end; 'h': the next step; "
        "'f': the slope at (t, y), if known. A step that is proposed and not yet taken: 'increment', 'step', "
        "and where it is estimated 'error' with its 'order', and 'f_new', the slope at its end. "
        "'failed': True ends the run. What operators keep besides: arrays for others, tuples for themselves."
    ),
    decoder=(
        "The walk is one step: the first operator runs once, the others again and again in their order until "
        "t reaches t_end. What an operator of a kind finds is a step that another one has proposed, or none: "
        "methods propose steps, controllers accept or refuse them and change h, and a method that finds a "
        "proposed step takes it before its own. The value is t_end - t. f is asked by functions in env_data: "
        "rhs(t, y (n,)) -> float64 (n,), one evaluation, and rhs_many(t or t (k,), points (k, n)) -> float64 "
        "(k, n), k evaluations; a Jacobian by differences costs n."
    ),
    environment={
        "y0": "float64 (dimension,): the initial state, at t = 0",
        "t_end": "float: where the solution is wanted",
        "dimension": "int: number of unknowns n",
        "nominal_step": "float: 0.05, the step of methods that choose none",
        "autonomous": "int: 1 if f does not depend on t, otherwise 0",
    },
    constraints=(
        f"y holds dimension finite numbers. At most {MOST_EVALUATIONS} evaluations. Nothing but rhs and "
        "rhs_many tells anything of f."
    ),
    repeats=True,
)
