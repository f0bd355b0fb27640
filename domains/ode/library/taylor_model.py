"""Integrate an identified polynomial right-hand side by Taylor series in multiple precision.

Method: Taylor series of high order by Leibniz's rule, in integers of fixed point, from here to the end; for
small linear systems the matrix exponential by scaling and squaring. Nothing is evaluated. Without a model,
which polynomial_identification leaves, nothing is done.
Source: G. Corliss, Y. Chang, "Solving ordinary differential equations using Taylor series" (1982); A.
Jorba, M. Zou, "A software package for the numerical integration of ODEs by means of high-order Taylor
methods" (2005).
Complexity: O(m k^2) per step of order k for m products. Evaluations: none.
"""

import numpy as np
from parts.steps import commit

BITS = 140
ORDER = 30  # tunable: int 12..60
SMALL = 20
ONE = 1 << BITS


def fixed(number):
    """A double as an integer of fixed point, exactly unless it is below 2^-87."""
    return int(float(number) * 2.0**BITS)


def matrix_exponential(matrix, time):
    """exp(matrix time) for object arrays of fixed point."""
    scaled = (matrix * time) >> BITS
    norm = max(sum(abs(v) for v in row) for row in scaled)
    halvings = max(0, norm.bit_length() - BITS + 2)
    scaled = scaled >> halvings
    unit = np.array(
        [[ONE if i == j else 0 for j in range(len(matrix))] for i in range(len(matrix))], dtype=object
    )
    result, k = unit, 32
    while k > 0:
        result = unit + ((scaled @ result) >> BITS) // k
        k -= 1
    for _ in range(halvings):
        result = (result @ result) >> BITS
    return result


def series(terms, products, y, h):
    """Taylor coefficients of each unknown, times powers of h."""
    unknowns = [[v] for v in y]
    partial = {m: [] for m in products}
    for k in range(ORDER):
        for m in products:
            left = unknowns[m[0]] if len(m) == 2 else partial[m[:-1]]
            right = unknowns[m[-1]]
            partial[m].append(sum(a * b for a, b in zip(left[: k + 1], right[k::-1], strict=True)) >> BITS)
        slopes = [0] * len(y)
        for m, entries in terms:
            if not m:
                factor = ONE if k == 0 else 0
            else:
                factor = unknowns[m[0]][k] if len(m) == 1 else partial[m][k]
            if factor:
                for i, c in entries:
                    slopes[i] += c * factor
        for unknown, total in zip(unknowns, slopes, strict=True):
            unknown.append((((total >> BITS) * h) >> BITS) // (k + 1))
    return unknowns


def taylor(terms, products, y, time):
    """Integrate over `time`, fixed point; the steps are powers of two."""
    left, h = time, ONE >> 4
    limit = ONE >> 112
    while left > 0:
        h = min(h, left)
        unknowns = series(terms, products, y, h)
        halvings = 0
        last = max(max(abs(s[-1]), abs(s[-2]) >> 1) for s in unknowns)
        while last >> (halvings * ORDER) > limit:
            halvings += 1
        y = []
        for s in unknowns:
            total = 0
            for k in range(ORDER, 0, -1):
                total = (total + s[k]) >> halvings
            y.append(s[0] + total)
        step = h >> halvings
        left -= step
        h = step << 1 if halvings else h << 1 if last << (ORDER // 2) < limit else h
    return y


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    if "model" not in work:
        return state
    commit(work)
    if work["t"] >= work["end"]:
        return state
    model, n = work["model"], work["y"].size
    y, time = [fixed(v) for v in work["y"]], fixed(work["end"] - work["t"])
    if n <= SMALL and all(len(m) == 1 for m, _ in model):
        matrix = np.array([[0] * n for _ in range(n)], dtype=object)
        for m, coefficients in model:
            for i, c in enumerate(coefficients):
                matrix[i, m[0]] = fixed(c)
        y = list((matrix_exponential(matrix, time) @ np.array(y, dtype=object)) >> BITS)
    else:
        terms = [(m, [(i, fixed(c)) for i, c in enumerate(row) if c]) for m, row in model]
        wanted = {m[:k] for m, _ in model for k in range(2, len(m) + 1)}
        y = taylor(terms, sorted(wanted, key=len), y, time)
    work["y"] = np.array([v / ONE for v in y])
    work["t"] = work["end"]
    work.pop("f", None)
    return state
