"""Compute the terminal states that the errors of ``ode`` are measured against, each by two methods.

    python benchmarks/ode_references.py            # writes domains/ode/references.json, some minutes with
    gmpy2 python benchmarks/ode_references.py lorenz     # one system alone, the others stay

The parameters are doubles, and the problem that they define is solved in 50 digits:

- the systems with a polynomial right-hand side by Taylor series of order 32 and by Gauss collocation of 12
stages;
- the linear systems by Taylor series for the matrix exponential and by eigenvectors, which for the two
partial
  differential equations are known in closed form.

What is stored are 30 digits of the first; the bound in the file is above the largest difference of the two.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np

from dga2d.domains.ode.suite import TABLE, draw, names
from dga2d.domains.ode.systems import SYSTEMS, coefficients_of

Monomials = list[tuple[int, Any, tuple[int, ...]]]
"""(component, coefficient, indices of the unknowns that are multiplied)."""
BOUND = 1e-22
"""What the two methods must agree to, largest difference of a component."""
mp.mp.dps = 50


def monomials(system: str, p: dict[str, Any]) -> Monomials:
    """Return the right-hand side of a polynomial system."""
    c = {name: mp.mpf(value) for name, value in p.items()}
    if system == "lotka_volterra":
        return [
            (0, c["alpha"], (0,)), (0, -c["beta"], (0, 1)), (1, c["delta"], (0, 1)), (1, -c["gamma"], (1,)),
        ]  # fmt: skip
    if system == "van_der_pol":
        return [(0, mp.mpf(1), (1,)), (1, c["mu"], (1,)), (1, -c["mu"], (0, 0, 1)), (1, mp.mpf(-1), (0,))]
    if system == "robertson":
        return [
            (0, -c["k1"], (0,)), (0, c["k3"], (1, 2)), (1, c["k1"], (0,)), (1, -c["k3"], (1, 2)),
            (1, -c["k2"], (1, 1)), (2, c["k2"], (1, 1)),
        ]  # fmt: skip
    one = mp.mpf(1)
    return [
        (0, -c["sigma"], (0,)), (0, c["sigma"], (1,)), (1, c["rho"], (0,)), (1, -one, (0, 2)), (1, -one,
        (1,)), (2, one, (0, 1)), (2, -c["beta"], (2,)),
    ]  # fmt: skip


def by_taylor(terms: Monomials, initial: list[Any], end: Any, order: int = 32) -> list[Any]:
    """Integrate by Taylor series, with steps that leave about 1e-33 to the last coefficients."""
    products = sorted({m for _, _, m in terms if len(m) > 1}, key=len)
    needed = sorted({m[:k] for m in products for k in range(2, len(m) + 1)}, key=len)
    t, y = mp.mpf(0), list(initial)
    while t < end:
        series = [[v] for v in y]
        partial: dict[tuple[int, ...], list[Any]] = {m: [] for m in needed}
        for k in range(order):
            for m in needed:
                left = series[m[0]] if len(m) == 2 else partial[m[:-1]]
                right = series[m[-1]]
                partial[m].append(mp.fdot(left[: k + 1], right[k::-1]))
            new = [mp.mpf(0)] * len(y)
            for i, c, m in terms:
                new[i] += c * (series[m[0]][k] if len(m) == 1 else partial[m][k])
            for i, value in enumerate(new):
                series[i].append(value / (k + 1))
        radius = min(
            (mp.mpf("1e-33") / size) ** (mp.mpf(1) / j)
            for j in (order - 1, order)
            if (size := max(abs(s[j]) for s in series)) > 0
        )
        h = min(radius, end - t)
        y = [mp.polyval(s[::-1], h) for s in series]
        t = end if h == end - t else t + h
    return y


def by_collocation(terms: Monomials, initial: list[Any], grid: list[Any], stages: int = 12) -> list[Any]:
    """Integrate by Gauss collocation; Newton's matrix in double precision, so that it converges linearly."""
    _, weights, matrix = _gauss(stages)
    n = len(initial)
    rough = np.array(matrix.tolist(), dtype=float)

    def f(y: list[Any]) -> list[Any]:
        out = [mp.mpf(0)] * n
        for i, c, m in terms:
            out[i] += c * mp.fprod(y[j] for j in m)
        return out

    y = list(initial)
    for start, stop in pairwise(grid):
        h = stop - start
        jacobian = np.zeros((n, n))
        for i, c, m in terms:
            for place, j in enumerate(m):
                others = [float(y[other]) for q, other in enumerate(m) if q != place]
                jacobian[i, j] += float(c) * float(np.prod(others))
        newton = np.linalg.inv(np.eye(n * stages) - float(h) * np.kron(rough, jacobian))
        slopes = [f(y)] * stages
        for _ in range(200):
            values = [
                [y[i] + h * mp.fdot((matrix[s, r], slopes[r][i]) for r in range(stages)) for i in range(n)]
                for s in range(stages)
            ]
            slopes_new = [f(v) for v in values]
            defect = [slopes_new[s][i] - slopes[s][i] for s in range(stages) for i in range(n)]
            size = max(abs(d) for d in defect)
            scale = max(abs(v) for row in slopes_new for v in row)
            if size <= scale * mp.mpf("1e-36"):
                slopes = slopes_new
                break
            # the slopes' own Newton step: (I - h A⊗J)⁻¹ defect, scaled so that it fits a double
            step = newton_for_slopes(newton, defect, size)
            slopes = [[slopes[s][i] + step[s * n + i] for i in range(n)] for s in range(stages)]
        else:
            raise RuntimeError(f"no convergence at t = {start}")
        y = [y[i] + h * mp.fdot((weights[s], slopes[s][i]) for s in range(stages)) for i in range(n)]
    return y


