"""Brings the energy of a pendulum to that of its upright position; a plant without one gets a spring and
damping.

Method: the input pumps while the energy is too small and brakes while it is too large; the cart is held near
its target by weak feedback.
Source: K. J. Åström, K. Furuta, "Swinging up a pendulum by energy control" (2000); M. W. Spong, "Energy based
control of a class of underactuated mechanical systems" (1996).
Complexity: O(1) per step.
"""

import math

from parts.models import error_of, output_of

PUMP = 3.0  # tunable: float 0.05..50.0
CART = 1.0  # tunable: float 0.0..20.0
CART_SPEED = 1.5  # tunable: float 0.0..20.0
SPRING = 4.0  # tunable: float 0.1..100.0
DAMPING = 4.0  # tunable: float 0.1..100.0
KICK = 0.3  # tunable: float 0.0..1.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    x, p, bound = error_of(env_data, data["x"]), data["parameters"], env_data["bound"]
    if env_data["model"] == "pendulum":
        m, length, g = p
        energy = 0.5 * x[1] * x[1] + g / length * (math.cos(x[0]) - 1.0)
        u = -PUMP * energy * x[1] * m * length * length
        data["u"] = float(u) if abs(x[1]) > 0.05 or energy > -0.1 else KICK * bound
    elif env_data["model"] == "cart_pole":
        cart, m, length, g = p
        c, s = math.cos(x[1]), math.sin(x[1])
        energy = 0.5 * x[3] * x[3] + g / length * (c - 1.0)
        wanted = PUMP * energy * x[3] * c - CART * x[0] - CART_SPEED * x[2]
        if abs(x[3]) < 0.05 and energy < -0.1:
            wanted += KICK * bound / cart
        data["u"] = float((cart + m * s * s) * wanted - m * s * (length * x[3] * x[3] - g * c))
    else:
        error, speed, push = output_of(env_data, data)
        data["u"] = -(SPRING * error + DAMPING * speed) / push
    return state
