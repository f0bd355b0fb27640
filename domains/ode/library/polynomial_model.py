"""Recover a polynomial right-hand side from its values, and integrate it without asking again.

Method: at points whose coordinates are powers of two of very different size, one monomial outweighs all
others by more than a double can tell, and the value there gives its coefficient to the last bit; unknowns
that a monomial does not contain are 0. Degree by degree, until the polynomial gives the values at two
ordinary points and times; if none does, the problem is left to others. The polynomial is integrated by
Taylor series of high order in multiple precision, a small linear system by the matrix exponential.
Source: M. Ben-Or, P. Tiwari, "A deterministic algorithm for sparse multivariate polynomial interpolation"
(1988); S. Brunton, J. Proctor, J. Kutz, "Discovering governing equations from data by sparse identification
of nonlinear dynamical systems" (2016); A. Jorba, M. Zou, "A software package for the numerical integration
of ODEs by means of high-order Taylor methods" (2005).
Complexity: O(m k^2) per step of order k for m monomials. Evaluations: one per monomial, and 2.
"""

from parts.identification import identify
from parts.steps import commit
from parts.taylor import solution

DEGREE = 3  # tunable: int 1..3
MOST = 150  # tunable: int 10..400


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    commit(work)
    if "identified" in work or work["t"] >= work["end"]:
        return state
    model = identify(env_data["rhs"], work["t"], work["y"], work["end"], DEGREE, MOST)
    work["identified"] = model is not None
    if model is not None:
        work["y"] = solution(model, work["y"], work["end"] - work["t"])
        work["t"] = work["end"]
        work.pop("f", None)
    return state
