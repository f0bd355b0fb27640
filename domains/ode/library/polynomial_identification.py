"""Recover a polynomial right-hand side of low degree from its values.

Method: at points whose coordinates are powers of two of very different size, one monomial outweighs all
others by more than a double can tell, and the value there gives its coefficient to the last bit; unknowns
that a monomial does not contain are 0. Degree by degree, until the polynomial gives the values at two
ordinary points and times; otherwise nothing is left behind. Acts once.
Source: D. Grigoriev, M. Karpinski, "The matching problem for bipartite graphs with polynomially bounded
permanents is in NC" (1987) and M. Ben-Or, P. Tiwari, "A deterministic algorithm for sparse multivariate
polynomial interpolation" (1988), for interpolation of polynomials in black boxes; S. Brunton, J. Proctor,
J. Kutz, "Discovering governing equations from data by sparse identification of nonlinear dynamical systems"
(2016).
Complexity: O(m) for m monomials. Evaluations: one per monomial, and 2.
"""

import itertools

import numpy as np

DEGREE = 3  # tunable: int 1..3
MOST = 150  # tunable: int 10..400
GAP = 110
TINY = 2.0**-70


def monomials(n, degree):
    """All products of at most `degree` of n unknowns, as ascending indices."""
    return [m for d in range(degree + 1) for m in itertools.combinations_with_replacement(range(n), d)]


def separating_weights(monomial, rivals):
    """Integer weights of the monomial's unknowns under which it outweighs all `rivals`, or None."""
    support = sorted(set(monomial))
    for weights in itertools.product((1, -1, 2, -2, 0), repeat=len(support)):
        by_unknown = dict(zip(support, weights, strict=True))
        own = sum(by_unknown[i] for i in monomial)
        if all(own > sum(by_unknown[i] for i in rival) for rival in rivals):
            return by_unknown
    return None


def value_of(model, y):
    """The polynomial at y, and the sum of its terms' sizes, each float64 (n,)."""
    total, size = np.zeros(y.size), np.zeros(y.size)
    for monomial, coefficients in model.items():
        term = coefficients * float(np.prod(y[list(monomial)])) if monomial else coefficients
        total, size = total + term, size + np.abs(term)
    return total, size


def recover(rhs, n, degree, seen):
    """Coefficients float64 (n,) by monomial; None where they cannot be told apart."""
    unknown, model = monomials(n, degree), {}
    while unknown:
        chosen = None
        for monomial in unknown:
            inside = set(monomial)
            rivals = [m for m in (*unknown, *model) if m != monomial and set(m) <= inside]
            if len(inside) < 2 and degree == 1:
                rivals = [m for m in model if set(m) <= inside]
            weights = separating_weights(monomial, rivals)
            if weights is not None:
                chosen = (monomial, weights)
                break
        if chosen is None:
            # every rival of these is known: what is left of a value is theirs
            left = [m for m in unknown if not any(set(o) <= set(m) for o in unknown if o != m)]
            if not left:
                return None
            chosen = (left[0], dict.fromkeys(left[0], 0))
        monomial, weights = chosen
        unknown.remove(monomial)
        point = np.zeros(n)
        for i, weight in weights.items():
            point[i] = 2.0 ** (GAP * weight)
        key = tuple(point)
        if key not in seen:
            seen[key] = rhs(0.0, point)
        known, size = value_of(model, point)
        rest = seen[key] - known
        rest[np.abs(rest) <= 1e-15 * size] = 0.0
        coefficients = rest / float(np.prod(point[list(monomial)])) if monomial else rest
        if not np.all(np.isfinite(coefficients)):
            return None
        coefficients[np.abs(coefficients) < TINY] = 0.0
        if np.any(coefficients):
            model[monomial] = coefficients
    return model


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    if "identified" in work:
        return state
    work["identified"] = False
    n, y, seen = work["y"].size, work["y"], {}
    points = (y, 1.25 * y + 0.4375 + 0.03125 * np.arange(n))
    values = [rhs(work["t"] + 0.375 * i * work["end"], point) for i, point in enumerate(points)]
    for degree in range(1, DEGREE + 1):
        if len(monomials(n, degree)) > MOST:
            break
        model = recover(rhs, n, degree, seen)
        if model is None:
            continue
        fits = True
        for point, value in zip(points, values, strict=True):
            expected, size = value_of(model, point)
            fits = fits and bool(np.all(np.abs(value - expected) <= 1e-14 * size + 1e-300))
        if fits:
            work["identified"] = True
            work["model"] = [(m, tuple(float(c) for c in coefficients)) for m, coefficients in model.items()]
            break
    return state
