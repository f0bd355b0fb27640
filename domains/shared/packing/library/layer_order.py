"""Construction by layers: items of similar height lie side by side on one level.

Method: items are cut off the list of falling heights into layers: a layer takes items, starting with the
tallest left, until their bases add up to DENSITY of the bin's base or the next one is lower than
TOLERANCE times the tallest. Layers follow one another by falling volume, items within a layer by falling
base area.

Source: D. Pisinger, Heuristics for the container loading problem, 2002 (layers); J. A. George, D. F.
Robinson, A heuristic for packing boxes into a container, 1980.

Complexity: O(n log n) for n items.
"""

from parts.packing.layer_order import order_by_layers

DENSITY = 0.9  # tunable: float 0.3..2.0
TOLERANCE = 0.8  # tunable: float 0.2..1.0


def run(env_data, state, calc_makespan_fn):
    """Order all items layer by layer."""
    return order_by_layers(env_data, state, DENSITY, TOLERANCE)
