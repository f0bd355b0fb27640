"""Sorting keys from the fields of an instance."""

import numpy as np

EXPONENT = 1.0  # tunable: float 0.2..3.0


def field_keys(env_data, n):
    """Sorting keys, float64 (n,) each: fields with one number per entry, and their quotients."""
    fields = [
        np.asarray(value, dtype=np.float64)
        for name, value in env_data.items()
        if isinstance(value, np.ndarray) and value.shape == (n,) and not name.startswith("solution_")
    ]
    keys = list(fields)
    for above in fields:
        for below in fields:
            if below is not above and below.min() > 0:
                keys.append(above / below**EXPONENT)
    return keys


def field_orders(env_data, n):
    """Orders of n entries, int64 (n,) each: by rising and by falling key."""
    for key in field_keys(env_data, n):
        yield np.argsort(key, kind="stable")
        yield np.argsort(-key, kind="stable")
