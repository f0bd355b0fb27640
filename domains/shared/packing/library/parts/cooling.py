"""Cooling of annealings."""


# exchangeable: cooling
def temperature(remaining, hot, cold):
    """Temperature when the fraction `remaining` (1 to 0) of the share is left."""
    return hot * (cold / hot) ** (1.0 - remaining)