def newton_for_slopes(newton: Any, defect: list[Any], size: Any) -> list[Any]:
    """Return the correction of the slopes."""
    scaled = np.array([float(d / size) for d in defect])
    return [mp.mpf(v) * size for v in newton @ scaled]


def _gauss(stages: int) -> tuple[list[Any], list[Any], Any]:
    """Return nodes, weights and the matrix of Gauss's method on [0, 1]."""
    coefficients = mp.taylor(lambda x: mp.legendre(stages, x), 0, stages)[::-1]
    nodes = sorted((mp.re(r) + 1) / 2 for r in mp.polyroots(coefficients, maxsteps=500, extraprec=400))
    vandermonde = mp.matrix(stages, stages)
    integrals = mp.matrix(stages, stages)
    for i, c in enumerate(nodes):
        for k in range(stages):
            vandermonde[i, k] = c**k
            integrals[i, k] = c ** (k + 1) / (k + 1)
    inverse = mp.inverse(vandermonde)
    matrix = integrals * inverse
    ends = mp.matrix([[mp.mpf(1) / (k + 1) for k in range(stages)]]) * inverse
    return nodes, [ends[0, k] for k in range(stages)], matrix


Rows = list[list[tuple[int, Any]]]
"""The non-zero entries of each row of a matrix."""


def rows_of(system: str, p: dict[str, Any]) -> Rows:
    """Return the matrix of a linear system."""
    if system == "stiff_linear":
        return [[(j, mp.mpf(float(v))) for j, v in enumerate(row)] for row in p["matrix"]]
    rows: Rows
    if system == "heat2d":
        k = mp.mpf(float(p["diffusivity"]) * 11.0**2)
        rows = []
        for i in range(10):
            for j in range(10):
                around = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
                inside = [(10 * a + b, k) for a, b in around if 0 <= a < 10 and 0 <= b < 10]
                rows.append([(10 * i + j, -4 * k), *inside])
        return rows
    ahead, behind = coefficients_of(p)
    rows = []
    for i in range(100):
        row = [(i, -mp.mpf(ahead + behind))]
        row += [(i + 1, mp.mpf(ahead))] if i < 99 else []
        row += [(i - 1, mp.mpf(behind))] if i > 0 else []
        rows.append(row)
    return rows


def by_series(rows: Rows, initial: list[Any], end: Any) -> list[Any]:
    """exp(A end) y by Taylor series over steps of norm about 8."""
    norm = max(sum(abs(v) for _, v in row) for row in rows)
    steps = int(mp.ceil(norm * end / 8))
    h, y = end / steps, list(initial)
    for _ in range(steps):
        term, total, k = y, list(y), 0
        while max(abs(v) for v in term) > mp.mpf("1e-50") * max(abs(v) for v in total) and k < 200:
            k += 1
            term = [h / k * mp.fdot((v, term[j]) for j, v in row) for row in rows]
            total = [a + b for a, b in zip(total, term, strict=True)]
        y = total
    return y


