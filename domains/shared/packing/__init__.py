"""What the packing domains share: the Extreme-Point placement, the geometry of a packing, its picture."""
