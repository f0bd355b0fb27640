"""Taylor series of polynomial systems in integers of fixed point."""

import numpy as np

BITS = 140
ORDER = 30
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


def solution(model, y, time):
    """The solution float64 (n,) after `time` of the autonomous system with a polynomial `model`."""
    n = y.size
    model = {m: row for m, row in model.items() if np.any(row)}
    state, time = [fixed(v) for v in y], fixed(time)
    if n <= SMALL and all(len(m) == 1 for m in model):
        matrix = np.array([[0] * n for _ in range(n)], dtype=object)
        for m, row in model.items():
            for i, c in enumerate(row):
                matrix[i, m[0]] = fixed(c)
        state = list((matrix_exponential(matrix, time) @ np.array(state, dtype=object)) >> BITS)
    else:
        terms = [(m, [(i, fixed(c)) for i, c in enumerate(row) if c]) for m, row in model.items()]
        wanted = {m[:k] for m in model for k in range(2, len(m) + 1)}
        state = taylor(terms, sorted(wanted, key=len), state, time)
    return np.array([v / ONE for v in state])