def by_eigenvectors(system: str, rows: Rows, p: dict[str, Any], initial: list[Any], end: Any) -> list[Any]:
    """exp(A end) y out of A's eigenvectors."""
    n = len(initial)
    if system == "stiff_linear":
        matrix = mp.matrix(n, n)
        for i, row in enumerate(rows):
            for j, v in row:
                matrix[i, j] = v
        values, vectors = mp.eig(matrix)
        weights = mp.lu_solve(vectors, mp.matrix(initial))
        grown = mp.matrix([mp.exp(values[k] * end) * weights[k] for k in range(n)])
        return [mp.re(v) for v in vectors * grown]
    if system == "heat2d":
        k = -rows[0][0][1] / 4
        sines = _sines(10)
        grid = mp.matrix(10, 10)
        for i, v in enumerate(initial):
            grid[i // 10, i % 10] = v
        modes = sines * grid * sines
        for a in range(10):
            for b in range(10):
                rate = -4 + 2 * mp.cos(mp.pi * (a + 1) / 11) + 2 * mp.cos(mp.pi * (b + 1) / 11)
                modes[a, b] *= mp.exp(k * rate * end)
        grid = sines * modes * sines
        return [grid[i // 10, i % 10] for i in range(100)]
    ahead, behind = (mp.mpf(v) for v in coefficients_of(p))
    ratio, middle = mp.sqrt(behind / ahead), rows[0][0][1]
    sines = _sines(100)
    modes = sines * mp.matrix([v / ratio**i for i, v in enumerate(initial)])
    for a in range(100):
        modes[a] *= mp.exp((middle + 2 * mp.sqrt(ahead * behind) * mp.cos(mp.pi * (a + 1) / 101)) * end)
    return [v * ratio**i for i, v in enumerate(sines * modes)]


def _sines(n: int) -> Any:
    """Return the orthogonal matrix of the discrete sine transform, its own inverse."""
    scale = mp.sqrt(mp.mpf(2) / (n + 1))
    table = [scale * mp.sin(mp.pi * k / (n + 1)) for k in range(2 * (n + 1))]
    matrix = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            matrix[i, j] = table[(i + 1) * (j + 1) % (2 * (n + 1))]
    return matrix


def grid_of(system: str, end: Any) -> list[Any]:
    """Return the collocation's steps: even ones, for Robertson growing from the first reaction on."""
    if system == "robertson":
        first = mp.mpf("2e-4")
        rising = [first * mp.mpf("1.08") ** k for k in range(int(mp.log(end / first) / mp.log("1.08")))]
        start = [first * k / 8 for k in range(8)]
        return [*start, *rising, end]
    steps = {"lotka_volterra": 60, "van_der_pol": 250, "lorenz": 320}[system]
    return [end * k / steps for k in range(steps + 1)]


def terminal_state(system: str, seed: int) -> tuple[list[Any], Any]:
    """Return the state at the end and the largest difference between the two methods."""
    p, y0 = draw(system, seed)
    initial, end = [mp.mpf(float(v)) for v in y0], mp.mpf(SYSTEMS[system].end)
    methods: list[Callable[[], list[Any]]]
    if system in ("lotka_volterra", "van_der_pol", "robertson", "lorenz"):
        terms = monomials(system, p)
        methods = [
            lambda: by_taylor(terms, initial, end),
            lambda: by_collocation(terms, initial, grid_of(system, end)),
        ]
    else:
        rows = rows_of(system, p)
        methods = [
            lambda: by_series(rows, initial, end),
            lambda: by_eigenvectors(system, rows, p, initial, end),
        ]
    one, other = (method() for method in methods)
    return one, max(abs(a - b) for a, b in zip(one, other, strict=True))


def main(systems: list[str]) -> None:
    found = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"seeds": {}, "states": {}}
    first = sorted(names(), key=lambda name: name.startswith("validation"))
    keys = [(f"{system}/{name}", system) for name in first for system in systems]
    for key, system in keys:
        seed = int(found["seeds"].get(key) or secrets.token_hex(16), 16)
        state, difference = terminal_state(system, seed)
        print(f"{key:28} difference {mp.nstr(difference, 2)}", flush=True)
        if difference > BOUND:
            raise SystemExit(f"{key}: the two methods differ by more than {BOUND}")
        found["seeds"][key] = f"{seed:032x}"
        found["states"][key] = [mp.nstr(v, 30) for v in state]
        found["error_bound"] = BOUND
        TABLE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(SYSTEMS))
