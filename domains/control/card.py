"""The problem card of feedback control."""

from __future__ import annotations

from typing import Final

from dga2d.domains.core.contract import Card

CARD: Final = Card(
    title="Feedback control",
    objective=(
        "Bring a plant from x0 to its target and keep it there for 5000 steps of 0.02 s. The cost J is the"
        " sum over all steps of |x - target|^2 + 0.01 u^2, angles taken from -pi to pi; the score S = "
        "-log10(1 + J) is maximised; a failure counts -20."
    ),
    encoding=(
        "state.sequence is empty. state.metadata holds x, float64 (n,), the measured state, angles from "
        "-pi to pi; t, int, steps so far; u, the input that the next step applies, a float (or a float64 "
        "(k,) of inputs for the next k steps, applied without a look at the plant); gain, float64 (n,), and "
        "hold, int, where they are left beside a single u: in each of the next hold steps the input is u - "
        "gain @ (x - target), one question for all of them; u_last and x_last, the"
        " input that was applied last and the state it was applied in; parameters, float64, what is "
        "believed of the plant: nominal at first. Other values by names of an operator's own; arrays must "
        "be finite at the end."
    ),
    decoder=(
        "The walk is a control law: its first operator runs once, the others again and again in their "
        "order, once for every step. After the last of them the program applies u, cut to -bound..bound, "
        "and puts the next measured state in x and 0.0 in u. So an operator reads x and sets or changes u,"
        " and returns. calc_makespan_fn(state) is the cost so far, free."
    ),
    environment={
        "model": "str: 'linear', 'pendulum' or 'cart_pole', the equations of the plant",
        "parameters": "float64: nominal parameters, see constraints; the plant's own differ by up to 20 %",
        "x0": "float64 (n,): initial state, coordinates first, then their velocities",
        "dimension": "int: number of coordinates and velocities n",
        "angles": "int64: which entries of x are angles, 0 where the pole stands upright",
        "target": "float64 (n,): where the plant shall be",
        "bound": "float: largest input, either way",
        "dt": "float: seconds of a step, 0.02",
        "steps": "int: steps of the episode, 5000",
        "input_weight": "float: 0.01, what u^2 costs",
    },
    constraints=(
        "u must be a finite number in every step. Models: 'linear' x' = A x + b u, parameters A row by row"
        " and b; 'pendulum' (x = angle a, a'), parameters m, l, g: a'' = (g/l) sin a + u/(m l^2); "
        "'cart_pole' (x = s, a, s', a'), parameters M, m, l, g: s'' = (u + m sin a (l a'^2 - g cos a))/(M "
        "+ m sin^2 a), a'' = (g sin a - s'' cos a)/l. The plant runs in another process: nothing but u "
        "reaches it, and nothing but x comes back. The linear plant's parameters are exact."
    ),
    repeats=True,
)
