"""Polynomials recovered from their values at points of very different size."""

import itertools

import numpy as np

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


def identify(rhs, t, y, end, highest, most):
    """Coefficients float64 (n,) by monomial of a polynomial that gives the values of f at ordinary points, of
    the lowest degree up to `highest` and at most `most` monomials; None if there is none."""
    n, seen = y.size, {}
    points = (y, 1.25 * y + 0.4375 + 0.03125 * np.arange(n))
    values = [rhs(t + 0.375 * i * (end - t), point) for i, point in enumerate(points)]
    for degree in range(1, highest + 1):
        if len(monomials(n, degree)) > most:
            return None
        model = recover(rhs, n, degree, seen)
        if model is None:
            continue
        fits = True
        for point, value in zip(points, values, strict=True):
            expected, size = value_of(model, point)
            fits = fits and bool(np.all(np.abs(value - expected) <= 1e-14 * size + 1e-300))
        if fits:
            return model
    return None
